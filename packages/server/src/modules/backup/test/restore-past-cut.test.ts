/** Restores and replays of a database whose audit log was cut: nothing is revived, and nothing is repeated without need. */
import assert from 'node:assert/strict';
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { dayMs, toInstant } from '../../../foundation/clock.ts';
import type { Db } from '../../../foundation/database/db.ts';
import { AuditCutter } from '../../audit-retention/audit-cutter.ts';
import { setPasswordHash } from '../../accounts/credentials-store.ts';
import { assertHashFree } from '../../api-keys/given-hash-store.ts';
import { recordKeyImportTx } from '../../../foundation/database/installation.ts';
import { claimInstallation } from '../../../../test-kit/installation.ts';
import { DeletionJournal } from '../../deletion-journal/deletion-journal.ts';
import { replayOnLive } from '../replay-on-live.ts';
import { writeBackup } from '../write-backup.ts';
import { restore } from './backup-kit.ts';
import { FakeClock } from '../../../../test-kit/fake-clock.ts';
import { onEachDatabase } from '../../../../test-kit/store-on-each-database.ts';
import { addAccount, addKey, hashOf, keys, now, operator } from '../../../../test-kit/rows.ts';
import { newTempFolder } from '../../../../test-kit/temp-folder.ts';
import { deleteKey } from '../../../../test-kit/store-changes.ts';

const backUpAt = (db: Db, path: string, at: number) =>
  writeBackup({ db, keys, clock: new FakeClock(at), version: '1.2.3', path });

const journalAt = (db: Db, folder: string, at: number): DeletionJournal =>
  new DeletionJournal({ folder, db, clock: new FakeClock(at), keys });

/** Removes all events but the last one of each chain. */
const cutAll = (db: Db, at: number) =>
  new AuditCutter({ db, clock: new FakeClock(at), keys, journal: undefined, pauseMs: 0 }).cut(operator, {
    eventsBefore: at - 30 * dayMs,
    days: 30,
  });

/** A backup at `now`; then a key is deleted, 100 days pass, and the retention removes the event. */
async function deleteAndCut(db: Db, folder: string): Promise<{ backup: string; late: number; keyId: number }> {
  await claimInstallation(db, keys.check, now);
  const ada = await addAccount(db, 'ada');
  const { id } = await addKey(db, ada, 'laptop');
  const backup = join(folder, 'old.backup');
  await backUpAt(db, backup, now);
  await deleteKey(db, { principal: operator, now: now + 1_000 }, ada, id);
  await journalAt(db, join(folder, 'journal'), now + dayMs).catchUp();
  await setPasswordHash(db, operator, { id: 'acc_ada', hash: 'other', now: now + 50 * dayMs });
  await addKey(db, ada, 'kept', { now: now + 99 * dayMs });
  const late = now + 100 * dayMs;
  await journalAt(db, join(folder, 'journal'), late).catchUp();
  const { removed, blocked } = await cutAll(db, late);
  assert.deepEqual([removed > 0, blocked], [true, undefined]);
  return { backup, late, keyId: id };
}

onEachDatabase('a deletion journal that was complete before the cut restores older backups', async ({ db }) => {
  using temp = newTempFolder();
  const { backup, late } = await deleteAndCut(db, temp.path);
  const journal = journalAt(db, join(temp.path, 'journal'), late + dayMs);
  const { replayed } = await restore(db, backup, { journal, mayReplace: true });
  assert.equal(replayed.apiKeys, 1);
});

onEachDatabase('a deletion journal that was rebuilt after the cut does not restore older backups', async ({ db }) => {
  using temp = newTempFolder();
  const { backup, late } = await deleteAndCut(db, temp.path);
  const folder = join(temp.path, 'journal');
  cpSync(folder, join(temp.path, 'copy'), { recursive: true });
  rmSync(folder, { recursive: true });
  const journal = journalAt(db, folder, late + dayMs);
  await journal.catchUp();
  const newer = join(temp.path, 'new.backup');
  await backUpAt(db, newer, late);
  const since = toInstant(late - 30 * dayMs);
  await assert.rejects(restore(db, backup, { journal, mayReplace: true }), {
    name: 'Error',
    message: new RegExp(`lacks deletions from before ${since}, because the retention has removed`),
  });
  // Also later, when the position has advanced.
  await journalAt(db, folder, late + 2 * dayMs).catchUp();
  await assert.rejects(restore(db, backup, { journal, mayReplace: true }), /lacks deletions from before/);
  // Without a journal, the audit log of the replaced database does not reach back either.
  await assert.rejects(restore(db, backup, { mayReplace: true }), /lacks deletions from before/);
  // A copy of the older journal, a newer backup, or the operator’s decision.
  const older = { journal, journalFolders: [join(temp.path, 'copy')], mayReplace: true };
  assert.equal((await restore(db, backup, older)).replayed.apiKeys, 1);
  await restore(db, newer, { journal, mayReplace: true });
  await restore(db, backup, { journal, mayReplace: true, acceptsRevival: true });
});

onEachDatabase('a replay does not repeat changes whose events the retention has removed', async ({ db }) => {
  using temp = newTempFolder();
  const { late } = await deleteAndCut(db, temp.path);
  const journal = journalAt(db, join(temp.path, 'journal'), late + dayMs);
  const clock = new FakeClock(late + dayMs);
  const { replayed } = await replayOnLive(operator, { db, keys, clock, journal, journalFolders: [], isDryRun: false });
  assert.deepEqual(
    Object.entries(replayed).filter(([, count]) => count > 0),
    [],
  );
  // A journal that reads all of its lines again finds nothing lost.
  rmSync(join(temp.path, 'journal', 'position.json'));
  assert.deepEqual(await journal.catchUp(), { working: 0, isBehind: false });
});

onEachDatabase('a backup after the cut is restored with its cuts', async ({ db }) => {
  using temp = newTempFolder();
  const { late } = await deleteAndCut(db, temp.path);
  const path = join(temp.path, 'new.backup');
  await backUpAt(db, path, late);
  const journal = journalAt(db, join(temp.path, 'journal'), late + dayMs);
  await journal.catchUp();
  const { replayed } = await restore(db, path, { journal, mayReplace: true });
  assert.deepEqual([replayed.passwordsVoided, replayed.apiKeys], [0, 0]);
});

onEachDatabase('a key that was imported and deleted cannot be imported again after the cut', async ({ db }) => {
  using temp = newTempFolder();
  await claimInstallation(db, keys.check, now);
  await db.transaction((tx) => recordKeyImportTx(tx, now));
  const { keyId } = await deleteAndCut(db, temp.path);
  const given = { id: keyId, hash: hashOf('another'), now };
  await assert.rejects(assertHashFree(db, given), { code: 'secret_taken' });
  await assertHashFree(db, { ...given, id: keyId + 1 });
});
