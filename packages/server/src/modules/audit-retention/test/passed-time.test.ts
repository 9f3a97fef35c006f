/** A clock that jumps forward removes nothing until an operator confirms it. */
import assert from 'node:assert/strict';
import { dayMs } from '../../../foundation/clock.ts';
import { findRetentionState } from '../store.ts';
import { FakeClock } from '../../../../test-kit/fake-clock.ts';
import { onEachDatabase } from '../../../../test-kit/store-on-each-database.ts';
import { now, operator } from '../../../../test-kit/rows.ts';
import { agesIn, newRetention, record, verify } from './retention-kit.ts';

onEachDatabase('after a jump forward nothing is removed, until an operator confirms the clock', async ({ db }) => {
  await record(db, [20, 10, 0]);
  const clock = new FakeClock(now);
  const { retention, runs } = newRetention(db, clock);
  await retention.apply();
  clock.advance({ days: 3 });
  assert.equal(await retention.isClockPlausible(), true);
  clock.advance({ days: 397 });
  assert.equal(await retention.isClockPlausible(), false);
  await retention.apply();
  assert.deepEqual(runs, [{ removed: 0, blocked: 'clock' }]);
  assert.deepEqual([await agesIn(db), (await findRetentionState(db))?.blocked], [[20, 10, 0], 'clock']);
  // A restart confirms nothing.
  clock.advance({ days: 1 });
  const restarted = newRetention(db, clock);
  await restarted.retention.apply();
  assert.equal(await restarted.retention.isClockPlausible(), false);
  assert.deepEqual([restarted.runs, await agesIn(db)], [[{ removed: 0, blocked: 'clock' }], [20, 10, 0]]);
  const request = { eventsBefore: clock.now() - 30 * dayMs, days: 30 };
  assert.deepEqual(await retention.cutNow(operator, request, true), { removed: 2, blocked: undefined });
  assert.deepEqual([await agesIn(db), (await findRetentionState(db))?.blocked], [[0], null]);
  assert.equal(await retention.isClockPlausible(), true);
  assert.deepEqual((await verify(db, { now: clock.now(), keptDays: 30 })).findings, []);
});

onEachDatabase('after a jump, time that passes still counts, so the audit log stays bounded', async ({ db }) => {
  await record(db, [29, 5, 0]);
  const clock = new FakeClock(now);
  const { retention, pass } = newRetention(db, clock);
  await retention.apply();
  clock.advance({ days: 400 });
  await retention.apply();
  assert.deepEqual(await agesIn(db), [29, 5, 0]);
  pass(2);
  await retention.apply();
  assert.deepEqual(await agesIn(db), [5, 0]);
  assert.equal((await findRetentionState(db))?.blocked, 'clock');
});

onEachDatabase('a jump that is undone needs no confirmation', async ({ db }) => {
  await record(db, [29, 5, 0]);
  const clock = new FakeClock(now);
  const { retention, pass, runs } = newRetention(db, clock);
  await retention.apply();
  for (const days of [400, -400]) {
    clock.advance({ days });
    await retention.apply();
  }
  assert.deepEqual(await agesIn(db), [29, 5, 0]);
  pass(2);
  await retention.apply();
  assert.deepEqual(await agesIn(db), [5, 0]);
  assert.deepEqual(runs.at(-1), { removed: 1, blocked: undefined });
});

onEachDatabase(
  'a clock that goes back removes nothing, and needs no confirmation when it is right again',
  async ({ db }) => {
    await record(db, [31, 29, 0]);
    const clock = new FakeClock(now - 20_000 * dayMs);
    const { retention, pass } = newRetention(db, clock);
    await retention.apply();
    assert.deepEqual(await agesIn(db), [31, 29, 0]);
    clock.advance({ days: 20_000 });
    pass(2);
    await retention.apply();
    assert.deepEqual([await agesIn(db), (await findRetentionState(db))?.blocked], [[0], null]);
  },
);

onEachDatabase('at the first run, the newest audit event is the evidence', async ({ db }) => {
  await record(db, [40, 10]);
  const { retention, runs } = newRetention(db, new FakeClock(now));
  await retention.apply();
  assert.deepEqual([runs, await agesIn(db)], [[{ removed: 0, blocked: 'clock' }], [40, 10]]);
});

onEachDatabase('a pause of three days needs no confirmation, and a longer one does', async ({ db }) => {
  await record(db, [29, 0]);
  const clock = new FakeClock(now);
  await newRetention(db, clock).retention.apply();
  clock.advance({ days: 3 });
  const after = newRetention(db, clock);
  await after.retention.apply();
  assert.deepEqual([after.runs, await agesIn(db)], [[{ removed: 1, blocked: undefined }], [0]]);
  clock.advance({ days: 3, seconds: 1 });
  const later = newRetention(db, clock);
  await later.retention.apply();
  assert.deepEqual(later.runs, [{ removed: 0, blocked: 'clock' }]);
});

onEachDatabase('jumps that are short each count together, until an operator confirms the clock', async ({ db }) => {
  await record(db, [20, 10, 0]);
  const clock = new FakeClock(now);
  const [one, another] = [newRetention(db, clock), newRetention(db, clock)];
  for (let jumps = 0; jumps < 10; jumps++) {
    for (const { retention } of [one, another]) await retention.apply();
    clock.advance({ days: 3 });
  }
  for (const { retention } of [one, another]) await retention.apply();
  assert.deepEqual([await agesIn(db), (await findRetentionState(db))?.blocked], [[20, 10, 0], 'clock']);
  const request = { eventsBefore: clock.now() - 30 * dayMs, days: 30 };
  // In a process of its own, as the command does.
  const command = newRetention(db, clock);
  assert.deepEqual(await command.retention.cutNow(operator, request, true), { removed: 2, blocked: undefined });
  clock.advance({ days: 2 });
  for (const { retention } of [one, another]) await retention.apply();
  assert.equal((await findRetentionState(db))?.blocked, null);
});

onEachDatabase(
  'processes that started at different times do not accept each other’s jumps without end',
  async ({ db }) => {
    await record(db, [20, 10, 0]);
    const clock = new FakeClock(now);
    const passedDays = async (): Promise<number> =>
      ((await findRetentionState(db))?.passedAt ?? 0) / dayMs - now / dayMs;
    const one = newRetention(db, clock);
    await one.retention.apply();
    clock.advance({ days: 3 });
    await one.retention.apply();
    const another = newRetention(db, clock);
    await another.retention.apply();
    for (let jumps = 0; jumps < 12; jumps++) {
      clock.advance({ days: 3 });
      for (const { retention } of [one, another]) await retention.apply();
    }
    // Three days for each start of a process.
    assert.equal(await passedDays(), 6);
    assert.deepEqual([await agesIn(db), (await findRetentionState(db))?.blocked], [[20, 10, 0], 'clock']);
    // The time that passes still counts.
    another.pass(1);
    for (const { retention } of [one, another]) await retention.apply();
    assert.equal(await passedDays(), 7);
    const command = newRetention(db, clock);
    const request = { eventsBefore: clock.now() - 55 * dayMs, days: 55 };
    assert.deepEqual(await command.retention.cutNow(operator, request, true), { removed: 1, blocked: undefined });
    for (let jumps = 0; jumps < 12; jumps++) {
      clock.advance({ days: 3 });
      for (const { retention } of [one, another]) await retention.apply();
    }
    assert.equal(await passedDays(), 40 + 3);
  },
);

onEachDatabase('a process that was suspended accepts the time that another process has measured', async ({ db }) => {
  await record(db, [29, 0]);
  const clock = new FakeClock(now);
  const [suspended, running] = [newRetention(db, clock), newRetention(db, clock)];
  for (const { retention } of [suspended, running]) await retention.apply();
  for (let days = 0; days < 10; days++) {
    running.pass(1);
    await running.retention.apply();
  }
  clock.advance({ days: 1 });
  await suspended.retention.apply();
  assert.deepEqual([suspended.runs, (await findRetentionState(db))?.passedAt], [[], clock.now()]);
});

onEachDatabase('a confirmation of an earlier time applies to all processes', async ({ db }) => {
  await record(db, [20, 0]);
  const clock = new FakeClock(now);
  const one = newRetention(db, clock);
  await one.retention.apply();
  clock.advance({ days: 3 });
  await one.retention.apply();
  clock.advance({ days: -3 });
  const request = { eventsBefore: now - 30 * dayMs, days: 30 };
  await newRetention(db, clock).retention.cutNow(operator, request, true);
  await one.retention.apply();
  assert.equal((await findRetentionState(db))?.passedAt, now);
});
