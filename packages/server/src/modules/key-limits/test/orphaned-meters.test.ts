/** Rows of limits of deleted keys and accounts are deleted, in bounded steps, and no others. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Db } from '../../../foundation/database/db.ts';
import { sql } from '../../../foundation/database/sql.ts';
import { databases } from '../../../../test-kit/new-db.ts';
import { addAccount, addKey } from '../../../../test-kit/rows.ts';
import { onEachDatabase } from '../../../../test-kit/store-on-each-database.ts';
import { OrphanedMeters } from '../orphaned-meters.ts';
import { deleteOrphanedMeters, lockMetersTx, metersPerStep, selectMeters, type MeterKey } from '../store.ts';

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
  await orphaned.delete();
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

test('the search on SQLite uses primary keys only', async () => {
  const open = databases['sqlite'];
  assert.ok(open);
  await using opened = await open();
  const explain = sql<{ detail: string }>('test_explain', `explain query plan ${selectMeters.text.sqlite}`);
  const plan = (await opened.db.all(explain, ['', ''])).map(({ detail }) => detail);
  const searches = plan.filter((line) => /SEARCH|SCAN/.test(line));
  assert.equal(searches.length, 3, plan.join('; '));
  assert.ok(
    searches.every((line) => line.startsWith('SEARCH')),
    plan.join('; '),
  );
});
