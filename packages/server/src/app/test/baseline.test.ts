/**
 * The baseline (`test/data/baseline`): each live credential of its database and of its restored backup is accepted, and each ended
 * one is rejected. A change that makes one of these tests fail breaks the upgrade of installations, or needs `npm run baseline`
 * while no release is frozen.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test as testOnce } from 'node:test';
import { test } from '../../../test-kit/app-on-each-database.ts';
import { FakeClock } from '../../../test-kit/fake-clock.ts';
import { newApp, type TestApp } from '../../../test-kit/new-app.ts';
import { newPlace } from '../../../test-kit/new-db.ts';
import { newTempFolder } from '../../../test-kit/temp-folder.ts';
import { baselineEnvironment, copyBaseline } from '../../../test/e2e/baseline.ts';
import { assertCredentials, type Call } from '../../../test/e2e/every-credential.ts';
import { runProgram } from '../../../test/e2e/program.ts';

const callsOf =
  (app: TestApp): Call =>
  (method, path, headers, json) =>
    app.call(method, path, json === undefined ? { headers } : { headers, json });

testOnce('the credentials in the database of the baseline keep their state', async () => {
  using folder = newTempFolder();
  const { masterKey, writtenAt, credentials } = copyBaseline(folder.path);
  const environment = {
    ...baselineEnvironment,
    KEYREEVE_DATABASE_URL: `sqlite:${join(folder.path, 'keyreeve.db')}`,
    KEYREEVE_DELETION_JOURNAL: join(folder.path, 'journal'),
    KEYREEVE_MASTER_KEY: masterKey,
  };
  const clock = new FakeClock(Date.parse(writtenAt) + 10_000);
  await using place = await newPlace('sqlite');
  await using app = await newApp({ place: { ...place, environment }, clock });
  await assertCredentials(callsOf(app), credentials);
});

test('a restored backup of the baseline revives no ended credential', async () => {
  using folder = newTempFolder();
  const { masterKey, writtenAt, credentials } = copyBaseline(folder.path);
  await using place = await newPlace();
  const environment = {
    ...baselineEnvironment,
    ...place.environment,
    KEYREEVE_DELETION_JOURNAL: join(folder.path, 'journal'),
    KEYREEVE_MASTER_KEY: masterKey,
  };
  const args = ['restore', '--from', join(folder.path, 'backup.jsonl'), '--yes'];
  const restored = await runProgram(args, { folder: folder.path, environment });
  assert.equal(restored.status, 0, restored.stderr);
  // The audit events of the restore have the system time, which the clock must not precede.
  const clock = new FakeClock(Math.max(Date.parse(writtenAt), Date.now()));
  await using app = await newApp({ place: { ...place, environment }, clock });
  await assertCredentials(callsOf(app), credentials, { areSessionsEnded: true });
});
