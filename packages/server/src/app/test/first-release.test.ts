/** The data of release 0.1.0 (`test/data/release-0.1.0`): each valid credential works, and each ended one is rejected. */
import assert from 'node:assert/strict';
import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test as testOnce } from 'node:test';
import { FakeClock } from '../../../test-kit/fake-clock.ts';
import { basic, bearer, newApp, type TestApp } from '../../../test-kit/new-app.ts';
import { newPlace } from '../../../test-kit/new-db.ts';
import { newTempFolder } from '../../../test-kit/temp-folder.ts';
import { firstReleaseData, type Credentials } from '../../../test/e2e/first-release-program.ts';
import { runProgram } from '../../../test/e2e/program.ts';
import { test } from '../../../test-kit/app-on-each-database.ts';

const text = readFileSync(join(firstReleaseData, 'credentials.json'), 'utf8');
const { masterKey, writtenAt, password, recoveryCodes, refreshTokens, accessTokens, keys } = JSON.parse(
  text,
) as Credentials;
const publicUrl = 'http://localhost:8787';

/** @returns the status of a sign-in. It is also 401 if the code of an enrolled second factor is missing. */
async function signIn(app: TestApp, name: string, code?: string): Promise<number> {
  const headers = { ...basic(`${name}@example.com`, password), ...(code ? { 'x-keyreeve-otp': code } : {}) };
  return (await app.call('POST', '/auth/token', { headers })).status;
}

async function isValid(app: TestApp, credential: string): Promise<boolean> {
  const answer = await app.call('POST', '/auth/verify', { headers: bearer(keys.service), json: { credential } });
  return answer.status === 200 && (answer.json as { valid: boolean }).valid;
}

const refresh = async (app: TestApp, refreshToken: string): Promise<number> =>
  (await app.call('POST', '/auth/token/refresh', { json: { refreshToken } })).status;

async function assertAccountsAndKeys(app: TestApp): Promise<void> {
  for (const name of ['live', 'service', 'imported'] as const) assert.equal(await isValid(app, keys[name]), true, name);
  for (const name of ['deletedBeforeBackup', 'deletedAfterBackup', 'ofDeletedAccount', 'ofDisabledAccount'] as const)
    assert.equal(await isValid(app, keys[name]), false, name);
  for (const name of ['ada', 'carol', 'eve']) assert.equal(await signIn(app, name), 200, name);
  for (const name of ['bob', 'frank', 'unknown']) assert.equal(await signIn(app, name), 401, name);
  assert.equal(await signIn(app, 'grace'), 401, 'the second factor is required');
  assert.equal(await signIn(app, 'grace', recoveryCodes[0]), 200);
  assert.equal(await signIn(app, 'grace', recoveryCodes[0]), 401, 'a recovery code works once');
}

testOnce('the credentials in an SQLite database of release 0.1.0 keep their state', async () => {
  using folder = newTempFolder();
  cpSync(firstReleaseData, folder.path, { recursive: true });
  const environment = {
    KEYREEVE_DATABASE_URL: `sqlite:${join(folder.path, 'keyreeve.db')}`,
    KEYREEVE_DELETION_JOURNAL: join(folder.path, 'journal'),
    KEYREEVE_MASTER_KEY: masterKey,
    KEYREEVE_PUBLIC_URL: publicUrl,
  };
  const clock = new FakeClock(Date.parse(writtenAt) + 10_000);
  await using place = await newPlace('sqlite');
  await using app = await newApp({ place: { ...place, environment }, clock });
  assert.equal(await isValid(app, accessTokens.live), true);
  assert.equal(await isValid(app, accessTokens.ended), false);
  await assertAccountsAndKeys(app);
  assert.equal(await refresh(app, refreshTokens.live), 200);
  for (const name of ['ended', 'ofDeletedAccount', 'ofDisabledAccount'] as const)
    assert.equal(await refresh(app, refreshTokens[name]), 401, name);
});

test('a restored backup of release 0.1.0 revives no deleted credential', async () => {
  using folder = newTempFolder();
  cpSync(firstReleaseData, folder.path, { recursive: true });
  await using place = await newPlace();
  const environment = {
    ...place.environment,
    KEYREEVE_DELETION_JOURNAL: join(folder.path, 'journal'),
    KEYREEVE_MASTER_KEY: masterKey,
    KEYREEVE_PUBLIC_URL: publicUrl,
  };
  const args = ['restore', '--from', join(folder.path, 'backup.jsonl'), '--yes'];
  const restored = await runProgram(args, { folder: folder.path, environment });
  assert.equal(restored.status, 0, restored.stderr);
  // The audit events of the restore have the system time, which the clock must not precede.
  const clock = new FakeClock(Math.max(Date.parse(writtenAt), Date.now()));
  await using app = await newApp({ place: { ...place, environment }, clock });
  await assertAccountsAndKeys(app);
  for (const [name, token] of Object.entries(refreshTokens)) assert.equal(await refresh(app, token), 401, name);
});
