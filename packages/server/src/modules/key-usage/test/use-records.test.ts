/** What verifications show of keys is collected in memory, bounded, and written in large commits: each count once. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { limits } from '@keyreeve/contract';
import { hourMs } from '../../../foundation/clock.ts';
import type { Db, Transaction } from '../../../foundation/database/db.ts';
import { sql } from '../../../foundation/database/sql.ts';
import { unavailable } from '../../../foundation/database/unavailable.ts';
import { until } from '../../../../test-kit/until.ts';
import { onEachDatabase } from '../../../../test-kit/store-on-each-database.ts';
import { findUses } from '../../api-keys/use-store.ts';
import { newMs, UseCollector, type CollectedUse } from '../use-collector.ts';
import { UseRecords } from '../use-records.ts';

const hour = Date.UTC(2026, 10, 21, 9);
const key = (id: number, overlapEndsAt: number | null = null) => ({
  id,
  updatedAt: hour - 1,
  overlapEndsAt,
  expiresAt: null,
});
const unknown = (): undefined => undefined;
/** An id whose range of the collector has no other id of a test. */
const spread = (n: number): number => n * 2 ** 37 + 1;

const empty: CollectedUse = {
  keyId: 1,
  at: hour,
  accepted: 0,
  refused: 0,
  usedAt: null,
  usedFrom: null,
  changedAt: 0,
  isCurrent: false,
  previousUsedAt: null,
  previousEndsAt: null,
};

const selectUsage = sql<{ text: string }>(
  'test_select_usage_as_text',
  `select ((at - ${hour}) / ${hourMs}) || ' ' || key_id || ' ' || accepted || ' ' || refused as text from key_usage
   order by at, key_id`,
);
/** Each as `hour key accepted refused`. */
const storedIn = async (db: Db): Promise<string[]> => (await db.usage.all(selectUsage)).map(({ text }) => text);

/** @param onTransaction called in each transaction, before its statements, with its number from 1 */
const recordsOn = (db: Db, onTransaction: (count: number) => Promise<void> = () => Promise.resolve()) => {
  let count = 0;
  const transaction: Db['transaction'] = (body) =>
    db.usage.transaction(async (tx: Transaction) => {
      await onTransaction(++count);
      return body(tx);
    });
  const usage = { ...readsOf(db), transaction };
  return new UseRecords({ usage }, new UseCollector(), true);
};
const readsOf = ({ usage }: Db): Omit<Db['usage'], 'transaction'> => ({
  all: (...args) => usage.all(...args),
  get: (...args) => usage.get(...args),
  snapshot: (...args) => usage.snapshot(...args),
});

onEachDatabase('verifications are counted by key and hour, and only a flush writes them, once', async ({ db }) => {
  const records = recordsOn(db);
  const { collector } = records;
  const [one, two] = [spread(1), spread(2)];
  collector.accept(key(two), hour, unknown);
  collector.accept(key(one), hour, unknown);
  collector.accept(key(one), hour + hourMs - 1, unknown);
  collector.refuse(one, hour + 5);
  collector.refuse(two, hour);
  collector.accept(key(one), hour + hourMs, unknown);
  // The clock is set back.
  collector.accept(key(one), hour - 1, unknown);
  assert.deepEqual(await storedIn(db), [], 'a verification writes nothing');
  assert.equal(records.rows, 4);
  const expected = [`-1 ${one} 1 0`, `0 ${one} 2 1`, `0 ${two} 1 1`, `1 ${one} 1 0`];
  for (let flush = 0; flush < 2; flush++) {
    await records.flush();
    assert.deepEqual(await storedIn(db), expected);
  }
  assert.equal(records.rows, 0);
  assert.deepEqual(records.totals, { written: 7, dropped: 0, unknown: 0 });
});

onEachDatabase(
  'the first use of a key in an interval is its last use, with the range of the client IP',
  async ({ db }) => {
    const records = recordsOn(db);
    const ips = ['203.0.113.77', '::ffff:203.0.113.77', '2001:db8:1:2:3:4:5:6', undefined];
    for (const [id, ip] of ips.entries()) {
      records.collector.accept(key(id + 1), hour + id, () => ip);
      records.collector.accept(key(id + 1), hour + 10, () => assert.fail('only the first use needs the client IP'));
    }
    records.collector.refuse(9, hour);
    records.collector.accept(key(5, hour + 100), hour + 1, () => '192.0.2.1');
    records.collector.accept(key(5), hour + 2, unknown);
    await records.flush();
    const uses = await findUses(db, [1, 2, 3, 4, 5, 9]);
    const none = { previousUsedAt: null, previousEndsAt: null, changedAt: hour - 1 };
    const ranges = ['203.0.113.0/24', '203.0.113.0/24', '2001:db8:1::/48', null];
    for (const [id, lastUsedFrom] of ranges.entries()) {
      const expected = { keyId: id + 1, lastUsedAt: hour + id, lastUsedFrom, usedFrom: lastUsedFrom, ...none };
      assert.deepEqual({ ...uses.get(id + 1) }, expected);
    }
    const ofPrevious = { previousUsedAt: hour + 1, previousEndsAt: hour + 100, usedFrom: null };
    const previous = { keyId: 5, lastUsedAt: hour + 1, lastUsedFrom: '192.0.2.0/24', ...none, ...ofPrevious };
    assert.deepEqual({ ...uses.get(5) }, previous);
    assert.equal(uses.get(9), undefined, 'a rejection is not a use');
  },
);

onEachDatabase('more keys than a commit has rows are written in few commits, each key once', async ({ db }) => {
  let commits = 0;
  const records = recordsOn(db, async () => void commits++);
  const count = 20_700;
  for (let n = count; n > 0; n--) records.collector.accept(key(spread(n)), hour, unknown);
  await records.flush();
  assert.equal(commits, 2);
  const stored = await storedIn(db);
  assert.deepEqual([stored.length, stored.at(-1)], [count, `0 ${spread(count)} 1 0`]);
  assert.equal(records.totals.written, count);
});

onEachDatabase(
  'what a failed commit has not written is written by the next flush, and nothing twice',
  async ({ db }) => {
    let fails = true;
    const records = recordsOn(db, async (count) => {
      if (count === 2 && fails) throw unavailable(new Error('the disk is full'));
    });
    const count = 20_100;
    for (let n = 1; n <= count; n++) records.collector.accept(key(n), hour, unknown);
    await assert.rejects(records.flush(), { code: 'unavailable' });
    assert.equal(records.rows, 100);
    records.collector.accept(key(count), hour + 1, unknown);
    fails = false;
    await records.flush();
    const stored = await storedIn(db);
    assert.deepEqual([stored.length, stored.at(-1), stored[0]], [count, `0 ${count} 2 0`, '0 1 1 0']);
    assert.deepEqual(records.totals, { written: count + 1, dropped: 0, unknown: 0 });
    assert.equal((await findUses(db, [count])).get(count)?.lastUsedAt, hour);
  },
);

onEachDatabase('counts of a commit with an unknown outcome are not written again, but times are', async ({ db }) => {
  let isUnknown = true;
  const records = recordsOn(db, async () => {
    if (isUnknown) throw unavailable(new Error('the connection broke'), true);
  });
  for (const id of [1, 2]) records.collector.accept(key(id), hour, unknown);
  records.collector.refuse(3, hour);
  await assert.rejects(records.flush(), { code: 'unavailable' });
  assert.equal(records.rows, 2, 'a rejection has no time');
  isUnknown = false;
  records.collector.accept(key(1), hour + 1, unknown);
  await records.flush();
  assert.deepEqual(await storedIn(db), ['0 1 1 0']);
  assert.deepEqual(
    [...(await findUses(db, [1, 2])).values()].map(({ lastUsedAt }) => lastUsedAt),
    [hour, hour],
  );
  assert.deepEqual(records.totals, { written: 1, dropped: 0, unknown: 3 });
});

onEachDatabase('a flush during another one returns after everything before it is written', async ({ db }) => {
  const gate = Promise.withResolvers<undefined>();
  const records = recordsOn(db, (count) => (count === 1 ? gate.promise : Promise.resolve()));
  records.collector.accept(key(1), hour, unknown);
  const first = records.flush();
  records.collector.accept(key(1), hour + 1, unknown);
  const second = records.flush();
  gate.resolve(undefined);
  await first;
  await second;
  assert.deepEqual(await storedIn(db), ['0 1 2 0']);
});

onEachDatabase('what other processes have collected is added up', async ({ db }) => {
  const records = recordsOn(db);
  const other = new UseCollector();
  for (const [collector, at] of [
    [other, hour + 5],
    [records.collector, hour + 7],
  ] as const) {
    collector.accept(key(1), at, () => '203.0.113.7');
    collector.refuse(1, at);
  }
  other.accept(key(2, hour + 9), hour + 8, unknown);
  // As messages between processes.
  for (const part of other.take().flatMap((parts) => [...parts])) records.add(structuredClone(part));
  await records.flush();
  assert.deepEqual(await storedIn(db), ['0 1 2 2', '0 2 1 0']);
  const uses = await findUses(db, [1, 2]);
  assert.equal(uses.get(1)?.lastUsedAt, hour + 5);
  assert.deepEqual([uses.get(2)?.previousUsedAt, uses.get(2)?.previousEndsAt], [hour + 8, hour + 9]);
});

onEachDatabase('if usage is not kept, only times of last use are written', async ({ db }) => {
  const records = new UseRecords(db, new UseCollector(), false);
  records.collector.accept(key(1), hour, unknown);
  await records.flush();
  assert.deepEqual(await storedIn(db), []);
  assert.equal((await findUses(db, [1])).get(1)?.lastUsedAt, hour);
  assert.deepEqual(records.totals, { written: 0, dropped: 0, unknown: 0 });
});

test('waiting keys are bounded: others count as verifications of no key, and known keys still count', () => {
  const collector = new UseCollector();
  let calls = 0;
  collector.onDue = () => void calls++;
  const max = limits.usageRowsPendingMax;
  for (let id = 1; id <= max; id++) collector.accept(key(spread(id % 50_000) + id), hour, unknown);
  assert.deepEqual([collector.rows, collector.dropped, calls], [max, 0, 1]);
  collector.accept(key(1), hour, () => assert.fail('no client IP of another key is stored'));
  collector.accept(key(2, hour + 1), hour, unknown);
  collector.refuse(3, hour);
  collector.accept(key(spread(1) + 1), hour, unknown);
  collector.add([{ ...empty, keyId: 4, accepted: 5, refused: 1 }]);
  assert.equal(collector.dropped, 9);
  assert.equal(collector.rows, max + 1);
  const taken = collector.take().flatMap((parts) => [...parts]);
  assert.ok(taken.every((part) => part.length <= 500));
  const [uncounted, ...others] = taken.flat();
  assert.deepEqual([uncounted?.keyId, uncounted?.accepted, uncounted?.refused], [0, 7, 2]);
  assert.equal(uncounted?.usedAt, hour, 'an unused key may have been used then');
  assert.deepEqual([uncounted?.usedFrom, uncounted?.previousUsedAt], [null, null]);
  assert.equal(others.length, max);
  assert.ok(
    others.every(({ keyId }, index) => index === 0 || keyId > (others[index - 1]?.keyId ?? 0)),
    'in order',
  );
  // Rows that are being written keep their places.
  collector.accept(key(7), hour, unknown);
  assert.equal(collector.dropped, 10);
  collector.release(max);
  collector.accept(key(7), hour, unknown);
  assert.equal(collector.dropped, 10);
});

onEachDatabase('many waiting keys are written before the interval has passed', async ({ db }) => {
  const records = recordsOn(db);
  for (let n = 1; n <= limits.usageRowsFlushedMax; n++) records.collector.accept(key(n), hour, unknown);
  await until('the rows are written', () => records.totals.written === limits.usageRowsFlushedMax);
});

onEachDatabase(
  'the first use of a new secret that expires is written before the interval has passed',
  async ({ db }) => {
    const records = recordsOn(db);
    const changedAt = hour - newMs;
    const at = (id: number, updatedAt: number) => ({ ...key(id), updatedAt, expiresAt: hour + hourMs });
    records.collector.accept(at(1, changedAt - 1), hour, unknown);
    records.collector.accept(key(2), hour, unknown);
    await turn();
    assert.deepEqual(await storedIn(db), []);
    records.collector.accept(at(3, changedAt), hour, unknown);
    await until('the uses are written', () => records.totals.written === 3);
    // Further ones of the same secret wait, and so does what a flush puts back.
    let calls = 0;
    const { onDue } = records.collector;
    records.collector.onDue = () => (calls++, onDue());
    records.collector.accept(at(3, changedAt), hour, unknown);
    records.collector.putBack([{ ...empty, keyId: 4, usedAt: hour, changedAt: hour }]);
    assert.equal(calls, 0);
    // Of another process, and of a key whose secret was replaced.
    records.add([{ ...empty, keyId: 5, accepted: 1, usedAt: hour, changedAt }]);
    assert.equal(calls, 1);
    await until('all are written', () => records.totals.written === 5);
    records.collector.accept(at(3, hour), hour, unknown);
    assert.equal(calls, 2);
    await records.flush();
  },
);

test('a flush of many waiting keys that fails is not repeated before the next one', async () => {
  let attempts = 0;
  const fail = () => (attempts++, Promise.reject(unavailable(new Error('the file is closed'))));
  const usage = { all: fail, get: fail, snapshot: fail, transaction: fail };
  const records = new UseRecords({ usage }, new UseCollector(), true);
  const { onDue } = records.collector;
  records.collector.onDue = () => undefined;
  for (let n = 1; n <= limits.usageRowsFlushedMax + 10_000; n++) records.collector.accept(key(n), hour, unknown);
  records.collector.onDue = () => {
    assert.ok(attempts < 10, 'the repetition ends');
    onDue();
  };
  for (let expected = 1; expected <= 3; expected++) {
    await assert.rejects(records.flush(), { code: 'unavailable' });
    // A repetition would run before this turn ends.
    await turn();
    assert.equal(attempts, expected);
  }
  assert.equal(records.rows, limits.usageRowsFlushedMax + 10_000);
});

test('of two uses in one interval, the one after the later change of the key stays, then the first one', () => {
  const [early, late] = [
    { ...empty, usedAt: hour + 1, changedAt: 5, previousUsedAt: hour + 1, previousEndsAt: hour + 9 },
    { ...empty, usedAt: hour + 2, changedAt: 6, previousUsedAt: hour + 2, previousEndsAt: hour + 3 },
  ];
  for (const uses of [
    [early, late],
    [late, early],
    [late, early, { ...late, usedAt: hour + 3, previousUsedAt: hour }],
  ]) {
    const collector = new UseCollector();
    collector.add(uses);
    assert.deepEqual(
      collector.take().flatMap((parts) => [...parts].flat()),
      [late],
    );
  }
});
