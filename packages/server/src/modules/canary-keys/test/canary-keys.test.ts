/** What the credential of a revocation check from outside can do with its canary keys, and when it ends. */
import assert from 'node:assert/strict';
import { limits } from '@keyreeve/contract';
import { createCanary, issueCredential, newCanaryApp } from '../../../../test-kit/canary-credentials.ts';
import { test } from '../../../../test-kit/app-on-each-database.ts';
import { assertRejected } from '../../../../test-kit/key-client.ts';
import { basic, bearer, operator, type TestApp } from '../../../../test-kit/new-app.ts';
import { version } from '../../../app/version.ts';
import { sql } from '../../../foundation/database/sql.ts';

const fillBuckets = sql('test_fill_buckets', 'update rate_limit_buckets set count = $1');

type Headers = Readonly<Record<string, string>>;

const form = 'application/x-www-form-urlencoded';
const introspect = (app: TestApp, headers: Headers, token: string) =>
  app.call('POST', '/auth/introspect', { headers: { ...headers, 'content-type': form }, body: `token=${token}` });

/** The result of a verification by each method that the credential can use. */
async function verifyEverywhere(app: TestApp, headers: Headers, key: string, by: Headers): Promise<unknown[]> {
  const json = async (path: string, body: object): Promise<unknown> =>
    (await app.call('POST', path, { headers, json: body })).json;
  const one = (await json('/auth/verify', { credential: key })) as { valid: boolean };
  const long = (await json('/auth/verify', { credential: key, address: '203.0.113.7' })) as { valid: boolean };
  const batch = (await json('/auth/verify/batch', { credentials: [key] })) as { results: { valid: boolean }[] };
  const questions = (await json('/auth/verify/batch', { questions: [{ credential: key }] })) as typeof batch;
  const active = [headers, by].map(async (auth) => (await introspect(app, auth, key)).json as { active: boolean });
  return [
    one.valid,
    long.valid,
    batch.results[0]?.valid,
    questions.results[0]?.valid,
    ...(await Promise.all(active)).map((found) => found.active),
    (await app.call('GET', '/auth/forward', { headers: bearer(key) })).status,
    (await app.call('GET', '/auth/forward', { headers: { 'x-api-key': key } })).status,
  ];
}

const valid = [true, true, true, true, true, true, 403, 403];
const invalid = [false, false, false, false, false, false, 401, 401];

test('a credential creates, lists, verifies and deletes a canary key, which is then rejected everywhere', async () => {
  await using app = await newCanaryApp();
  const { headers, keyId, accountId, secret } = await issueCredential(app);
  const by = basic(String(keyId), secret);
  const { id, nickname, key, ...times } = await createCanary(app, { headers });
  const now = new Date(app.clock.now()).toISOString();
  const expiresAt = new Date(app.clock.now() + limits.canaryKeySeconds * 1_000).toISOString();
  assert.deepEqual(times, { createdAt: now, updatedAt: now, expiresAt });
  assert.match(nickname, /^canary [0-9A-Za-z]{16}$/);
  const listed = await app.call('GET', '/auth/canary-keys', { headers });
  const { minutes } = app.service.services;
  assert.deepEqual(listed.json, {
    apiKeys: [{ id, nickname, ...times }],
    credential: { keyId, accountId, expiresAt: new Date(app.clock.now() + 3_600_000).toISOString() },
    instance: { id: minutes.id, version, node: process.version, database: app.db.dialect, now },
  });
  const verified = await app.call('POST', '/auth/verify', { headers, json: { credential: key } });
  assert.deepEqual(verified.json, {
    valid: true,
    type: 'api_key',
    accountId,
    keyId: id,
    nickname,
    scopes: [],
    expiresAt,
  });
  assert.deepEqual(await verifyEverywhere(app, headers, key, by), valid);
  const deleted = await app.call('DELETE', `/auth/canary-keys/${id}`, { headers });
  assert.deepEqual(deleted.json, { message: `Canary key ${id} has been deleted.` });
  assert.deepEqual(await verifyEverywhere(app, headers, key, by), invalid);
  assertRejected(await app.call('DELETE', `/auth/canary-keys/${id}`, { headers }), 'key_not_found');
});

test('a canary key expires, and never later than its credential', async () => {
  await using app = await newCanaryApp();
  // Long enough for a slow machine: the clock of PostgreSQL counts, too.
  const seconds = limits.canaryKeySeconds - 1;
  const { headers } = await issueCredential(app, seconds);
  const { expiresAt } = await createCanary(app, { headers });
  assert.equal(expiresAt, new Date(app.clock.now() + seconds * 1_000).toISOString());
});

test('at the limit of keys, expired canary keys are deleted to make room', async () => {
  await using app = await newCanaryApp({ environment: { KEYREEVE_KEYS_PER_ACCOUNT_MAX: '3' } });
  const { headers, accountId } = await issueCredential(app, limits.canaryKeySeconds * 3);
  const first = await createCanary(app, { headers });
  await createCanary(app, { headers });
  assertRejected(await app.call('POST', '/auth/canary-keys', { headers }), 'key_limit_reached');
  app.clock.advance({ seconds: limits.canaryKeySeconds });
  await createCanary(app, { headers });
  const ids = (await app.service.services.apiKeys.list(accountId)).map(({ id }) => id);
  assert.equal(ids.length, 2);
  assert.ok(!ids.includes(first.id));
});

test('a credential creates a bounded number of canary keys in an hour', { tags: ['asvs:2.4.1'] }, async () => {
  await using app = await newCanaryApp();
  const { headers } = await issueCredential(app);
  const { id } = await createCanary(app, { headers });
  await app.call('DELETE', `/auth/canary-keys/${id}`, { headers });
  await app.db.transaction((tx) => tx.run(fillBuckets, [limits.canaryKeysPerHourMax]));
  const answer = await app.call('POST', '/auth/canary-keys', { headers });
  assertRejected(answer, 'too_many_creations');
  assert.ok(Number(answer.headers.get('retry-after')) > 0);
});

const endings: Readonly<Record<string, (app: TestApp, keyId: number, accountId: string) => Promise<unknown>>> = {
  'its expiry': async (app) => app.clock.advance({ seconds: 3_600 }),
  'the deletion of its key': ({ service: { services } }, keyId, accountId) =>
    services.apiKeys.delete(operator, accountId, keyId),
  'disabling its key': ({ service: { services } }, keyId, accountId) =>
    services.keyChanges.change(operator, accountId, keyId, { disabled: true }),
  'disabling its account': ({ service: { services } }, _keyId, accountId) =>
    services.accounts.disable(operator, accountId),
  'the deletion of its account': ({ service: { services } }, _keyId, accountId) =>
    services.serviceAccounts.delete(operator, accountId),
  'a rotation': ({ service: { services } }, keyId, accountId) =>
    services.keyChanges.rotate(operator, accountId, keyId, { overlapSeconds: 0, endPrevious: false }),
  'a change of its IP ranges': ({ service: { services } }, keyId, accountId) =>
    services.keyChanges.change(operator, accountId, keyId, { addresses: ['192.0.2.1'] }),
  'the removal of its IP ranges': ({ service: { services } }, keyId, accountId) =>
    services.keyChanges.change(operator, accountId, keyId, { addresses: null }),
  'the removal of its scope': ({ service: { services } }, keyId, accountId) =>
    services.keyChanges.change(operator, accountId, keyId, { scopes: [] }),
};

for (const [what, end] of Object.entries(endings)) {
  test(`a credential stops immediately after ${what}`, { tags: ['asvs:7.4.1'] }, async () => {
    await using app = await newCanaryApp();
    const { headers, keyId, accountId } = await issueCredential(app);
    const { id, key } = await createCanary(app, { headers });
    await end(app, keyId, accountId);
    const json = { credential: key };
    const code = 'invalid_service_key';
    assertRejected(await app.call('POST', '/auth/canary-keys', { headers }), code);
    assertRejected(await app.call('GET', '/auth/canary-keys', { headers }), code);
    assertRejected(await app.call('DELETE', `/auth/canary-keys/${id}`, { headers }), code);
    // Without IP ranges, the key is a valid key that lacks the scope keyreeve:verify.
    const atVerify = what === 'the removal of its IP ranges' ? 'insufficient_scope' : code;
    assertRejected(await app.call('POST', '/auth/verify', { headers, json }), atVerify);
    assertRejected(await app.call('POST', '/auth/verify/batch', { headers, json: { credentials: [key] } }), atVerify);
  });
}

test('a request in progress creates and deletes nothing after its credential has ended', async () => {
  await using app = await newCanaryApp();
  const { canaryKeys, apiKeys, verifier } = app.service.services;
  for (const [what, end] of Object.entries(endings)) {
    if (what === 'its expiry') continue;
    const credential = await issueCredential(app);
    const { keyId, accountId, secret } = credential;
    const { id } = await createCanary(app, credential);
    const { address, range: addresses } = canaryKeys;
    const expiresAt = app.clock.now() + 3_600_000;
    const lookup = verifier.lookupOf(secret);
    const principal = { kind: 'canary', keyId, accountId, lookup, address, addresses, expiresAt } as const;
    await end(app, keyId, accountId);
    await assert.rejects(canaryKeys.create(principal), { code: 'invalid_service_key' }, what);
    const isGone = what === 'the deletion of its account';
    const code = isGone ? 'key_not_found' : 'invalid_service_key';
    await assert.rejects(canaryKeys.delete(principal, id), { code }, what);
    const canaries = (await apiKeys.list(accountId)).filter((key) => key.nickname.startsWith('canary '));
    assert.equal(canaries.length, isGone ? 0 : 1, what);
    await assert.rejects(
      apiKeys.create(principal, (await app.createAccount()).id, { nickname: 'foreign' }),
      { code: 'account_not_found' },
      what,
    );
  }
});

test('the account of a credential is deleted with its canary keys after the longest lifetime, and no other account', async () => {
  await using app = await newCanaryApp();
  const { serviceAccounts, canaryKeys, accounts } = app.service.services;
  const credential = await issueCredential(app);
  await createCanary(app, credential);
  const { id: owner } = await app.createAccount();
  const named = { name: 'mine', externalId: 'keyreeve:prove-revocation' };
  const other = await serviceAccounts.create(operator, owner, named);
  app.clock.advance({ seconds: limits.canaryCredentialSecondsMax });
  await canaryKeys.deleteOld();
  await accounts.findById(credential.accountId);
  app.clock.advance({ seconds: 3_600 });
  await accounts.delete(operator, owner);
  await serviceAccountManager(app, other.id);
  await canaryKeys.deleteOld();
  await assert.rejects(accounts.findById(credential.accountId), { code: 'account_not_found' });
  await accounts.findById(other.id);
});

async function serviceAccountManager(app: TestApp, id: string): Promise<void> {
  const { id: manager } = await app.createAccount();
  await app.service.services.managers.add(operator, id, manager);
}

test('the issue of a credential and each canary key are recorded in the audit log', async () => {
  await using app = await newCanaryApp();
  const credential = await issueCredential(app);
  const { id } = await createCanary(app, credential);
  await app.call('DELETE', `/auth/canary-keys/${id}`, { headers: credential.headers });
  const { events } = await app.service.services.directory.auditLog.page({ account: credential.accountId });
  assert.deepEqual(
    events.map(({ action, actor }) => [action, actor]),
    [
      ['api_key.deleted', `key:${credential.keyId}`],
      ['api_key.created', `key:${credential.keyId}`],
      ['api_key.created', 'operator'],
      ['service_account.created', 'operator'],
    ],
  );
});

test('only a lifetime of up to a day is accepted', async () => {
  await using app = await newCanaryApp();
  for (const seconds of [0, -1, 1.5, Number.NaN, limits.canaryCredentialSecondsMax + 1])
    await assert.rejects(app.service.services.canaryKeys.issue(operator, seconds), { code: 'invalid_request' });
});
