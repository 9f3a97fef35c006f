/** Rows of limits of deleted keys and accounts are deleted, in bounded steps, and no others. */
import assert from 'node:assert/strict';
import type { Db } from '../../../foundation/database/db.ts';
import { sql } from '../../../foundation/database/sql.ts';
import { countDatabaseReads } from '../../../../test-kit/database-reads.ts';
import { addAccount, addKey } from '../../../../test-kit/rows.ts';
import { onEachDatabase } from '../../../../test-kit/store-on-each-database.ts';
import { OrphanedMeters } from '../orphaned-meters.ts';
import { deleteOrphanedMeters, lockMetersTx, metersPerStep, type MeterKey } from '../store.ts';

const selectSubjects = sql<{ subject: string }>(
  'test_select_meters',
  'select subject from key_meters order by subject',
);
const subjectsIn = async (db: Db) => (await db.all(selectSubjects)).map(({ subject }) => subject);
const insert = (db: Db, meters: readonly MeterKey[]) =>
  db.transaction((tx) => lockMetersTx(tx, db.dialect, meters, meters));
const quotasOf = (subjects: readonly string[]): MeterKey[] => subjects.map((subject) => ({ subject, kind: 'quota' }));

onEachDatabase('rows of existing keys and accounts stay', async ({ db }) => {
  const account = await addAccount(db, 'ada');
  const { id } = await addKey(db, account, 'a');
  const orphans = ['1', '99999999999999999999', 'acc_gone', 'x', '-1', ''];
  await insert(db, [...quotasOf([String(id), 'acc_ada', ...orphans]), { subject: String(id), kind: 'rate' }]);
  await new OrphanedMeters(db).delete();
  assert.deepEqual(await subjectsIn(db), [String(id), String(id), 'acc_ada']);
});

onEachDatabase('a call reads a bounded number of rows, and the next call continues', async ({ db }) => {
  const subjects = Array.from({ length: metersPerStep * 21 }, (_, index) => `gone_${index}`);
  await insert(db, quotasOf(subjects));
  const orphaned = new OrphanedMeters(db);
  using reads = countDatabaseReads();
  await orphaned.delete();
  assert.equal(reads.count(), 0);
  assert.equal((await subjectsIn(db)).length, metersPerStep);
  await orphaned.delete();
  assert.deepEqual(await subjectsIn(db), []);
});

onEachDatabase('a row whose key was restored after the search is not deleted', async ({ db }) => {
  const { id } = await addKey(db, await addAccount(db, 'ada'), 'a');
  const found = quotasOf([String(id), '1']);
  await insert(db, found);
  assert.equal(await deleteOrphanedMeters(db, found), 1);
  assert.deepEqual(await subjectsIn(db), [String(id)]);
});

onEachDatabase('the search uses the primary keys only', async ({ db }) => {
  const { id } = await addKey(db, await addAccount(db, 'ada'), 'a');
  await insert(db, quotasOf([String(id)]));
  if (db.dialect === 'postgres') return;
  const explain = sql<{ detail: string }>(
    'test_explain',
    `explain query plan select m.subject from key_meters m where (m.subject, m.kind) > ('', '')
       and not exists (select 1 from accounts a where a.id = m.subject)
       and not exists (select 1 from api_keys k where k.id = cast(m.subject as integer))
     order by m.subject, m.kind limit 500`,
  );
  const plan = (await db.all(explain)).map(({ detail }) => detail);
  assert.ok(
    plan.filter((line) => /SEARCH|SCAN/.test(line)).every((line) => line.startsWith('SEARCH')),
    plan.join('; '),
  );
});
