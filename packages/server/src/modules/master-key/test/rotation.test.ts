/** The steps of a rotation of the master key, and who may take them when. */
import assert from 'node:assert/strict';
import { cancelRotation, finishRotation, masterKeysIn, RotationError, startRotation } from '../rotation.ts';
import { masterKeyIdOf, RootKeys } from '../../../foundation/crypto/root-key.ts';
import type { Db } from '../../../foundation/database/db.ts';
import { claimInstallation } from '../../../../test-kit/installation.ts';
import { insertRootKeyTx, isMasterKeyTx, listRootKeys } from '../../../foundation/database/root-keys.ts';
import { sql } from '../../../foundation/database/sql.ts';
import { saveInstanceTx } from '../../overview/store.ts';
import { listAuditEvents } from '../../../../test-kit/audit-log.ts';
import { gatherStatistics, isInDatabaseFiles } from '../../../../test-kit/database-files.ts';
import { FakeClock } from '../../../../test-kit/fake-clock.ts';
import { testRootKeys, type TestDb } from '../../../../test-kit/new-db.ts';
import { useOwnPostgres } from '../../../../test-kit/postgres/running.ts';
import { keys, now, operator } from '../../../../test-kit/rows.ts';
import { onEachDatabase } from '../../../../test-kit/store-on-each-database.ts';
import { until } from '../../../../test-kit/until.ts';

useOwnPostgres();

const [first, second, third] = [Buffer.alloc(32, 7), Buffer.alloc(32, 2), Buffer.alloc(32, 3)];
const [firstId, secondId, thirdId] = [first, second, third].map((key) => masterKeyIdOf(key)) as [
  string,
  string,
  string,
];
const clock = new FakeClock(now);

async function initialise(db: Db): Promise<void> {
  await claimInstallation(db, keys.check, now);
  await db.transaction(async (tx) => {
    for (const row of testRootKeys.rows) await insertRootKeyTx(tx, row);
  });
}

async function openedWith(db: Db, masterKey: Buffer): Promise<RootKeys> {
  const rootKeys = RootKeys.open(masterKey, await listRootKeys(db));
  assert.ok(rootKeys, 'the master key opens nothing');
  return rootKeys;
}

const as = async (db: Db, masterKey: Buffer) => ({ db, clock, rootKeys: await openedWith(db, masterKey) });
const start = async (db: Db, by: Buffer, next: Buffer): Promise<boolean> =>
  (await startRotation(operator, await as(db, by), () => next)).isAdded;
const finish = async (db: Db, by: Buffer, endedInstances: readonly string[] = []) =>
  finishRotation(operator, { ...(await as(db, by)), endedInstances });
const cancel = async (db: Db, by: Buffer, endedInstances: readonly string[] = []) =>
  cancelRotation(operator, { ...(await as(db, by)), endedInstances });

const run = (db: Db, id: string, masterKeyId: string, seenAt = now): Promise<void> =>
  db.transaction((tx) =>
    saveInstanceTx(tx, { id, version: '1.2.3', startedAt: now - 1_000, seenAt, masterKeyId, settings: '{}' }),
  );

const openers = async (db: Db): Promise<string[]> => masterKeysIn(await listRootKeys(db)).map(({ id }) => id);

const events = async (db: Db) =>
  (await listAuditEvents(db)).map(({ action, target, details }) => [action, target, details]);

const rejects = (step: Promise<unknown>, expected: RegExp): Promise<void> =>
  assert.rejects(step, (error) => {
    assert.ok(error instanceof RotationError, String(error));
    assert.match(error.message, expected);
    return true;
  });

onEachDatabase(
  'both master keys open the installation until the previous one is removed',
  { tags: ['asvs:11.2.2'] },
  async ({ db }) => {
    await initialise(db);
    assert.equal(await start(db, first, second), true);
    for (const key of [first, second]) assert.deepEqual((await openedWith(db, key)).newest, testRootKeys.newest);
    assert.deepEqual(await finish(db, second), { removedId: firstId, isErased: true });
    assert.equal(RootKeys.open(first, await listRootKeys(db)), undefined);
    assert.deepEqual((await openedWith(db, second)).newest, testRootKeys.newest);
    // The next rotation.
    await start(db, second, third);
    await finish(db, third);
    assert.deepEqual(await openers(db), [thirdId]);
    const action = (step: string): string => `installation.master_key_rotation_${step}`;
    assert.deepEqual(await events(db), [
      [action('started'), secondId, `{"previousMasterKeyId":"${firstId}"}`],
      [action('finished'), secondId, `{"removedMasterKeyId":"${firstId}"}`],
      [action('started'), thirdId, `{"previousMasterKeyId":"${secondId}"}`],
      [action('finished'), thirdId, `{"removedMasterKeyId":"${secondId}"}`],
    ]);
  },
);

onEachDatabase(
  'the previous master key stays while a running instance was not started with the new one',
  async ({ db }) => {
    await initialise(db);
    await start(db, first, second);
    await run(db, 'ins_old', firstId, now - 60_000);
    await run(db, 'ins_new', secondId);
    await rejects(
      finish(db, second),
      new RegExp(
        `^these instances were not started with the master key ${secondId}: ins_old \\(Keyreeve 1\\.2\\.3, started \\S+ with the master key ${firstId}, last seen 60 s ago\\)\\. Restart them`,
      ),
    );
    await run(db, 'ins_old', firstId, now - 180_001);
    assert.equal((await finish(db, second)).removedId, firstId);
  },
);

onEachDatabase(
  'an operator can name an ended instance whose last time is in the future, and no other',
  async ({ db }) => {
    await initialise(db);
    await start(db, first, second);
    await run(db, 'ins_ahead', firstId, now + 3_600_000);
    await run(db, 'ins_running', firstId, now + 180_000);
    await rejects(
      finish(db, second),
      /ins_ahead \([^)]*last seen at [^)]*Z\).* in the future, as here: check the clocks/,
    );
    await rejects(
      finish(db, second, ['ins_ahead', 'ins_running']),
      /: ins_running \([^)]*\)\. .* counts as running for 3 minutes$/,
    );
    assert.deepEqual(await openers(db), [firstId, secondId]);
    await run(db, 'ins_running', firstId, now - 180_001);
    await run(db, 'ins_restarted', secondId, now + 3_600_000);
    await rejects(cancel(db, first), /: ins_restarted /);
    assert.equal((await cancel(db, first, ['ins_restarted'])).removedId, secondId);
  },
);

onEachDatabase('a rotation is cancelled only while no running instance uses the new master key', async ({ db }) => {
  await initialise(db);
  await start(db, first, second);
  await run(db, 'ins_new', secondId);
  await rejects(cancel(db, first), /^these instances were not started with the master key [0-9a-f]{16}: ins_new/);
  await run(db, 'ins_new', secondId, now - 180_001);
  await run(db, 'ins_old', firstId);
  assert.deepEqual(await cancel(db, first), { removedId: secondId, isErased: true });
  assert.deepEqual(await openers(db), [firstId]);
  // The same master key can be added again.
  assert.equal(await start(db, first, second), true);
});

onEachDatabase('each step is rejected with the wrong master key, and is repeated without effect', async ({ db }) => {
  await initialise(db);
  await rejects(start(db, first, first), /^the new master key is the one in use/);
  assert.deepEqual(await finish(db, first), { removedId: undefined, isErased: true });
  await start(db, first, second);
  assert.equal(await start(db, first, second), false);
  await rejects(
    start(db, first, third),
    new RegExp(`^the rotation to the master key ${secondId} of 20\\S+ is unfinished; restart`),
  );
  await rejects(start(db, second, third), /is unfinished/);
  await rejects(start(db, second, first), /^the new master key is the one in use/);
  await rejects(
    finish(db, first),
    new RegExp(`run with the previous master key ${firstId}; run it with the new one, ${secondId}$`),
  );
  await rejects(
    cancel(db, second),
    new RegExp(`run with the new master key ${secondId}.*run it with the previous one, ${firstId}$`),
  );
  assert.deepEqual(await openers(db), [firstId, secondId]);
  await finish(db, second);
  assert.equal((await finish(db, second)).removedId, undefined);
  assert.equal((await events(db)).length, 2);
});

/** Connections of their own, as of commands in several processes. */
const rivals = async (opened: TestDb, count: number): Promise<Db[]> =>
  Promise.all(Array.from({ length: count }, () => opened.connect()));

onEachDatabase('of 16 rotations to different master keys at the same time, one begins', async (opened) => {
  await initialise(opened.db);
  const connections = await rivals(opened, 16);
  const results = await Promise.allSettled(
    connections.map((db, index) => start(db, first, Buffer.alloc(32, 100 + index))),
  );
  assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 1);
  for (const result of results) if (result.status === 'rejected') assert.ok(result.reason instanceof RotationError);
  assert.equal((await openers(opened.db)).length, 2);
  assert.equal((await events(opened.db)).length, 1);
});

onEachDatabase('an instance that starts while its master key is removed is recorded or rejected', async (opened) => {
  await initialise(opened.db);
  const other = await opened.connect();
  for (let round = 0; round < 8; round++) {
    const [from, to] = round % 2 === 0 ? [first, second] : [second, first];
    await start(opened.db, from, to);
    const id = `ins_${round}`;
    const masterKeyId = masterKeyIdOf(from);
    const [mayStart, finished] = await Promise.all([
      other.transaction(async (tx) => {
        if (!(await isMasterKeyTx(tx, masterKeyId))) return false;
        await saveInstanceTx(tx, { id, version: '1', startedAt: now, seenAt: now, masterKeyId, settings: '{}' });
        return true;
      }),
      finish(opened.db, to).then(
        () => true,
        (error) => (assert.match(String(error), new RegExp(id)), false),
      ),
    ]);
    assert.equal(mayStart, !finished, `round ${round}`);
    if (!finished) {
      await run(opened.db, id, masterKeyId, now - 180_001);
      await finish(opened.db, to);
    }
  }
});

const firstWrapping = testRootKeys.rows[0]!.wrapped;

onEachDatabase('the files of the database contain no removed wrapping', async ({ db }) => {
  await initialise(db);
  await start(db, first, second);
  await gatherStatistics(db);
  assert.equal(await isInDatabaseFiles(db, firstWrapping), true);
  assert.deepEqual(await finish(db, second), { removedId: firstId, isErased: true });
  assert.equal(await isInDatabaseFiles(db, firstWrapping), false);
});

const countReaders = sql<{ count: number }>('test_count_readers', {
  sqlite: 'select 0 as count',
  postgres: `select count(*) as count from pg_stat_activity
    where datname = current_database() and backend_xmin is not null and pid <> pg_backend_pid()`,
});

onEachDatabase('a wrapping that another transaction still reads is not reported as erased', async ({ db, connect }) => {
  await initialise(db);
  await start(db, first, second);
  const reader = await connect();
  const [opened, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const reading = reader.snapshot(async (snapshot) => {
    // On PostgreSQL, a read of the table itself would hold a lock until the end.
    await snapshot.all(sql('test_snapshot', 'select count(*) from instances'));
    opened.resolve();
    await ended.promise;
  });
  // A failure of the reader ends the wait.
  await Promise.race([opened.promise, reading]);
  try {
    assert.deepEqual(await finish(db, second), { removedId: firstId, isErased: false });
    assert.equal(await isInDatabaseFiles(db, firstWrapping), true);
  } finally {
    ended.resolve();
    await reading;
  }
  // The server ends the transaction after the client has closed its connection.
  await until('no other transaction reads', async () => (await db.get(countReaders))?.count === 0);
  assert.deepEqual(await finish(db, second), { removedId: undefined, isErased: true });
  assert.equal(await isInDatabaseFiles(db, firstWrapping), false);
});
