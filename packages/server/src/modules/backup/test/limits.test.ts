/** Limits and their use after a restore, a move and a replay: nothing that the backup contains is granted again. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import type { KeyLimits } from '@keyreeve/contract';
import { dayMs } from '../../../foundation/clock.ts';
import type { Db } from '../../../foundation/database/db.ts';
import { claimInstallation } from '../../../../test-kit/installation.ts';
import { sql } from '../../../foundation/database/sql.ts';
import { changeLimits } from '../../administration/store.ts';
import { findKeyStates } from '../../api-keys/state-store.ts';
import type { NewKey } from '../../api-keys/new-key.ts';
import { DeletionJournal } from '../../deletion-journal/deletion-journal.ts';
import { toLimitsText } from '../../key-limits/definition.ts';
import { KeyLimiter } from '../../key-limits/key-limits.ts';
import { StoredDraws } from '../../key-limits/stored-draws.ts';
import { FakeClock } from '../../../../test-kit/fake-clock.ts';
import { databaseKinds, databases } from '../../../../test-kit/new-db.ts';
import { onEachDatabase } from '../../../../test-kit/store-on-each-database.ts';
import { newTempFolder } from '../../../../test-kit/temp-folder.ts';
import { addAccount, addKey, keys, now, operator } from '../../../../test-kit/rows.ts';
import { moveInstallation } from '../move.ts';
import { nothingReplayed } from '../replay.ts';
import { backUp, journalIn, later, newBackupFolder, replay, restore } from './backup-kit.ts';
import { changesIn, ownerIn, since } from './narrowed-keys.ts';
import { contentsOf } from './whole-installation.ts';

const daily: KeyLimits = { quota: { limit: 100, per: 'day' } };
const rateAndQuota: KeyLimits = { rate: { limit: 20, windowSeconds: 86_400 }, quota: { limit: 1_000, per: 'ever' } };
const ofAccount: KeyLimits = { quota: { limit: 50, per: 'month' } };
/** What is used of each before the backup. */
const used = 10;

const insertMeters = sql(
  'test_insert_meters',
  `with recursive n (n) as (select 0 union all select n + 1 from n where n < 799)
   insert into key_meters (subject, kind, tat, used, period)
   select cast(n / 2 as text), case when n % 2 = 0 then 'rate' else 'quota' end, n, 1000000000000, '2026-11' from n`,
);

type Made = Readonly<Record<'ofDay' | 'both' | 'ofBob' | 'unlimited', NewKey>>;

/** Adds keys with limits, and uses ten tokens of each limit. */
async function fillWithLimits(db: Db): Promise<Made> {
  const [ada, bob] = [await addAccount(db, 'ada'), await addAccount(db, 'bob')];
  await changeLimits({ db }, { principal: operator, now }, bob, () => toLimitsText(ofAccount));
  const made = {
    ofDay: await addKey(db, ada, 'ofDay', { limits: toLimitsText(daily) }),
    both: await addKey(db, ada, 'both', { limits: toLimitsText(rateAndQuota) }),
    ofBob: await addKey(db, bob, 'ofBob'),
    unlimited: await addKey(db, ada, 'unlimited'),
  };
  for (const { hash } of Object.values(made)) assert.equal(await spend(db, hash, used), true);
  return made;
}

const statesOf = (db: Db, made: Made) =>
  findKeyStates(
    db,
    Object.values(made).map(({ hash }) => hash),
  );

function instanceIn(db: Db, at = now): KeyLimiter {
  const clock = new FakeClock(at);
  return new KeyLimiter({ draws: new StoredDraws({ db, clock }), clock });
}

/** One verification. @returns whether it is accepted */
async function spend(db: Db, hash: Buffer, cost: number, instance = instanceIn(db)): Promise<boolean> {
  const [state] = await findKeyStates(db, [hash]);
  assert.ok(state);
  if (state.limits === null && state.accountLimits === null) return true;
  return new Promise((resolve, reject) =>
    instance.spend({ key: state, cost }, ({ exceeded }) => resolve(exceeded === undefined), reject),
  );
}

/** Asserts that exactly this many tokens are left, and spends them. */
async function assertLeft(db: Db, { hash }: NewKey, left: number, at = now): Promise<void> {
  assert.equal(await spend(db, hash, left + 1, instanceIn(db, at)), false);
  assert.equal(await spend(db, hash, left, instanceIn(db, at)), true);
  assert.equal(await spend(db, hash, 1, instanceIn(db, at)), false);
}

const limitsOf = async (db: Db, made: Made) =>
  (await statesOf(db, made)).map((state) => [state?.limits, state?.accountLimits]);

for (const from of databaseKinds) {
  for (const to of databaseKinds) {
    test(`restored limits continue with the use of the backup (${from} to ${to})`, async () => {
      using temp = newTempFolder();
      await using source = await databases[from]!();
      await using target = await databases[to]!();
      const made = await fillWithLimits(source.db);
      await source.db.transaction((tx) => tx.run(insertMeters));
      const path = join(temp.path, 'backup');
      // The meters need several pages. An unlimited key has none.
      assert.equal((await backUp(source.db, path))['key_meters'], 804);
      await restore(target.db, path, { acceptsRevival: true });
      const [expected, found] = await Promise.all([contentsOf(source.db), contentsOf(target.db)]);
      for (const name of ['key_meters', 'api_keys']) assert.deepEqual(found[name], expected[name]);
      assert.deepEqual(await limitsOf(target.db, made), await limitsOf(source.db, made));
      await assertLeft(target.db, made.both, 20 - used);
      await assertLeft(target.db, made.ofBob, 50 - used);
      await assertLeft(target.db, made.ofDay, 100 - used);
      // A day later, the rate and the quota of the day are full again, and that of the month is not.
      await assertLeft(target.db, made.ofDay, 100, now + dayMs);
      await assertLeft(target.db, made.both, 20, now + dayMs);
      assert.equal(await spend(target.db, made.ofBob.hash, 1, instanceIn(target.db, now + dayMs)), false);
    });
  }
}

test('a move keeps limits and their use exactly', async () => {
  await using source = await databases['sqlite']!();
  await using target = await databases['postgres']!();
  await claimInstallation(source.db, keys.check, now);
  const made = await fillWithLimits(source.db);
  const expected = await contentsOf(source.db);
  await moveInstallation(operator, source.db, target.db, { keys, clock: new FakeClock(later) });
  const found = await contentsOf(target.db);
  for (const name of ['key_meters', 'api_keys', 'accounts']) assert.deepEqual(found[name], expected[name]);
  await assertLeft(target.db, made.ofDay, 100 - used);
});

onEachDatabase(
  'a restore grants again what was drawn since the backup, restores the limits, and disables no key for them',
  async ({ db }) => {
    using temp = newBackupFolder();
    const made = await fillWithLimits(db);
    const before = await limitsOf(db, made);
    await backUp(db, temp.backup);
    const owner = await ownerIn(db);
    const changes = changesIn(db, since, journalIn(db, temp.folder));
    await assertLeft(db, made.ofDay, 100 - used);
    await changes.change(owner, 'acc_ada', made.ofDay.id, { limits: { quota: { limit: 20, per: 'day' } } });
    await changes.change(owner, 'acc_ada', made.both.id, { limits: null });
    await changes.change(owner, 'acc_ada', made.unlimited.id, { limits: daily });
    await changeLimits({ db }, { principal: operator, now: since }, 'acc_bob', () => null);
    await changeLimits({ db }, { principal: operator, now: since }, 'acc_ada', () => toLimitsText(ofAccount));
    assert.notDeepEqual(await limitsOf(db, made), before);
    // A change of limits is not an entry of the deletion journal.
    await journalIn(db, temp.folder).catchUp();
    const { replayed } = await restore(db, temp.backup, { journalFolders: [temp.folder], mayReplace: true });
    assert.deepEqual(replayed, nothingReplayed);
    assert.deepEqual(await limitsOf(db, made), before);
    for (const state of await statesOf(db, made)) assert.equal(state?.disabledAt, null);
    await assertLeft(db, made.ofDay, 100 - used);
  },
);

onEachDatabase('a replay of the deletion journal changes neither limits nor their use', async ({ db }) => {
  using temp = newTempFolder();
  const folder = join(temp.path, 'journal');
  const made = await fillWithLimits(db);
  const journal = new DeletionJournal({ folder, db, clock: new FakeClock(later), keys });
  const owner = await ownerIn(db);
  await changesIn(db, since, journal).change(owner, 'acc_ada', made.ofDay.id, {
    limits: { rate: null },
    disabled: true,
  });
  await changesIn(db, since + 1, journal).change(owner, 'acc_ada', made.ofDay.id, { disabled: false });
  const meters = (await contentsOf(db))['key_meters'];
  const before = await limitsOf(db, made);
  await replay(db, folder);
  assert.deepEqual((await contentsOf(db))['key_meters'], meters);
  assert.deepEqual(await limitsOf(db, made), before);
});

onEachDatabase('an instance that runs during a restore continues with the use of the backup', async ({ db }) => {
  using temp = newTempFolder();
  const backup = join(temp.path, 'backup');
  const { ofDay, unlimited } = await fillWithLimits(db);
  await backUp(db, backup);
  const instance = instanceIn(db);
  assert.equal(await spend(db, ofDay.hash, 80, instance), true);
  assert.equal(await spend(db, ofDay.hash, 80, instance), false);
  // The backup has no meter of this key, and the instance has used it.
  const owner = await ownerIn(db);
  await changesIn(db).change(owner, 'acc_ada', unlimited.id, { limits: daily });
  assert.equal(await spend(db, unlimited.hash, 80, instance), true);
  await restore(db, backup, { mayReplace: true, acceptsRevival: true });
  await changesIn(db).change(await ownerIn(db, 'again'), 'acc_ada', unlimited.id, { limits: daily });
  assert.equal(await spend(db, unlimited.hash, 100, instance), true);
  assert.equal(await spend(db, ofDay.hash, 100 - used, instanceIn(db)), true);
  assert.equal(await spend(db, ofDay.hash, 1, instanceIn(db)), false);
});
