/** The chains of the audit log have no gaps after concurrent writes, backup and move. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { recordEventsTx, type AuditEvent } from '../audit.ts';
import { chainOf, findCheckpoints } from '../chain.ts';
import { takeCheckpoint } from '../checkpoint.ts';
import { verifyLog, type Verified } from '../verify-log.ts';
import { moveInstallation } from '../../backup/move.ts';
import { replayOnLive } from '../../backup/replay-on-live.ts';
import { restoreBackup } from '../../backup/restore.ts';
import { writeBackup } from '../../backup/write-backup.ts';
import type { Db } from '../../../foundation/database/db.ts';
import { sql } from '../../../foundation/database/sql.ts';
import { isOutcomeUnknown } from '../../../foundation/database/unavailable.ts';
import { DeletionJournal } from '../../deletion-journal/deletion-journal.ts';
import { nothingReplayed } from '../../backup/replay.ts';
import { listAuditEvents } from '../../../../test-kit/audit-log.ts';
import { FakeClock } from '../../../../test-kit/fake-clock.ts';
import { databases, testRootKeys } from '../../../../test-kit/new-db.ts';
import { newTempFolder } from '../../../../test-kit/temp-folder.ts';
import { createSession } from '../../sessions/store.ts';
import { codeOf, onEachDatabase, raceToValues, rivalsMin } from '../../../../test-kit/store-on-each-database.ts';
import { addAccount, addKey, keys, newSession, now, operator } from '../../../../test-kit/rows.ts';
import { fill } from '../../backup/test/whole-installation.ts';
import { deleteAccount, deleteKey } from '../../../../test-kit/store-changes.ts';

const clock = new FakeClock(now + 60_000);

const verify = (db: Db, checkpoints: readonly string[] = []): Promise<Verified> =>
  db.snapshot((reader) => verifyLog(reader, keys, { now, checkpoints: checkpoints.flatMap(findCheckpoints) }));

/** Verifies the audit log. @returns the number of events, which are all in chains */
async function assertWhole(db: Db, checkpoints: readonly string[] = []): Promise<number> {
  const { findings, events } = await verify(db, checkpoints);
  assert.deepEqual(findings, []);
  assert.equal(events, (await listAuditEvents(db)).length);
  return events;
}

const checkpoint = async (db: Db): Promise<string> => (await takeCheckpoint(db, keys.auditChain))?.text ?? '';

/** Retries what certainly failed: a busy machine may have no connection in time. */
async function persist<T>(work: () => Promise<T>): Promise<T> {
  for (let left = 30; ; left--) {
    try {
      return await work();
    } catch (error) {
      if (left === 0 || codeOf(error) !== 'unavailable' || isOutcomeUnknown(error)) throw error;
    }
  }
}

const listPlaces = sql<{ chain: number; position: number; accountId: string | null }>(
  'test_list_places',
  `select chain, position, account_id as "accountId" from audit_events order by chain, position`,
);

const signedIn = (accountId: string, target: string): AuditEvent => ({
  at: now,
  principal: operator,
  action: 'session.created',
  accountId,
  target,
});

onEachDatabase(
  'concurrent writers of one chain and of many get places without gaps, and every MAC is valid',
  async (opened) => {
    const { db } = opened;
    const people = await Promise.all(Array.from({ length: 8 }, (_, index) => addAccount(db, `p${index}`)));
    // Half of the writers use one account.
    const rivals = rivalsMin * 2;
    await raceToValues(opened, rivals, (connection, rival) =>
      persist(() =>
        createSession(connection, newSession(people[rival % 2 === 0 ? 0 : rival % 8] ?? '', `s${rival}`), 1_000),
      ),
    );
    assert.equal(await assertWhole(db), people.length + rivals);
    const places = await db.all(listPlaces);
    for (const [index, { chain, position, accountId }] of places.entries()) {
      const before = places[index - 1];
      assert.equal(position, before?.chain === chain ? before.position + 1 : 1);
      assert.equal(chain, chainOf(accountId));
    }
  },
);

onEachDatabase('transactions that record events of several accounts cause no deadlock', async (opened) => {
  const names = ['acc_0', 'acc_1', 'acc_2', 'acc_3'];
  assert.equal(new Set(names.map(chainOf)).size, names.length);
  // After a deadlock, the call is retried internally.
  let deadlocks = 0;
  await raceToValues(opened, rivalsMin, (connection, rival) =>
    persist(() => {
      let attempts = 0;
      return connection.transaction((tx) => {
        if (++attempts > 1) deadlocks++;
        const order = rival % 2 === 0 ? names : names.toReversed();
        return recordEventsTx(
          tx,
          order.map((name) => signedIn(name, String(rival))),
        );
      });
    }),
  );
  assert.equal(deadlocks, 0);
  assert.equal(await assertWhole(opened.db), rivalsMin * names.length);
});

onEachDatabase('events that are recorded together are in the order in which they happened', async ({ db }) => {
  const targets = Array.from({ length: 1_200 }, (_, index) => String(index));
  await db.transaction((tx) =>
    recordEventsTx(
      tx,
      targets.map((target, index) => signedIn(`acc_${index % 3}`, target)),
    ),
  );
  assert.deepEqual(
    (await listAuditEvents(db)).map(({ target }) => target),
    targets,
  );
  assert.equal(await assertWhole(db), targets.length);
  await db.transaction((tx) => recordEventsTx(tx, []));
  assert.equal(await assertWhole(db), targets.length);
});

onEachDatabase(
  'a transaction that records two events at once fails, because one has to follow the other',
  async ({ db }) => {
    const both = db.transaction((tx) =>
      Promise.all([recordEventsTx(tx, [signedIn('acc_0', 'one')]), recordEventsTx(tx, [signedIn('acc_0', 'two')])]),
    );
    await assert.rejects(both, /one call at a time/);
    assert.deepEqual(await db.all(listPlaces), []);
  },
);

onEachDatabase('a transaction that is rolled back leaves no gap', async ({ db }) => {
  await addAccount(db, 'ada');
  const failing = db.transaction(async (tx) => {
    await recordEventsTx(tx, [signedIn('acc_ada', 'a'), signedIn('acc_new', 'b')]);
    throw new Error('changed my mind');
  });
  await assert.rejects(failing, /changed my mind/);
  assert.equal(await assertWhole(db), 1);
  await addKey(db, 'acc_ada', 'laptop');
  assert.equal(await assertWhole(db), 2);
});

test('chains continue after a move', async () => {
  await using source = await databases['sqlite']!();
  await using target = await databases['postgres']!();
  await fill(source.db);
  const before = await checkpoint(source.db);
  const events = await assertWhole(source.db);
  await moveInstallation(operator, source.db, target.db, { keys, clock });
  await addKey(target.db, 'acc_ada', 'after');
  assert.equal(await assertWhole(target.db, [before]), events + 2);
});

onEachDatabase('chains continue after a restore that repeats deletions', async ({ db }) => {
  using temp = newTempFolder();
  const path = join(temp.path, 'backup');
  const { laptop } = await fill(db);
  await addKey(db, 'acc_ada', 'third');
  await writeBackup({ db, keys, clock, version: '1.2.3', path });
  const atBackup = await checkpoint(db);
  await deleteKey(db, { principal: operator, now }, 'acc_ada', laptop.id);
  await deleteAccount(db, { principal: operator, now }, 'acc_bob');
  const afterwards = await checkpoint(db);
  const restored = await restoreBackup(operator, {
    db,
    keys,
    rootKeys: testRootKeys,
    replacedCheck: keys.check,
    clock,
    path,
    journal: undefined,
    journalFolders: [],
    mayReplace: true,
    acceptsRevival: true,
  });
  assert.deepEqual([restored.replayed.apiKeys, restored.replayed.accounts], [1, 1]);
  await assertWhole(db, [atBackup]);
  // Events after the backup are lost, and a checkpoint shows it.
  const { findings } = await verify(db, [afterwards]);
  assert.deepEqual(
    findings.map(({ fault }) => fault),
    ['checkpoint'],
  );
  await addKey(db, 'acc_ada', 'after');
  await assertWhole(db, [atBackup]);
});

onEachDatabase('writes during a restore continue the restored chains', async (opened) => {
  using temp = newTempFolder();
  const { db } = opened;
  const path = join(temp.path, 'backup');
  await fill(db);
  await writeBackup({ db, keys, clock, version: '1.2.3', path });
  const other = await opened.connect();
  const more = { replacedCheck: keys.check, journal: undefined, journalFolders: [], mayReplace: true };
  for (let round = 0; round < 3; round++) {
    // Uses places that the restore frees.
    for (let index = 0; index < 5; index++) await persist(() => addKey(db, 'acc_ada', `before ${round} ${index}`));
    // Some fail on a busy machine, because they wait too long for the locks of the restore.
    const write = (letter: string): Promise<unknown> =>
      Promise.allSettled(
        Array.from({ length: rivalsMin }, (_, index) => addKey(other, 'acc_ada', `${letter} ${round} ${index}`)),
      );
    const writing = write('k');
    const restoring = restoreBackup(operator, {
      db,
      keys,
      rootKeys: testRootKeys,
      clock,
      path,
      acceptsRevival: true,
      ...more,
    });
    await Promise.all([writing, restoring, write('l')]);
    await assertWhole(db);
  }
});

onEachDatabase('chains continue after a replay of the deletion journal', async ({ db }) => {
  using temp = newTempFolder();
  const { laptop, server } = await fill(db);
  const journal = new DeletionJournal({ folder: temp.path, db, clock, keys });
  const at = now + 1;
  await journal.record([
    { kind: 'api_key', id: String(laptop.id), at },
    { kind: 'api_key', id: String(server.id), at },
    { kind: 'account', id: 'acc_bob', at },
    { kind: 'signing_key', id: 'kid', at },
  ]);
  const before = await assertWhole(db);
  const { replayed } = await replayOnLive(operator, {
    db,
    keys,
    clock,
    journal: undefined,
    journalFolders: [temp.path],
    isDryRun: false,
  });
  assert.deepEqual(replayed, { ...nothingReplayed, apiKeys: 2, accounts: 1, signingKeys: 1 });
  assert.equal(await assertWhole(db), before + 5);
});
