/** The file of `keyreeve apply`: each problem has its place, and no file with a problem is read. */
import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { limits } from '@keyreeve/contract';
import { ApplyError, type ApplyProblem } from '../apply-error.ts';
import { readApplyFile } from '../file.ts';
import { newApplyFolder, sha256Of, signingSecret } from './apply-kit.ts';

const sha256 = sha256Of('orders');
const owner = [{ name: 'orders' }];
const key = { sha256, serviceAccount: 'orders', nickname: 'first' };
const issuerUrl = 'https://token.actions.githubusercontent.com';
const webhook = { name: 'siem', url: 'https://example.com', events: ['api_key.deleted'], secretFile: 'webhook.secret' };

function problemsOf(read: () => unknown): readonly ApplyProblem[] {
  try {
    read();
    return [];
  } catch (error) {
    assert.ok(error instanceof ApplyError, String(error));
    return error.problems;
  }
}

/** By content: the pointers of its problems, and a part of the first message. */
const rejected: Readonly<Record<string, readonly [content: unknown, pointers: string, detail: RegExp]>> = {
  'no JSON': ['{"generation": 1,\n  "scopes": [}', '', /^It is not JSON: Unexpected token '\}'/],
  YAML: ['generation: 1\n', '', /^It is not JSON: Unexpected token 'g'/],
  'an open text': ['{"generation": 1,\n"', '', /\(line 2 column \d+\)\.$/],
  'a repeated member': ['{"generation": 1, "generation": 2}', '', /“generation” occurs twice/],
  'a forbidden member': ['{"generation": 1, "__proto__": {}}', '', /“__proto__” occurs twice or is not allowed/],
  'no generation': [{ scopes: [] }, '/generation', /required/],
  'generation 0': [{ generation: 0 }, '/generation', /at least 1/],
  'an unsafe generation': ['{"generation": 9007199254740993}', '/generation', /Expected/],
  'an unknown member': [
    { generation: 1, keys: [{ ...key, key: 'secret' }], serviceAccounts: owner },
    '/keys/0/key',
    /unknown/,
  ],
  'no object': ['[]', '', /Expected an object/],
  'a short hash': [{ generation: 1, keys: [{ sha256: 'ff' }] }, '/keys/0/sha256', /\^\[0-9a-f\]\{64\}\$/],
  'another state': [{ generation: 1, scopes: [{ name: 'a', state: 'gone' }] }, '/scopes/0/state', /present/],
  'a key without nickname and owner': [
    { generation: 1, keys: [{ sha256 }] },
    '/keys/0/nickname /keys/0/serviceAccount',
    /required/,
  ],
  'an owner that the file does not have': [
    { generation: 1, keys: [key] },
    '/keys/0/serviceAccount',
    /no service account/,
  ],
  'an absent owner': [
    { generation: 1, keys: [key], serviceAccounts: [{ name: 'orders', state: 'absent' }] },
    '/keys/0/serviceAccount',
    /no service account/,
  ],
  'a scope that manages keys': [
    { generation: 1, serviceAccounts: owner, keys: [{ ...key, scopes: ['a', 'keyreeve:keys', 'keyreeve:canary'] }] },
    '/keys/0/scopes/1 /keys/0/scopes/2',
    /only keyreeve:verify is possible/,
  ],
  'an issuer of a service account': [
    { generation: 1, issuers: [{ url: issuerUrl, accountId: 'acc_orders' }] },
    '/issuers/0/accountId',
    /unknown/,
  ],
  'issuers with settings that do not exist': [
    {
      generation: 1,
      issuers: [
        { url: issuerUrl, preset: 'jenkins', algorithms: ['HS256'], lifetimeSeconds: 59, replay: 'never' },
        { url: 'https://other.example.com', idClaims: [], listClaims: ['groups'], jwks: { keys: [] } },
      ],
    },
    '/issuers/0/preset /issuers/0/algorithms/0 /issuers/0/lifetimeSeconds /issuers/0/replay /issuers/1/idClaims /issuers/1/listClaims/0 /issuers/1/jwks/keys',
    /github/,
  ],
  'issuers with no canonical URL, also an absent one': [
    {
      generation: 1,
      issuers: [
        { url: 'http://id.example.com' },
        { url: 'https://ID.example.com', state: 'absent' },
        { url: 'https://id.example.com/?a=b' },
      ],
    },
    '/issuers/0/url /issuers/1/url /issuers/2/url',
    /^The URL of the issuer is not allowed: it must be like https:/,
  ],
  'the same issuer twice': [
    { generation: 1, issuers: [{ url: issuerUrl }, { url: issuerUrl, state: 'absent' }] },
    '/issuers/1/url',
    /earlier entry/,
  ],
  'the same email address twice': [
    { generation: 1, accounts: [{ email: 'Ada@example.com' }, { email: 'ada@EXAMPLE.com' }] },
    '/accounts/1/email',
    /earlier entry/,
  ],
  'the same key twice': [
    { generation: 1, serviceAccounts: owner, keys: [key, { ...key, nickname: 'second' }] },
    '/keys/1/sha256',
    /earlier entry/,
  ],
  'no email address': [{ generation: 1, accounts: [{ email: 'ada' }] }, '/accounts/0/email', /not an email address/],
  'a name with a control character': [
    { generation: 1, serviceAccounts: [{ name: 'a\u0007' }] },
    '/serviceAccounts/0/name',
    /./,
  ],
  'a webhook without members': [
    { generation: 1, webhooks: [{ name: 'siem' }] },
    '/webhooks/0/url /webhooks/0/events /webhooks/0/secretFile',
    /required/,
  ],
  'a secret in the file': [
    { generation: 1, webhooks: [{ ...webhook, secret: signingSecret(1) }] },
    '/webhooks/0/secret',
    /unknown/,
  ],
  'a missing secret': [
    { generation: 1, webhooks: [{ ...webhook, secretFile: 'none' }] },
    '/webhooks/0/secretFile',
    /can't be read/,
  ],
  'another secret': [
    { generation: 1, webhooks: [{ ...webhook, secretFile: 'other' }] },
    '/webhooks/0/secretFile',
    /whsec_/,
  ],
  'too many entries of a list': [
    {
      generation: 1,
      scopes: Array.from({ length: limits.applyEntriesMax + 1 }, (_, index) => ({ name: `s${index}` })),
    },
    '/scopes',
    /at most 500 items/,
  ],
  'too many entries in all': [
    {
      generation: 1,
      scopes: Array.from({ length: limits.applyEntriesMax }, (_, index) => ({ name: `s${index}` })),
      serviceAccounts: owner,
    },
    '',
    /at most 500 entries/,
  ],
};

test('a file with a problem is rejected, with all problems and their places', () => {
  using folder = newApplyFolder();
  writeFileSync(join(folder.path, 'other'), 'whsec_short', { mode: 0o600 });
  for (const [name, [content, pointers, detail]] of Object.entries(rejected)) {
    const problems = problemsOf(() => folder.load(content));
    assert.equal(problems.map(({ pointer }) => pointer).join(' '), pointers, `${name}: ${JSON.stringify(problems)}`);
    assert.match(problems[0]?.detail ?? '', detail, name);
    assert.doesNotMatch(JSON.stringify(problems), /whsec_[\w+/]{30}/, name);
  }
});

test('a file is rejected that others can change, that is too long, and that is none', () => {
  using folder = newApplyFolder();
  folder.load({ generation: 1 });
  chmodSync(folder.file, 0o644);
  assert.equal(readApplyFile(folder.file, false).generation, 1, 'others may read it');
  const refused = (path: string): string =>
    problemsOf(() => readApplyFile(path, false))
      .map(({ detail }) => detail)
      .join();
  if (process.platform !== 'win32') {
    chmodSync(folder.file, 0o664);
    assert.match(refused(folder.file), /can be changed by others; it must have mode 0644 at most/);
    chmodSync(folder.file, 0o600);
    chmodSync(folder.secretPath, 0o644);
    assert.match(
      problemsOf(() => folder.load({ generation: 1, webhooks: [webhook] }))[0]?.detail ?? '',
      /webhook\.secret can be read by others/,
    );
  }
  writeFileSync(folder.file, ' '.repeat(limits.applyFileBytesMax + 1));
  assert.match(refused(folder.file), /has more than 262144 bytes/);
  const other = join(folder.path, 'other');
  assert.match(refused(other), /can't be read/);
  mkdirSync(other);
  assert.match(refused(other), /is a folder/);
  // Kubernetes mounts files as links.
  symlinkSync(folder.file, join(folder.path, 'link'));
  folder.load({ generation: 2 });
  assert.equal(readApplyFile(join(folder.path, 'link'), false).generation, 2);
});
