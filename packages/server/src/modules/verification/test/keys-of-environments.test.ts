/** Keys that a change of the settings or another path could give another environment. */
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { limits, type ErrorCode, type KeyDetails, type KeyUsage, type VerifyResult } from '@keyreeve/contract';
import { test } from '../../../../test-kit/app-on-each-database.ts';
import { assertRejected } from '../../../../test-kit/key-client.ts';
import { KeptConnection } from '../../../../test-kit/kept-connection.ts';
import { bearer, newApp, operator } from '../../../../test-kit/new-app.ts';
import { newPlace } from '../../../../test-kit/new-db.ts';
import { head } from '../../../../test-kit/raw-http.ts';
import { ConfigError } from '../../../app/configuration/config.ts';
import { sql } from '../../../foundation/database/sql.ts';
import { DomainError } from '../../../foundation/errors.ts';
import { makeKey } from '../../api-keys/key-format.ts';
import { keyImporter } from '../../import/api-keys.ts';
import { runImport } from '../../import/run-import.ts';
import { liveAndTest, withEnvironments } from './environments-kit.ts';

const any = { KEYREEVE_FORWARD_ENVIRONMENTS: 'any' };
const makeServiceKey = sql(
  'test_make_service_key',
  `update api_keys set scopes = 'keyreeve:verify' where nickname = $1`,
);
const both = { environments: ['live', 'test'] };

test('keys with an earlier prefix and imported keys belong to the first environment', async () => {
  await using place = await newPlace();
  const masterKey = randomBytes(32);
  const base = { KEYREEVE_MASTER_KEY: masterKey.toString('base64url') };
  const before = await withEnvironments({ ...base, KEYREEVE_KEY_PREFIX: 'older' }, place);
  const older = await before.create('older');
  await before[Symbol.asyncDispose]();
  const accepted = { ...base, ...liveAndTest, KEYREEVE_KEY_PREFIXES_ACCEPTED: 'older' };
  await using at = await withEnvironments(accepted, place);
  const { account } = await at.app.signIn();
  const text = 'acme_test_of_another_system';
  const line = {
    account: account.email,
    nickname: 'imported',
    hash: createHash('sha256').update(text).digest('hex'),
  };
  const { db, clock } = at.app;
  const importer = keyImporter(operator, {
    db,
    clock,
    keyHash: at.app.installation.keys.apiKeyHash,
    keysPerAccountMax: 100,
    isDryRun: false,
  });
  const source = async function* (): AsyncGenerator<Uint8Array> {
    yield Buffer.from(`${JSON.stringify(line)}\n`);
  };
  const refused = async (bad: object): Promise<void> => assert.fail(JSON.stringify(bad));
  await runImport(source(), importer, { refused, progress: () => undefined });
  // A running service detects the first imported keys within seconds.
  clock.advance({ seconds: limits.importedKeysLookSeconds });
  for (const key of [older.key, text]) {
    assert.equal(await at.outcomeOf(key), 'valid live');
    assert.equal(await at.outcomeOf(key, { environments: ['test'] }), 'wrong_environment');
    assert.deepEqual(await at.forward(key), [200, 'live']);
  }
});

test('a key whose given hash is that of a text with the prefix of a further environment is valid in no environment', async () => {
  await using at = await withEnvironments({ ...liveAndTest, ...any });
  const { account } = await at.app.signIn();
  const text = makeKey('acme_test').reveal();
  const sha256 = createHash('sha256').update(text).digest('hex');
  await at.app.service.services.apiKeys.createWithHash(operator, account.id, { nickname: 'given' }, sha256);
  for (const more of [{}, both, { environments: ['test'] }])
    assert.equal(await at.outcomeOf(text, more), 'wrong_environment', JSON.stringify(more));
  assert.deepEqual(await at.forward(text), [403, null]);
});

test('keys of an environment that is no longer listed are rejected, and valid again when it is listed', async () => {
  await using place = await newPlace();
  const three = { KEYREEVE_ENVIRONMENTS: 'live:acme_live,test:acme_test,old:acme_old' };
  const before = await withEnvironments(three, place);
  const old = await before.create('old', { environment: 'old' });
  await before[Symbol.asyncDispose]();
  // Also with its prefix, and with another environment of that prefix.
  const settings = { ...liveAndTest, ...any, KEYREEVE_KEY_PREFIXES_ACCEPTED: 'acme_old' };
  const during = await withEnvironments(settings, place);
  assert.equal(await during.outcomeOf(old.key), 'wrong_environment');
  assert.equal(await during.outcomeOf(old.key, both), 'wrong_environment');
  assertRejected(await during.tryVerify(old.key, { environments: ['old'] }), 'invalid_request');
  assert.deepEqual(await during.forward(old.key), [403, null]);
  const { apiKeys, keyChanges } = during.app.service.services;
  const owner = await apiKeys.ownerOf(old.id);
  assert.equal((await apiKeys.list(owner)).find(({ id }) => id === old.id)?.environment, 'old');
  await assert.rejects(keyChanges.rotate(operator, owner, old.id, { overlapSeconds: 0, endPrevious: false }), {
    code: 'invalid_request' satisfies ErrorCode,
  });
  const warnings = during.app.logLines.filter((line) => line.includes('does not list old'));
  assert.equal(warnings.length, 1);
  await during[Symbol.asyncDispose]();
  await using after = await withEnvironments(three, place);
  assert.equal(await after.outcomeOf(old.key, { environments: ['old'] }), 'valid old');
  assert.equal(await after.outcomeOf(old.key), 'wrong_environment');
});

test('an environment can get another prefix, and keys with the earlier one stay valid in it', async () => {
  await using place = await newPlace();
  const before = await withEnvironments(liveAndTest, place);
  const [live, inTest] = [await before.create('live'), await before.create('test', { environment: 'test' })];
  await before[Symbol.asyncDispose]();
  const KEYREEVE_ENVIRONMENTS = 'live:acme,test:acme_sandbox';
  await using at = await withEnvironments(
    { KEYREEVE_ENVIRONMENTS, KEYREEVE_KEY_PREFIXES_ACCEPTED: 'acme_live,acme_test' },
    place,
  );
  assert.deepEqual([await at.outcomeOf(live.key), await at.outcomeOf(inTest.key)], ['valid live', 'wrong_environment']);
  assert.equal(await at.outcomeOf(inTest.key, { environments: ['test'] }), 'valid test');
  assert.match((await at.create('new', { environment: 'test' })).key, /^acme_sandbox_/);
});

test('a prefix that keys of another environment have stops the start', async () => {
  await using place = await newPlace();
  const before = await withEnvironments(liveAndTest, place);
  await before.create('test', { environment: 'test' });
  await before[Symbol.asyncDispose]();
  const mistaken: readonly (readonly [settings: Readonly<Record<string, string>>, message: string])[] = [
    [
      { KEYREEVE_ENVIRONMENTS: 'live:acme_test' },
      'KEYREEVE_ENVIRONMENTS gives the prefix acme_test to live, but keys of test have this prefix: choose another one',
    ],
    [
      { KEYREEVE_ENVIRONMENTS: 'live:acme_live,other:acme_test' },
      'KEYREEVE_ENVIRONMENTS gives the prefix acme_test to other, but keys of test have this prefix: choose another one',
    ],
    [
      // `verifier`, a key of the first environment, has it.
      { KEYREEVE_ENVIRONMENTS: 'live:acme,test:acme_live' },
      'KEYREEVE_ENVIRONMENTS gives the prefix acme_live to test, but keys of live have this prefix: choose another one',
    ],
    [
      { KEYREEVE_KEY_PREFIX: 'acme_test' },
      'KEYREEVE_ENVIRONMENTS is not set, and KEYREEVE_KEY_PREFIX is acme_test, but keys of test have this prefix: choose another one',
    ],
  ];
  for (const [environment, message] of mistaken)
    await assert.rejects(newApp({ place, environment }), (error) => {
      assert.ok(error instanceof ConfigError);
      assert.deepEqual(error.mistakes, [message]);
      return true;
    });
});

test('a key of a further environment authenticates no request to Keyreeve', async () => {
  await using at = await withEnvironments({ ...liveAndTest, ...any });
  const { account } = await at.app.signIn();
  const request = { nickname: 'service', environment: 'test' };
  const { secret } = await at.app.service.services.apiKeys.create(operator, account.id, request);
  // No request makes such a key. This check holds also if the database has one.
  await at.app.db.transaction((tx) => tx.run(makeServiceKey, ['service']));
  assert.equal(await at.outcomeOf(secret.reveal(), { ...both, scopes: ['keyreeve:verify'] }), 'valid test');
  const headers = bearer(secret.reveal());
  const json = { credential: 'x', environments: ['test'] };
  assertRejected(await at.app.call('POST', '/auth/verify', { headers, json }), 'invalid_service_key');
  const batch = { headers, json: { credentials: ['x'] } };
  assertRejected(await at.app.call('POST', '/auth/verify/batch', batch), 'invalid_service_key');
});

test('a key of a further environment never gets a scope of Keyreeve, which would have no effect', async () => {
  await using at = await withEnvironments(liveAndTest);
  const { account } = await at.app.signIn();
  const { apiKeys, keyChanges } = at.app.service.services;
  const isRejected = (error: unknown): boolean => {
    assert.ok(error instanceof DomainError);
    assert.deepEqual(
      [error.code, error.options.errors?.map(({ pointer }) => pointer)],
      ['invalid_request', ['/scopes/1']],
    );
    assert.match(
      error.options.detail ?? '',
      /^Only keys of the first environment can have scopes that begin with keyreeve:/,
    );
    return true;
  };
  for (const scope of ['keyreeve:verify', 'keyreeve:keys']) {
    const scopes = ['orders:read', scope];
    const request = { nickname: `refused ${scope}`, scopes, environment: 'test' };
    await assert.rejects(apiKeys.create(operator, account.id, request), isRejected);
    const sha256 = createHash('sha256').update(scope).digest('hex');
    await assert.rejects(apiKeys.createWithHash(operator, account.id, request, sha256), { code: 'reserved_scope' });
    const { id } = await apiKeys.create(operator, account.id, { nickname: scope, environment: 'test' });
    await assert.rejects(keyChanges.change(operator, account.id, id, { scopes }), isRejected);
    assert.equal((await keyChanges.read(account.id, id)).scopes, '');
    const live = await apiKeys.create(operator, account.id, { nickname: `live ${scope}`, scopes, environment: 'live' });
    assert.deepEqual(live.scopes, scopes);
  }
});

test('a rejection for the environment spends no tokens, and counts as refused', async () => {
  await using at = await withEnvironments(liveAndTest);
  const oneEver = { quota: { limit: 1, per: 'ever' } };
  const { id, key } = await at.create('test', { environment: 'test', limits: oneEver });
  for (let times = 0; times < 3; times++) assert.equal(await at.outcomeOf(key), 'wrong_environment');
  assert.equal(await at.outcomeOf(key, { environments: ['test'] }), 'valid test');
  assert.equal(await at.outcomeOf(key, { environments: ['test'] }), 'quota_exceeded');
  const batch = await at.app.call('POST', '/auth/verify/batch', { headers: at.service, json: { credentials: [key] } });
  assert.deepEqual((batch.json as { results: VerifyResult[] }).results, [{ valid: false, code: 'wrong_environment' }]);
  await at.app.service.services.uses.flush();
  const usage = await at.app.call('GET', `/auth/api-keys/${id}/usage`, { headers: at.headers });
  const [counted] = (usage.json as KeyUsage).usage;
  assert.deepEqual([counted?.accepted, counted?.refused], [1, 5]);
});

test('the responses of the fixed requests have no environment', async () => {
  await using at = await withEnvironments(liveAndTest);
  const created = await at.create('first');
  const listed = await at.app.call('GET', '/auth/api-keys', { headers: at.headers });
  assert.deepEqual(Object.keys(created).toSorted(), ['createdAt', 'id', 'key', 'nickname', 'updatedAt']);
  const [shown = {}] = (listed.json as { apiKeys: KeyDetails[] }).apiKeys;
  assert.deepEqual(Object.keys(shown).toSorted(), ['createdAt', 'id', 'nickname', 'updatedAt']);
});

test('the short path returns the environment, and rejects keys of another one', async () => {
  await using at = await withEnvironments(liveAndTest);
  const [live, inTest] = [await at.create('live'), await at.create('test', { environment: 'test' })];
  using connection = new KeptConnection(Number(new URL(at.app.url).port));
  const ask = (key: string, query = '') =>
    connection.ask(head(`GET /auth/forward${query} HTTP/1.1`, 'Host: a', `Authorization: Bearer ${key}`));
  for (let request = 0; request < 3; request++) {
    assert.match(await ask(live.key), /^HTTP\/1\.1 200 [^]*\r\nX-Keyreeve-Environment: live\r\n/);
    assert.match(await ask(inTest.key), /^HTTP\/1\.1 403 [^]*"code":"wrong_environment"/);
    assert.match(await ask(live.key, '?environment=test'), /^HTTP\/1\.1 403 /);
    assert.match(await ask(live.key, '?environment=x'), /^HTTP\/1\.1 400 /);
  }
});
