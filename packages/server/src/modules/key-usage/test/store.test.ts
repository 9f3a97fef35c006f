/** The table of usage on each database: each count exactly once, as hours and then as days. */
import assert from 'node:assert/strict';
import { dayMs, hourMs } from '../../../foundation/clock.ts';
import type { Db } from '../../../foundation/database/db.ts';
import { sql } from '../../../foundation/database/sql.ts';
import { FakeClock } from '../../../../test-kit/fake-clock.ts';
import { addAccount, addKey } from '../../../../test-kit/rows.ts';
import { onEachDatabase, race, rivalsMin } from '../../../../test-kit/store-on-each-database.ts';
import { UsageRetention } from '../retention.ts';
import { addUsage } from '../../../../test-kit/uses.ts';
import { listUsage, totalSince, type HourOfKey } from '../store.ts';

const day = Date.UTC(2026, 10, 21);
const hour = day + 9 * hourMs;
const now = hour + 30 * 60_000;

const of = (keyId: number, at: number, accepted: number, refused = 0): HourOfKey => ({ keyId, at, accepted, refused });
const selectAll = sql<HourOfKey & { step: string }>(
  'test_select_usage',
  `select step, at, key_id as "keyId", accepted, refused from key_usage order by step, at, key_id`,
);
/** Each row as `step at key accepted refused`; times in hours since {@link day}. */
const rowsOf = async (db: Db): Promise<string[]> =>
  (await db.usage.all(selectAll)).map((row) =>
    [row.step, (row.at - day) / hourMs, row.keyId, row.accepted, row.refused].join(' '),
  );
const bothDays = { step: 'day', from: 0, to: day + dayMs } as const;
const days = async (db: Db, keyId: number): Promise<number[][]> =>
  (await listUsage(db.usage, keyId, bothDays)).map((row) => [(row.at - day) / dayMs, row.accepted, row.refused]);

const retention = (db: Db, { keptDays = 400, rowsPerCommitMax = 1_000, at = now } = {}): UsageRetention =>
  new UsageRetention({ db, clock: new FakeClock(at), keptDays, rowsPerCommitMax });

/** @returns the ids of two keys */
async function twoKeys(db: Db): Promise<readonly [number, number]> {
  const account = await addAccount(db);
  const first = await addKey(db, account, 'a');
  const second = await addKey(db, account, 'b');
  return [first.id, second.id];
}

onEachDatabase('counts of the same key and hour add up', async ({ db }) => {
  await addUsage(db, [of(7, hour, 3, 1), of(7, hour - hourMs, 10), of(8, hour, 100)]);
  await addUsage(db, [of(7, hour, 4)]);
  assert.deepEqual({ ...(await totalSince(db.usage, 7, hour)) }, { accepted: 7, refused: 1 });
  assert.deepEqual({ ...(await totalSince(db.usage, 7, hour - hourMs)) }, { accepted: 17, refused: 1 });
  assert.deepEqual({ ...(await totalSince(db.usage, 9, 0)) }, { accepted: 0, refused: 0 });
});

onEachDatabase('concurrent flushes of the same keys add up', async (opened) => {
  const hours = Array.from({ length: 100 }, (_, key) => of(key + 1, hour, 1, 2));
  await race(opened, rivalsMin, (db, rival) => addUsage(db, rival % 3 === 0 ? hours.toReversed() : hours));
  const rows = await rowsOf(opened.db);
  assert.equal(rows.length, 100);
  for (const [index, row] of rows.entries()) assert.equal(row, `hour 9 ${index + 1} ${rivalsMin} ${2 * rivalsMin}`);
});

onEachDatabase('hours are added to their day after 8 complete days, and late hours as well', async ({ db }) => {
  const [a, b] = await twoKeys(db);
  const folded = day - 9 * dayMs;
  await addUsage(db, [of(a, folded, 1), of(a, folded + 23 * hourMs, 2, 5), of(b, folded, 7)]);
  await addUsage(db, [of(a, day - 8 * dayMs, 10), of(a, hour, 20)]);
  const expected = [
    [-9, 3, 5],
    [-8, 10, 0],
    [0, 20, 0],
  ];
  assert.deepEqual(await days(db, a), expected);
  // One row per commit.
  await retention(db, { rowsPerCommitMax: 1 }).apply();
  assert.deepEqual(await rowsOf(db), [
    `day -216 ${a} 3 5`,
    `day -216 ${b} 7 0`,
    `hour -192 ${a} 10 0`,
    `hour 9 ${a} 20 0`,
  ]);
  assert.deepEqual(await days(db, a), expected);
  await addUsage(db, [of(a, folded, 100)]);
  assert.deepEqual((await days(db, a))[0], [-9, 103, 5]);
  await retention(db).apply();
  await retention(db).apply();
  assert.deepEqual((await rowsOf(db)).slice(0, 2), [`day -216 ${a} 103 5`, `day -216 ${b} 7 0`]);
});

onEachDatabase('hours that two instances fold at once, while flushes add to them, are counted once', async (opened) => {
  const { db } = opened;
  const [a, b] = await twoKeys(db);
  const folded = day - 9 * dayMs;
  const hours = Array.from({ length: 48 }, (_, index) =>
    of(index % 2 === 0 ? a : b, folded + (index >> 1) * hourMs, 1),
  );
  await addUsage(db, hours);
  const settled = await race(opened, rivalsMin, (connection, rival) =>
    rival % 4 < 2 ? retention(connection, { rowsPerCommitMax: 5 }).apply() : addUsage(connection, hours),
  );
  assert.deepEqual(
    settled.filter(({ status }) => status === 'rejected'),
    [],
  );
  await retention(db).apply();
  const sum = 24 * (1 + rivalsMin / 2);
  assert.deepEqual(await rowsOf(db), [`day -216 ${a} ${sum} 0`, `day -216 ${b} ${sum} 0`].toSorted());
});

onEachDatabase('days are deleted after the kept days, and everything when usage is not kept', async ({ db }) => {
  const [a] = await twoKeys(db);
  for (const age of [0, 1, 9, 30, 31]) await addUsage(db, [of(a, day - age * dayMs, age + 1)]);
  await retention(db, { keptDays: 30 }).apply();
  assert.deepEqual(await days(db, a), [
    [-30, 31, 0],
    [-9, 10, 0],
    [-1, 2, 0],
    [0, 1, 0],
  ]);
  await retention(db, { keptDays: 1, rowsPerCommitMax: 1 }).apply();
  assert.deepEqual(await rowsOf(db), [`hour -24 ${a} 2 0`, `hour 0 ${a} 1 0`]);
  await retention(db, { keptDays: 0 }).apply();
  assert.deepEqual(await rowsOf(db), []);
});

onEachDatabase('the usage of deleted keys is deleted, and that of others stays', async ({ db }) => {
  const [a, b] = await twoKeys(db);
  const deleted = Array.from({ length: 700 }, (_, index) => of(1_000 + index, hour, 1));
  await addUsage(db, [of(a, hour, 1), of(b, hour, 1), ...deleted]);
  await addUsage(db, [of(5, hour - dayMs, 1)]);
  await retention(db, { rowsPerCommitMax: 2 }).apply();
  assert.deepEqual(await rowsOf(db), [`hour 9 ${a} 1 0`, `hour 9 ${b} 1 0`].toSorted());
});
