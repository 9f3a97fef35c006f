/** Imported accounts sign in with their existing passwords, and imported keys work like other keys, over HTTP. */
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { mock } from 'node:test';
import { hashSync } from '@node-rs/bcrypt';
import { limits, type KeyDetails, type RotatedKey, type VerifyResult } from '@keyreeve/contract';
import { findCredentials } from '../../accounts/store.ts';
import { parseForeignHash } from '../../../foundation/crypto/foreign-hash-formats.ts';
import { PostgresDb } from '../../../foundation/database/postgres.ts';
import { SqliteDb } from '../../../foundation/database/sqlite.ts';
import { accountImporter } from '../accounts.ts';
import { keyImporter } from '../api-keys.ts';
import type { PasswordHashOptions } from '../password-hashes.ts';
import type { Importer } from '../run-import.ts';
import { basic, bearer, newApp, operator, type TestApp } from '../../../../test-kit/new-app.ts';
import { listAuditEvents } from '../../../../test-kit/audit-log.ts';
import { foreignVectors } from '../../../foundation/crypto/test/foreign-hash-vectors.ts';
import { fastVectors, productVectors } from '../../../foundation/crypto/test/product-hash-vectors.ts';
import { test } from '../../../../test-kit/app-on-each-database.ts';
import { until } from '../../../../test-kit/until.ts';
import { run } from './import-run.ts';

const masterKey = randomBytes(32);
const newImportApp = () => newApp({ environment: { KEYREEVE_MASTER_KEY: masterKey.toString('base64url') } });

/** Imports as the command line does. Every line must be imported. */
async function importLines<Item>(importer: Importer<Item>, lines: readonly object[]): Promise<void> {
  assert.deepEqual((await run(importer, lines)).refusedLines, {});
}

const importAccounts = (
  { db, clock, service }: TestApp,
  lines: readonly object[],
  passwordHashes: PasswordHashOptions = {},
): Promise<void> => {
  const { hasher } = service.services;
  const options = {
    db,
    clock,
    revocations: undefined,
    hasher,
    isDryRun: false,
    onExisting: 'fail',
    passwordHashes,
  } as const;
  return importLines(accountImporter(operator, options), lines);
};

const importKeys = ({ db, clock, installation: { keys } }: TestApp, lines: readonly object[]): Promise<void> => {
  const keyHash = keys.apiKeyHash;
  return importLines(keyImporter(operator, { db, clock, keyHash, keysPerAccountMax: 100, isDryRun: false }), lines);
};

const signIn = async (app: TestApp, email: string, password: string): Promise<number> =>
  (await app.call('POST', '/auth/token', { headers: basic(email, password) })).status;

test('an account with an imported hash of any kind signs in with its password only, and gets a hash of Keyreeve’s own', async () => {
  await using app = await newImportApp();
  const emailOf = (index: number): string => `user${index}@example.com`;
  // One of each scheme: `foreign-hash.test.ts` verifies all forms.
  const schemeOf = (hash: string): string => parseForeignHash(hash).recipe.scheme;
  const vectors = [...foreignVectors, ...productVectors, ...fastVectors].filter(
    ({ hash }, index, all) => all.findIndex((other) => schemeOf(other.hash) === schemeOf(hash)) === index,
  );
  const lines = vectors.map(({ hash }, index) => ({ email: emailOf(index), passwordHash: hash }));
  await importAccounts(app, lines, { acceptsFast: true });
  for (const [index, { name, password }] of vectors.entries()) {
    const email = emailOf(index);
    const stored = async (): Promise<string> => (await findCredentials(app.db, email))?.passwordHash ?? '';
    const before = await stored();
    assert.match(before, /^\$imported\$/, name);
    assert.equal(await signIn(app, email, `~${password.slice(1)}`), 401, name);
    assert.equal(await stored(), before, name);
    assert.equal(await signIn(app, email, password), 200, name);
    await until('the hash is renewed', async () => (await stored()) !== before);
    assert.match(await stored(), /^\$argon2id\$v=19\$m=64,t=1,p=1,keyid=cDE(,seen=[a-z0-9]+)?\$/, name);
    assert.equal(await signIn(app, email, password), 200, name);
    assert.equal(await signIn(app, email, `~${password.slice(1)}`), 401, name);
  }
  const renewals = (await listAuditEvents(app.db)).filter(({ action }) => action === 'account.password_rehashed');
  assert.equal(renewals.length, vectors.length);
});

test('a first sign-in with a typing error that the other system did not see leaves the owner’s password valid', async () => {
  await using app = await newImportApp();
  const email = 'ada@example.com';
  const owners = `${'x'.repeat(72)}tail one`;
  const typed = `${'x'.repeat(72)}tail two`;
  await importAccounts(app, [{ email, passwordHash: hashSync(owners, 4) }]);
  const stored = async (): Promise<string> => (await findCredentials(app.db, email))?.passwordHash ?? '';
  const before = await stored();
  assert.equal(await signIn(app, email, typed), 200);
  await until('the hash is renewed', async () => (await stored()) !== before);
  assert.equal(await signIn(app, email, owners), 200);
  assert.equal(await signIn(app, email, 'x'.repeat(71)), 401);

  // A new password counts as a whole.
  const { accessToken } = (await app.call('POST', '/auth/token', { headers: basic(email, owners) })).json as {
    accessToken: string;
  };
  const newPassword = `${'seven quiet lanterns of tin '.repeat(3)}tail one`;
  const changed = await app.call('PUT', '/auth/account/password', {
    headers: bearer(accessToken),
    json: { currentPassword: typed, newPassword },
  });
  assert.ok(changed.status < 300, changed.text);
  assert.equal(await signIn(app, email, newPassword), 200);
  assert.equal(await signIn(app, email, `${newPassword.slice(0, -3)}two`), 401);
});

test('an imported account that is disabled or has no password cannot sign in', async () => {
  await using app = await newImportApp();
  const { hash = '', password = '' } = foreignVectors.find(({ name }) => name === 'scrypt, better-auth') ?? {};
  await importAccounts(app, [
    { email: 'disabled@example.com', passwordHash: hash, disabled: true },
    { email: 'none@example.com' },
  ]);
  for (const email of ['disabled@example.com', 'none@example.com'])
    assert.equal(await signIn(app, email, password), 401);
  const { accounts } = app.service.services;
  await accounts.enable(operator, (await accounts.find('disabled@example.com')).id);
  assert.equal(await signIn(app, 'disabled@example.com', password), 200);
});

/** Counts the reads of credentials and of whether keys were imported. Other reads are not counted. */
function countReads() {
  const drivers = [SqliteDb.prototype, PostgresDb.prototype];
  const alone = drivers.map((driver) => mock.method(driver, 'all'));
  const shared = drivers.map((driver) => mock.method(driver, 'getMany'));
  return {
    count: (): number =>
      alone.flatMap((spy) => spy.mock.calls).filter(({ arguments: [{ name }] }) => name === 'select_keys_imported')
        .length + shared.flatMap((spy) => spy.mock.calls.flatMap(({ arguments: [, questions] }) => questions)).length,
    [Symbol.dispose]: (): void => [...alone, ...shared].forEach((spy) => spy.mock.restore()),
  };
}

/** Keys in the formats of other systems. */
const foreignKeys = ['sk_live_4eC39HqLyjWDarjtT1zdp7dc', 'QbKxYwTtPzVnMhRd', 'krv_old', 'a.b-c~d+e/f=='];
const sha256 = (text: string): string => createHash('sha256').update(text).digest('base64url');

async function fixture() {
  const app = await newImportApp();
  const service = bearer(await app.serviceKey());
  const verify = async (credential: string): Promise<VerifyResult> =>
    (await app.call('POST', '/auth/verify', { headers: service, json: { credential } })).json as VerifyResult;
  const batch = async (credentials: readonly string[]): Promise<string[]> => {
    const { json } = await app.call('POST', '/auth/verify/batch', { headers: service, json: { credentials } });
    return (json as { results: VerifyResult[] }).results.map((result) => (result.valid ? 'valid' : result.code));
  };
  const introspect = async (token: string): Promise<unknown> => {
    const body = new URLSearchParams({ token }).toString();
    const headers = { ...service, 'content-type': 'application/x-www-form-urlencoded' };
    return (await app.call('POST', '/auth/introspect', { headers, body })).json;
  };
  const forward = (headers: Record<string, string>) => app.call('GET', '/auth/forward', { headers });
  const signedIn = await app.signIn();
  return {
    app,
    verify,
    batch,
    introspect,
    forward,
    ...signedIn,
    [Symbol.asyncDispose]: () => app[Symbol.asyncDispose](),
  };
}

test('an imported key is accepted, listed and deleted like other keys, and rejected after its deletion', async () => {
  await using at = await fixture();
  const { app, account, accessToken } = at;
  const lines = foreignKeys.map((text, index) => ({
    account: account.email,
    nickname: `old ${index}`,
    hash: sha256(text),
    scopes: ['read'],
  }));
  await importKeys(app, lines);
  app.clock.advance({ seconds: limits.importedKeysLookSeconds });
  assert.deepEqual(
    await at.batch(foreignKeys),
    foreignKeys.map(() => 'valid'),
  );
  const { json } = await app.call('GET', '/auth/api-keys?view=full', { headers: bearer(accessToken) });
  const { apiKeys } = json as { apiKeys: { id: number; nickname: string; scopes: string[] }[] };
  assert.deepEqual(
    apiKeys.map(({ nickname }) => nickname).toSorted(),
    lines.map(({ nickname }) => nickname),
  );
  for (const [index, text] of foreignKeys.entries()) {
    const key = apiKeys.find(({ nickname }) => nickname === `old ${index}`);
    assert.deepEqual(await at.verify(text), {
      valid: true,
      type: 'api_key',
      accountId: account.id,
      keyId: key?.id,
      nickname: `old ${index}`,
      scopes: ['read'],
      expiresAt: null,
    });
    for (const headers of [bearer(text), { 'x-api-key': text }]) {
      const answer = await at.forward(headers);
      assert.equal(answer.status, 200, answer.text);
      assert.equal(answer.headers.get('x-keyreeve-key-id'), String(key?.id));
    }
    assert.equal(((await at.introspect(text)) as { active: boolean }).active, true);
    // An API key cannot manage API keys.
    assert.equal((await app.call('GET', '/auth/api-keys', { headers: bearer(text) })).status, 401);

    const deleted = await app.call('DELETE', `/auth/api-keys/${key?.id}`, { headers: bearer(accessToken) });
    assert.equal(deleted.status, 200);
    assert.deepEqual(await at.verify(text), { valid: false, code: 'not_found' });
    assert.equal((await at.forward(bearer(text))).status, 401);
    assert.equal((await at.forward({ 'x-api-key': text })).status, 401);
    assert.deepEqual(await at.introspect(text), { active: false });
  }
});

test('a running service detects the first import within the bound, and checks no more often than that', async () => {
  await using at = await fixture();
  const { app, account } = at;
  const [text = ''] = foreignKeys;
  using reads = countReads();
  const refused = async (): Promise<void> => {
    const before = reads.count();
    assert.deepEqual(await at.batch([text, text]), ['malformed', 'malformed']);
    // The read of the service's own key.
    assert.equal(reads.count(), before + 1);
  };
  await refused();
  await importKeys(app, [{ account: account.id, nickname: 'old', hash: sha256(text) }]);
  await refused();
  app.clock.advance({ seconds: limits.importedKeysLookSeconds - 1 });
  await refused();
  app.clock.advance({ seconds: 1 });
  const before = reads.count();
  assert.deepEqual(await at.batch([text, text]), ['valid', 'valid']);
  // The reads of the service's own key, of whether keys were imported, and of the two keys.
  assert.equal(reads.count(), before + 4);
  assert.deepEqual(await at.batch([text]), ['valid']);
  assert.equal(reads.count(), before + 6);
});

test('an imported key gets a secret in our format by its rotation, beside the imported one during the overlap', async () => {
  await using at = await fixture();
  const { app, account, accessToken } = at;
  const [text = ''] = foreignKeys;
  await importKeys(app, [{ account: account.id, nickname: 'old', hash: sha256(text) }]);
  app.clock.advance({ seconds: limits.importedKeysLookSeconds });
  const headers = bearer(accessToken);
  const { json } = await app.call('GET', '/auth/api-keys', { headers });
  const path = `/auth/api-keys/${(json as { apiKeys: { id: number }[] }).apiKeys.find(Boolean)?.id}`;
  const hintOf = async (): Promise<string | null> =>
    ((await app.call('GET', path, { headers })).json as KeyDetails).hint;
  assert.equal(await hintOf(), null);
  for (const disabled of [true, false]) {
    const changed = await app.call('PATCH', path, { headers, json: { disabled } });
    assert.equal(changed.status, 200, changed.text);
    assert.deepEqual(await at.batch([text]), [disabled ? 'disabled' : 'valid']);
  }
  const rotated = await app.call('POST', `${path}/rotate`, { headers });
  const { key } = rotated.json as RotatedKey;
  assert.match(key, /^krv_[0-9A-Za-z]{49}$/);
  assert.equal(await hintOf(), `krv_…${key.slice(-4)}`);
  assert.deepEqual(await at.batch([text, key]), ['valid', 'valid']);
  assert.equal((await app.call('DELETE', `${path}/previous`, { headers })).status, 200);
  assert.deepEqual(await at.batch([text, key]), ['not_found', 'valid']);
});

test('a service that starts after the import accepts imported keys immediately', async () => {
  await using at = await fixture();
  const [text = ''] = foreignKeys;
  await importKeys(at.app, [{ account: at.account.id, nickname: 'old', hash: sha256(text) }]);
  const environment = { KEYREEVE_MASTER_KEY: masterKey.toString('base64url') };
  await using second = await newApp({ environment, place: at.app.place, clock: at.app.clock });
  assert.equal((await second.call('GET', '/auth/forward', { headers: bearer(text) })).status, 200);
});

test('a Keyreeve credential, a JWT or a text in the format of a Keyreeve key is never looked up as an imported key', async () => {
  await using at = await fixture();
  const { app, account, refreshToken } = at;
  const never = [
    refreshToken,
    'krvr_1',
    'krvc_1',
    'eyJhbGciOiJub25lIn0.e30.x',
    `krv_${'a'.repeat(49)}`,
    'x'.repeat(limits.importedKeyCharsMax + 1),
  ];
  const longest = 'x'.repeat(limits.importedKeyCharsMax);
  const texts = [...never, longest];
  await importKeys(
    app,
    texts.map((text, index) => ({ account: account.id, nickname: `old ${index}`, hash: sha256(text) })),
  );
  app.clock.advance({ seconds: limits.importedKeysLookSeconds });
  assert.equal((await at.forward({ 'x-api-key': longest })).status, 200);
  using reads = countReads();
  for (const text of never) {
    assert.equal((await at.forward({ 'x-api-key': text })).status, 401, text);
    assert.equal((await at.forward(bearer(text))).status, 401, text);
  }
  assert.equal(reads.count(), 0);
});
