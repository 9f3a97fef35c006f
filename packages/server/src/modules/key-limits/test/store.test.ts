/** Rows of limits: two draws never decide by the same state, on both databases. */
import assert from 'node:assert/strict';
import type { Db } from '../../../foundation/database/db.ts';
import { onEachDatabase, raceToValues } from '../../../../test-kit/store-on-each-database.ts';
import { lockMetersTx, saveMetersTx, type MeterKey } from '../store.ts';

const quota = (subject: string): MeterKey => ({ subject, kind: 'quota' });

/** Adds to what is used of each quota, by what it read. @returns what it read */
const addTo = (db: Db, subjects: readonly string[], tokens: number, isNew = true): Promise<number[]> =>
  db.transaction(async (tx) => {
    const meters = subjects.map(quota);
    const { rows } = await lockMetersTx(tx, db.dialect, meters, isNew ? meters : []);
    saveMetersTx(
      tx,
      rows.map((row) => ({ ...row, used: row.used + tokens, period: 'ever' })),
    );
    return rows.map(({ used }) => used);
  });
const usedOf = (db: Db, subjects: readonly string[]): Promise<(number | undefined)[]> =>
  db.transaction(async (tx) => {
    const { rows } = await lockMetersTx(tx, db.dialect, subjects.map(quota), []);
    return subjects.map((subject) => rows.find((row) => row.subject === subject)?.used);
  });

onEachDatabase('thirty-two concurrent draws from one limit read thirty-two different states', async (opened) => {
  const read = await raceToValues(opened, 32, (db) => addTo(db, ['7'], 3));
  assert.deepEqual(
    read.flat().toSorted((one, other) => one - other),
    Array.from({ length: 32 }, (_, index) => index * 3),
  );
  assert.deepEqual(await usedOf(opened.db, ['7']), [96]);
});

onEachDatabase(
  'concurrent first draws of many limits in any order neither fail nor overwrite each other',
  async (opened) => {
    const subjects = ['1', '2', '3', '4', '5', '6', '7', 'acc_8'];
    await raceToValues(opened, 16, (db, rival) => addTo(db, rival % 2 === 0 ? subjects : subjects.toReversed(), 1));
    assert.deepEqual(await usedOf(opened.db, subjects), Array(8).fill(16));
  },
);

onEachDatabase('a draw creates the row of a limit that was deleted', async ({ db }) => {
  await addTo(db, ['1'], 5);
  assert.deepEqual(await addTo(db, ['1', '2'], 5, false), [5, 0]);
  assert.deepEqual(await usedOf(db, ['1', '2']), [10, 5]);
});

onEachDatabase('only PostgreSQL has a clock that all instances share', async ({ db }) => {
  const { now } = await db.transaction((tx) => lockMetersTx(tx, db.dialect, [quota('7')], [quota('7')]));
  assert.equal(typeof now, db.dialect === 'postgres' ? 'number' : 'undefined');
  if (now !== undefined) assert.ok(Math.abs(now / 1_000 - Date.now()) < 3_600_000);
});

onEachDatabase('rows keep the largest times and quotas exactly', async ({ db }) => {
  const largest = { subject: '7', kind: 'quota', tat: 8_640_000_000_000_000, used: 10 ** 12, period: 'ever' } as const;
  await db.transaction(async (tx) => {
    await lockMetersTx(tx, db.dialect, [quota('7')], [quota('7')]);
    saveMetersTx(tx, [largest]);
  });
  const { rows } = await db.transaction((tx) => lockMetersTx(tx, db.dialect, [quota('7')], []));
  assert.deepEqual(
    rows.map((row) => ({ ...row })),
    [largest],
  );
});
