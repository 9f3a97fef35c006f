/** A manager who was removed after a backup manages nothing after a restore. */
import assert from 'node:assert/strict';
import { listAuditEvents } from '../../../../test-kit/audit-log.ts';
import { FakeClock } from '../../../../test-kit/fake-clock.ts';
import { databases } from '../../../../test-kit/new-db.ts';
import { addAccount, addKey, now, operator } from '../../../../test-kit/rows.ts';
import { onEachDatabase } from '../../../../test-kit/store-on-each-database.ts';
import type { Services } from '../../../app/wiring/wire.ts';
import { wireOn } from '../../../../test-kit/wire-on.ts';
import type { Db } from '../../../foundation/database/db.ts';
import { nothingReplayed } from '../replay.ts';
import { backUp, journalIn, newBackupFolder, replay, restore } from './backup-kit.ts';

const servicesOf = (db: Db, at: number): Services => wireOn(db, { clock: new FakeClock(at) });

const managersOf = async (db: Db, id: string): Promise<string[]> =>
  (await servicesOf(db, now).managers.list(operator, id)).map((manager) => manager.id).toSorted();

onEachDatabase('a restore removes managers again, also the last one, and keeps those added again', async ({ db }) => {
  using temp = newBackupFolder();
  for (const name of ['ada', 'eve', 'bob']) await addAccount(db, name);
  const before = servicesOf(db, now);
  const { id: one } = await before.serviceAccounts.create(operator, 'acc_ada', { name: 'one', externalId: '1' });
  const { id: two } = await before.serviceAccounts.create(operator, 'acc_eve', { name: 'two' });
  const { id: gone } = await before.serviceAccounts.create(operator, 'acc_eve', { name: 'gone' });
  for (const manager of ['acc_eve', 'acc_bob']) await before.managers.add(operator, one, manager);
  await addKey(db, one, 'kept');
  await backUp(db, temp.backup);

  const after = servicesOf(db, now + 10);
  for (const manager of ['acc_eve', 'acc_bob']) await after.managers.remove(operator, one, manager);
  await after.managers.add(operator, one, 'acc_bob');
  await after.managers.remove(operator, two, 'acc_eve');
  await after.serviceAccounts.delete(operator, gone);
  // As after a crash: the entries come from the audit log.
  await journalIn(db, temp.folder).catchUp();
  for (const openTarget of Object.values(databases)) {
    await using target = await openTarget();
    const { replayed } = await restore(target.db, temp.backup, { journal: journalIn(target.db, temp.folder) });
    // The journal has no additions, so Bob is removed too.
    assert.deepEqual(replayed, { ...nothingReplayed, accounts: 1, managersRemoved: 3 });
    assert.deepEqual(await managersOf(target.db, one), ['acc_ada']);
    assert.deepEqual(await managersOf(target.db, two), []);
    const row = await servicesOf(target.db, now).serviceAccounts.find(operator, one);
    assert.deepEqual([row.name, row.externalId, row.creatorId], ['one', '1', 'acc_ada']);
    const events = (await listAuditEvents(target.db)).filter(({ details }) => details?.includes('deletion_journal'));
    assert.deepEqual(
      events.map(({ action, accountId, target: of }) => [action, accountId, of].join(' ')).toSorted(),
      [
        `account.deleted ${gone} ${gone}`,
        `service_account.manager_removed ${one} ${one}/acc_bob`,
        `service_account.manager_removed ${one} ${one}/acc_eve`,
        `service_account.manager_removed ${two} ${two}/acc_eve`,
      ].toSorted(),
    );
    // A manager who is added after the restore stays, whatever the clock of the machine shows.
    await servicesOf(target.db, now).managers.add(operator, two, 'acc_eve');
    assert.deepEqual(await replay(target.db, temp.folder), nothingReplayed);
    assert.deepEqual(await managersOf(target.db, two), ['acc_eve']);
  }
  // The database that has all changes has lost none.
  assert.deepEqual(await managersOf(db, one), ['acc_ada', 'acc_bob']);
});
