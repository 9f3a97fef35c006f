/**
 * A database that a failover or a file copy put back to an older state: it is detected, and a replay repeats the
 * deletions.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { hourMs } from '../../../foundation/clock.ts';
import * as accounts from '../../accounts/store.ts';
import { newestEventId } from '../../audit/store.ts';
import { replayOnLive, type ReplayOptions } from '../replay-on-live.ts';
import { restoreBackup } from '../restore.ts';
import { writeBackup } from '../write-backup.ts';
import type { Db } from '../../../foundation/database/db.ts';
import { DeletionJournal, type JournalListener } from '../../deletion-journal/deletion-journal.ts';
import { readJournal, readPosition } from '../../deletion-journal/files.ts';
import { replaceSigningKeys } from '../../signing-keys/store.ts';
import { listAuditEvents } from '../../../../test-kit/audit-log.ts';
import { FakeClock } from '../../../../test-kit/fake-clock.ts';
import { databases, testRootKeys } from '../../../../test-kit/new-db.ts';
import { nothingReplayed } from '../replay.ts';
import { newTempFolder } from '../../../../test-kit/temp-folder.ts';
import { onEachDatabase } from '../../../../test-kit/store-on-each-database.ts';
import { addAccount, addKey, keys, newSigningKey, now, operator } from '../../../../test-kit/rows.ts';
import { contentsOf, countOf, fill } from './whole-installation.ts';
import { deleteAccount, deleteKey, disableAccount } from '../../../../test-kit/store-changes.ts';

const later = now + hourMs;

const journalIn = (db: Db, folder: string, at = later): DeletionJournal =>
  new DeletionJournal({ folder, db, clock: new FakeClock(at), keys });

const replay = (db: Db, journalFolders: readonly string[], more: Partial<ReplayOptions> = {}) =>
  replayOnLive(operator, {
    db,
    keys,
    clock: new FakeClock(later),
    journal: undefined,
    journalFolders,
    isDryRun: false,
    ...more,
  });

/** A copy of the installation, as a file copy or a lagging standby has it. */
async function copyOf(db: Db, path: string) {
  const clock = new FakeClock(now);
  await writeBackup({ db, keys, clock, version: '1.2.3', path });
  const copy = await databases[db.dialect]!();
  const options = { db: copy.db, keys, clock, path, journal: undefined, journalFolders: [], mayReplace: false };
  await restoreBackup(operator, { ...options, rootKeys: testRootKeys, replacedCheck: undefined, acceptsRevival: true });
  return copy;
}

onEachDatabase(
  'a replay repeats lost deletions in one transaction, and a second replay changes nothing',
  async ({ db }) => {
    using temp = newTempFolder();
    const [folder, other] = [join(temp.path, 'journal'), join(temp.path, 'other')];
    const { laptop, server } = await fill(db);
    await addAccount(db, 'eve');
    await accounts.enableAccount(db, { principal: operator, now }, 'acc_bob');
    await using reverted = await copyOf(db, join(temp.path, 'copy'));
    await deleteKey(db, { principal: operator, now }, 'acc_ada', laptop.id);
    await disableAccount(db, { principal: operator, now }, 'acc_bob');
    await deleteAccount(db, { principal: operator, now }, 'acc_eve');
    await replaceSigningKeys(db, operator, newSigningKey('kid2'));
    await journalIn(db, folder).catchUp();
    await journalIn(db, other).record([{ kind: 'api_key', id: String(server.id), at: now }]);

    const expected = { ...nothingReplayed, apiKeys: 2, accounts: 1, signingKeys: 1, accountsDisabled: 1 };
    const before = await contentsOf(reverted.db);
    const planned = await replay(reverted.db, [folder, other], { isDryRun: true });
    assert.deepEqual(planned.replayed, expected);
    assert.deepEqual(await contentsOf(reverted.db), before);
    await assert.rejects(replay(reverted.db, [folder, join(temp.path, 'none')]), /no deletion journal in .*none/);

    const done = await replay(reverted.db, [other], { journal: journalIn(reverted.db, folder) });
    assert.deepEqual(done, planned);
    assert.equal(await countOf(reverted.db, 'api_keys'), 0);
    const recorded = (await listAuditEvents(reverted.db)).slice(-6).map(({ actor, action }) => `${actor} ${action}`);
    assert.deepEqual(recorded, [
      'system api_key.deleted',
      'system api_key.deleted',
      'system account.deleted',
      'system signing_key.revoked',
      'system account.disabled',
      'operator installation.journal_replayed',
    ]);
    // The configured journal now also has the entries of the other one.
    const known = (await Array.fromAsync(readJournal(folder, keys))).map(({ id }) => id);
    assert.ok(known.includes(String(server.id)));
    const nothing = { ...nothingReplayed, apiKeys: 0, accounts: 0, signingKeys: 0, accountsDisabled: 0 };
    assert.deepEqual((await replay(reverted.db, [folder, other])).replayed, nothing);
  },
);

onEachDatabase('a database that has lost a deletion is reported until a replay', async ({ db }) => {
  using temp = newTempFolder();
  const { laptop } = await fill(db);
  await using reverted = await copyOf(db, join(temp.path, 'copy'));
  await deleteKey(db, { principal: operator, now }, 'acc_ada', laptop.id);
  const folder = join(temp.path, 'journal');
  assert.deepEqual(await journalIn(db, folder).catchUp(), { working: 0, isBehind: false });
  const position = await readPosition(folder, keys);
  assert.equal(position?.at, later);

  const reports: unknown[] = [];
  const watch: JournalListener = {
    onFailure: (error) => assert.fail(String(error)),
    onDamage: (error) => assert.fail(String(error)),
    onLost: (lost) => reports.push(lost.working),
  };
  const journal = journalIn(reverted.db, folder, later + hourMs);
  // The audit log may have grown past its former end.
  for (let round = 0; round < 5; round++) await addKey(reverted.db, 'acc_ada', `new ${round}`);
  await journal.start(watch);
  journal.stop();
  assert.deepEqual(reports, [1]);
  // The position does not advance while the database has lost records.
  assert.deepEqual(await readPosition(folder, keys), position);
  await replay(reverted.db, [], { journal });
  await journal.start(watch);
  journal.stop();
  assert.deepEqual(reports, [1]);
  assert.equal((await readPosition(folder, keys))?.at, later + hourMs);
});

onEachDatabase(
  'a deletion is added to the journal although the audit log was put back and reused event ids',
  async ({ db }) => {
    using temp = newTempFolder();
    const { server } = await fill(db);
    const folder = join(temp.path, 'journal');
    await using reverted = await copyOf(db, join(temp.path, 'copy'));
    for (let round = 0; round < 5; round++) await addKey(db, 'acc_ada', `lost ${round}`);
    await journalIn(db, folder).catchUp();
    const end = (await readPosition(folder, keys))?.event ?? 0;
    // The id of this deletion's event is below the position of the journal.
    await deleteKey(reverted.db, { principal: operator, now: later }, 'acc_ada', server.id);
    for (let round = 0; round < 9; round++) await addKey(reverted.db, 'acc_ada', `new ${round}`);
    assert.ok(end > 0 && (await listAuditEvents(reverted.db)).length > end);
    assert.deepEqual(await journalIn(reverted.db, folder).catchUp(), { working: 0, isBehind: false });
    const known = (await Array.fromAsync(readJournal(folder, keys))).map(({ id }) => id);
    assert.ok(known.includes(String(server.id)));
  },
);

onEachDatabase('an event id in the journal above the newest in the audit log is reported', async ({ db }) => {
  using temp = newTempFolder();
  await fill(db);
  const journal = journalIn(db, temp.path);
  const event = 1 + (await newestEventId(db));
  await journal.record([{ kind: 'account_disabled', id: 'acc_ada', at: later, event }]);
  assert.deepEqual(await journal.catchUp(), { working: 0, isBehind: true });
  await replay(db, [], { journal });
  assert.deepEqual(await journal.catchUp(), { working: 0, isBehind: false });
});
