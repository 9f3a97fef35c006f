/** Scopes and entitlements that were taken away after a backup are not in force after a restore. */
import assert from 'node:assert/strict';
import { listAuditEvents } from '../../../../test-kit/audit-log.ts';
import { FakeClock } from '../../../../test-kit/fake-clock.ts';
import { databases } from '../../../../test-kit/new-db.ts';
import { addAccount, addKey, hashOf, now, operator } from '../../../../test-kit/rows.ts';
import { onEachDatabase } from '../../../../test-kit/store-on-each-database.ts';
import type { Services } from '../../../app/wiring/wire.ts';
import { wireOn } from '../../../../test-kit/wire-on.ts';
import type { Db } from '../../../foundation/database/db.ts';
import { findKeyStates } from '../../api-keys/state-store.ts';
import { nothingReplayed } from '../replay.ts';
import { backUp, journalIn, later, newBackupFolder, replay, restore } from './backup-kit.ts';

const marked = { description: 'kept', entitled: true };
const open = { description: 'kept', entitled: false };

const servicesOf = (db: Db, at = now): Services => wireOn(db, { clock: new FakeClock(at) });

async function fill(db: Db): Promise<void> {
  const { scopeCatalogue, entitlements } = servicesOf(db);
  for (const name of ['held', 'taken']) await scopeCatalogue.set(operator, name, marked);
  for (const name of ['later', 'gone', 'both', 'kept']) await scopeCatalogue.set(operator, name, open);
  for (const name of ['ada', 'eve']) {
    const id = await addAccount(db, name);
    await addKey(db, id, `key of ${name}`, {
      scopes: ['held', 'taken', 'later', 'gone', 'both', 'kept', 'undeclared'],
    });
    await entitlements.set(operator, id, ['held', 'taken']);
  }
}

/** Takes rights away, and grants others. */
async function change(db: Db): Promise<void> {
  const { scopeCatalogue, entitlements } = servicesOf(db, now + 10);
  await entitlements.set(operator, 'acc_ada', ['held']);
  await scopeCatalogue.set(operator, 'later', marked);
  await scopeCatalogue.set(operator, 'undeclared', marked);
  await scopeCatalogue.delete(operator, 'gone');
  // Both changes are lost: the second one must also be found after the first one has been repeated.
  await scopeCatalogue.set(operator, 'both', marked);
  await scopeCatalogue.delete(operator, 'both');
  await scopeCatalogue.set(operator, 'new', open);
}

/** By account: the scopes of its key that are not in force. */
async function withheldIn(db: Db): Promise<Record<string, readonly string[]>> {
  const hashes = ['acc_ada key of ada', 'acc_eve key of eve'].map(hashOf);
  const states = await findKeyStates(db, hashes, true);
  return Object.fromEntries(
    states.map((state) => [state?.accountId ?? '', state?.withheld?.split(' ').toSorted() ?? []]),
  );
}

onEachDatabase('a restore puts no scope in force again that was marked, deleted or taken away', async ({ db }) => {
  using temp = newBackupFolder();
  await fill(db);
  await backUp(db, temp.backup);
  assert.deepEqual(await withheldIn(db), { acc_ada: [], acc_eve: [] });
  await change(db);
  const eve = ['both', 'gone', 'later', 'undeclared'];
  assert.deepEqual(await withheldIn(db), { acc_ada: [...eve, 'taken'].toSorted(), acc_eve: eve });
  // As after a crash: the entries come from the audit log.
  const journal = journalIn(db, temp.folder);
  await journal.catchUp();
  for (const openTarget of Object.values(databases)) {
    await using target = await openTarget();
    const { replayed } = await restore(target.db, temp.backup, { journal: journalIn(target.db, temp.folder) });
    const expected = { ...nothingReplayed, entitlementsRemoved: 1, scopesEntitled: 3, scopesDeleted: 2 };
    assert.deepEqual(replayed, expected);
    // The journal has no names of entitlements, so Ada lost both.
    const ada = [...eve, 'taken', 'held'].toSorted();
    assert.deepEqual(await withheldIn(target.db), { acc_ada: ada, acc_eve: eve });
    const events = (await listAuditEvents(target.db)).filter(({ details }) => details?.includes('deletion_journal'));
    assert.deepEqual(events.map(({ action, target: of }) => `${action} ${of}`).toSorted(), [
      'account.entitlements_set acc_ada',
      'scope.deleted both',
      'scope.deleted gone',
      'scope.set both',
      'scope.set later',
      'scope.set undeclared',
    ]);
    const scopes = await servicesOf(target.db).scopeCatalogue.list();
    assert.deepEqual(
      scopes.map(({ name, description }) => [name, description]),
      ['both', 'gone', 'held', 'kept', 'later', 'taken', 'undeclared'].map((name) => [
        name,
        name === 'undeclared' ? '' : 'kept',
      ]),
    );
    // The journal has the repetitions, too. Another replay finds nothing to repeat, also after an operator has decided anew.
    await journalIn(target.db, temp.folder).catchUp();
    assert.deepEqual(await replay(target.db, temp.folder), nothingReplayed);
    const { scopeCatalogue, entitlements } = servicesOf(target.db, later + 10);
    for (const name of ['both', 'gone', 'later', 'undeclared']) await scopeCatalogue.set(operator, name, open);
    await entitlements.set(operator, 'acc_ada', ['held', 'taken']);
    assert.deepEqual(await replay(target.db, temp.folder), nothingReplayed);
    assert.deepEqual(await withheldIn(target.db), { acc_ada: [], acc_eve: [] });
  }
});

onEachDatabase('a restore finds a removed entitlement whose time a slower clock has set', async ({ db }) => {
  using temp = newBackupFolder();
  const [fast, slow] = [servicesOf(db, now + 2_000), servicesOf(db)];
  await fast.scopeCatalogue.set(operator, 'taken', marked);
  const id = await addAccount(db);
  await fast.entitlements.set(operator, id, ['taken']);
  await backUp(db, temp.backup);
  // Sets the time of the account back.
  await slow.administration.setLimits(operator, id, { rate: { limit: 5, windowSeconds: 60 } });
  await slow.entitlements.set(operator, id, []);
  const journal = journalIn(db, temp.folder);
  await journal.catchUp();
  for (const openTarget of Object.values(databases)) {
    await using target = await openTarget();
    const { replayed } = await restore(target.db, temp.backup, { journal: journalIn(target.db, temp.folder) });
    assert.deepEqual(replayed, { ...nothingReplayed, entitlementsRemoved: 1 });
    const { entitlements } = servicesOf(target.db, later + 10);
    assert.deepEqual(await entitlements.list(id), []);
    await entitlements.set(operator, id, ['taken']);
    assert.deepEqual(await replay(target.db, temp.folder), nothingReplayed, 'an operator has decided anew');
  }
});
