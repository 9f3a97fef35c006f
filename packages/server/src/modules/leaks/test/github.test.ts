/** `POST /auth/leaks/github`: reports of GitHub secret scanning. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { limits } from '@keyreeve/contract';
import { makeKey } from '../../api-keys/key-format.ts';
import { bearer, newApp, type TestApp } from '../../../../test-kit/new-app.ts';
import { assertProblem, fromFetch } from '../../../../test-kit/assert-problem.ts';
import { listAuditEvents } from '../../../../test-kit/audit-log.ts';
import { test } from '../../../../test-kit/app-on-each-database.ts';
import { githubSettings, GithubSigner, publishedVector, signedBy } from '../../../../test-kit/github.ts';
import { newTempFolder } from '../../../../test-kit/temp-folder.ts';

const path = '/auth/leaks/github';
const github = new GithubSigner();
const folder = newTempFolder();
process.once('exit', () => folder[Symbol.dispose]());
const environment = githubSettings(folder.path, github, publishedVector);

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const labelled = (token: string, label: 'true_positive' | 'false_positive') => ({
  token_hash: sha256(token),
  token_type: 'keyreeve_api_key',
  label,
});
const match = (token: string, url = 'https://github.com/octocat/hello/blob/main/.env') => ({
  token,
  type: 'keyreeve_api_key',
  url,
  source: 'a source of the future',
});

const send = (app: TestApp, body: string, headers = github.headers(body)) => app.call('POST', path, { headers, body });

async function newKey(app: TestApp): Promise<{ key: string; verify: () => Promise<number> }> {
  const { accessToken } = await app.signIn();
  const created = await app.call('POST', '/auth/api-keys', { headers: bearer(accessToken), json: { nickname: 'ci' } });
  const { key } = created.json as { key: string };
  return { key, verify: async () => (await app.call('GET', '/auth/forward', { headers: bearer(key) })).status };
}

test('the key that GitHub reports is rejected after the response, and each match has a label in order', async () => {
  await using app = await newApp({ environment });
  const [leaked, other] = [await newKey(app), await newKey(app)];
  const unknown = makeKey('krv').reveal();
  const mistyped = `${leaked.key.slice(0, -1)}${leaked.key.endsWith('a') ? 'b' : 'a'}`;
  const body = JSON.stringify([match('foreign'), match(leaked.key), match(unknown, ''), match(mistyped)]);
  assert.equal(await leaked.verify(), 200);
  const answer = await send(app, body);
  assert.equal(answer.status, 200, answer.text);
  assert.deepEqual(answer.json, [
    labelled('foreign', 'false_positive'),
    labelled(leaked.key, 'true_positive'),
    labelled(unknown, 'true_positive'),
    labelled(mistyped, 'false_positive'),
  ]);
  assert.equal(await leaked.verify(), 401);
  assert.equal(await other.verify(), 200);
  // GitHub repeats a report whose response was lost. No time is signed, so anyone else can repeat it too.
  assert.deepEqual((await send(app, body)).json, answer.json);
});

test('the audit event names the host and the repository of the match, and nothing else of its URL', async () => {
  await using app = await newApp({ environment });
  const { key } = await newKey(app);
  const url = 'https://github.com/octocat/hello/blob/main/.env?query=secret#fragment';
  assert.equal((await send(app, JSON.stringify([match(key, url)]))).status, 200);
  const leaked = (await listAuditEvents(app.db)).filter(({ action }) => action === 'api_key.leaked');
  assert.equal(leaked.length, 1);
  assert.equal(leaked[0]?.actor, 'github');
  const { hash, ...details } = JSON.parse(leaked[0]?.details ?? '') as Record<string, string>;
  assert.match(hash ?? '', /^[0-9a-f]{66}$/);
  assert.deepEqual(details, {
    nickname: 'ci',
    secret: 'current',
    by: 'github',
    host: 'github.com',
    repository: 'octocat/hello',
  });
});

test('a report with a wrong signature, a changed body or an unknown key is rejected before it is parsed', async () => {
  await using app = await newApp({ environment });
  const { key, verify } = await newKey(app);
  const body = JSON.stringify([match(key)]);
  const signature = github.signatureOf(body);
  const refused: readonly (readonly [name: string, body: string, headers: Record<string, string>])[] = [
    ['a signature of another body', body, github.headers(`${body} `)],
    ['a body with one byte more', `${body} `, github.headers(body)],
    ['a changed byte', body.replace('ci', 'cj').replace('"token"', '"tokem"'), github.headers(body)],
    ['another key', body, { ...new GithubSigner().headers(body), 'github-public-key-identifier': github.keyId }],
    ['an unknown key', body, signedBy('b'.repeat(64), signature)],
    ['a malformed key id', body, signedBy('b', signature)],
    ['no base64', body, signedBy(github.keyId, '!'.repeat(92))],
    ['no DER', body, signedBy(github.keyId, Buffer.alloc(70).toString('base64'))],
    ['a truncated signature', body, signedBy(github.keyId, signature.slice(0, 40))],
    ['a signature twice', body, signedBy(github.keyId, `${signature}, ${signature}`)],
    ['an empty signature', body, signedBy(github.keyId, '')],
    ['no headers', body, { 'content-type': 'application/json' }],
    ['no JSON', 'no JSON', github.headers(body)],
  ];
  for (const [name, sent, headers] of refused)
    assertProblem(fromFetch(await send(app, sent, headers)), 'invalid_signature', name);
  assert.equal(await verify(), 200);
});

test('the vector that GitHub published is accepted, and rejected with one more byte', async () => {
  await using app = await newApp({ environment });
  const { body, keyId, signature } = publishedVector;
  assert.equal(Buffer.byteLength(body), 83);
  const accepted = await send(app, body, signedBy(keyId, signature));
  assert.equal(accepted.status, 200, accepted.text);
  assert.deepEqual(accepted.json, [
    { token_hash: sha256('some_token'), token_type: 'some_type', label: 'false_positive' },
  ]);
  assertProblem(fromFetch(await send(app, `${body} `, signedBy(keyId, signature))), 'invalid_signature');
});

test('invalid bodies with a valid signature have their own codes, and an empty report succeeds', async () => {
  await using app = await newApp({ environment });
  const empty = await send(app, '[]');
  assert.equal(empty.status, 200);
  assert.deepEqual(empty.json, []);
  const unusual = '[{"token":"a","type":"a","url":null,"source":7}]';
  assert.equal((await send(app, unusual)).status, 200, unusual);
  for (const [body, code] of [
    ['{}', 'invalid_request'],
    ['null', 'invalid_request'],
    ['"text"', 'invalid_request'],
    ['[null]', 'invalid_request'],
    ['[[]]', 'invalid_request'],
    ['[{"token":1,"type":"a"}]', 'invalid_request'],
    ['[{"type":"a"}]', 'invalid_request'],
    ['[{"token":"a","token":"b","type":"a"}]', 'malformed_json'],
    ['[', 'malformed_json'],
    ['', 'malformed_json'],
    ['[[[[[[[[[]]]]]]]]]', 'malformed_json'],
  ] as const)
    assertProblem(fromFetch(await send(app, body)), code, body);
  const body = '[]';
  const text = { ...github.headers(body), 'content-type': 'text/plain' };
  assertProblem(fromFetch(await send(app, body, text)), 'unsupported_media_type');
});

test('5,000 matches are accepted, and one more or a body above 1 MiB is rejected', async () => {
  await using app = await newApp({ environment });
  const { key, verify } = await newKey(app);
  const small = { token: 'a', type: 'b' };
  const unknown = Array.from({ length: 600 }, () => ({ token: makeKey('krv').reveal(), type: 'b' }));
  const others = Array.from({ length: limits.githubMatchesMax - unknown.length - 2 }, () => small);
  const answer = await send(
    app,
    JSON.stringify([{ token: key, type: 'b' }, ...unknown, ...others, { token: key, type: 'b' }]),
  );
  assert.equal(answer.status, 200, answer.text);
  assert.equal((answer.json as unknown[]).length, limits.githubMatchesMax);
  assert.equal(await verify(), 401);
  const tooMany = JSON.stringify(Array.from({ length: limits.githubMatchesMax + 1 }, () => small));
  assertProblem(fromFetch(await send(app, tooMany)), 'body_too_large');
  const large = `[]${' '.repeat(limits.githubReportBytesMax - 2)}`;
  assert.equal((await send(app, large)).status, 200);
  assertProblem(fromFetch(await send(app, `${large} `)), 'body_too_large');
});

test('without the setting, the path does not exist', async () => {
  await using app = await newApp();
  assertProblem(fromFetch(await send(app, '[]')), 'not_found');
  assertProblem(fromFetch(await app.call('GET', path)), 'not_found');
});
