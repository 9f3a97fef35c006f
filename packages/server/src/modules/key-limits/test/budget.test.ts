/** What a draw may take from a limit, without a database. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KeyLimits } from '@keyreeve/contract';
import { Budget, roomAt } from '../budget.ts';
import { metersOf, toLimitsText, type Meter } from '../definition.ts';
import type { MeterRow } from '../store.ts';

const second = 1_000_000;
const start = Date.UTC(2026, 10, 21, 9, 30) * 1_000;

function meterOf(value: KeyLimits): Meter {
  const [meter] = metersOf('key', '7', toLimitsText(value) ?? '');
  assert.ok(meter);
  return meter;
}
const rate = (limit: number, windowSeconds = 1, burst = limit): Meter =>
  meterOf({ rate: { limit, windowSeconds, burst } });
const quota = (limit: number, per: 'day' | 'month' | 'ever' = 'day'): Meter => meterOf({ quota: { limit, per } });

/** The row of a limit, from which draws take as much as they get. */
class Row {
  row: MeterRow;
  constructor(kind: MeterRow['kind']) {
    this.row = { subject: '7', kind, tat: 0, used: 0, period: '' };
  }
  /** @param now microseconds @returns the tokens that it gets */
  draw(meter: Meter, now: number, want = Infinity): number {
    const budget = new Budget(meter, this.row, now);
    const tokens = Math.min(want, budget.room);
    budget.take(tokens);
    this.row = budget.changedRow() ?? this.row;
    return tokens;
  }
}

test('a rate refills evenly, up to its burst', () => {
  const row = new Row('rate');
  const tenPerSecond = rate(10);
  const draws = [0, 0, 99_999, 100_000, 600_000, 60 * second].map((at) => row.draw(tenPerSecond, start + at));
  assert.deepEqual(draws, [10, 0, 0, 1, 5, 10]);
});

test('a burst below the limit bounds what is accepted at once, not what is accepted in a window', () => {
  const row = new Row('rate');
  const meter = rate(10, 1, 1);
  const times = Array.from({ length: 101 }, (_, step) => start + step * 10_000);
  const draws = times.map((now) => row.draw(meter, now));
  assert.equal(Math.max(...draws), 1);
  assert.equal(
    draws.reduce((sum, tokens) => sum + tokens),
    11,
  );
});

test('no window accepts more than the burst and what is refilled in it, for limits that do not divide the window', () => {
  for (const [limit, windowSeconds, burst] of [
    [7, 1, 3],
    [999_999, 1, 999_999],
    [1_000_000, 7, 1_000],
    [3, 86_400, 2],
    [1, 86_400, 1],
    [1_000_000, 86_400, 1_000_000],
  ] as const) {
    const row = new Row('rate');
    const meter = rate(limit, windowSeconds, burst);
    let accepted = 0;
    const steps = 1_000;
    for (let step = 0; step <= steps; step++)
      accepted += row.draw(meter, start + Math.floor((step * windowSeconds * second) / steps));
    assert.ok(accepted <= burst + limit, `${limit} in ${windowSeconds} s: ${accepted}`);
    // Rounding loses less than one token for each microsecond of each draw.
    assert.ok(accepted >= burst + limit - 1 - (steps * limit) / (windowSeconds * second), `${limit}: ${accepted}`);
  }
});

test('rounding of single draws loses less than 1 % of a rate of 10,000 per second', () => {
  const row = new Row('rate');
  const meter = rate(9_999);
  row.draw(meter, start);
  let accepted = 0;
  for (let now = start; now <= start + second; now += 100) accepted += row.draw(meter, now, 1);
  assert.ok(accepted > 9_899, String(accepted));
});

test('a clock that was ahead, or a larger burst before, blocks a key no longer than its bucket takes to fill', () => {
  const row = new Row('rate');
  const hour = 3_600 * second;
  assert.equal(row.draw(rate(10), start + hour), 10);
  assert.equal(row.draw(rate(10), start), 0);
  assert.equal(row.draw(rate(10), start + second), 10);
  assert.equal(row.draw(rate(1_000, 1_000), start + 10 * second), 1_000);
  assert.equal(row.draw(rate(10), start + 10 * second), 0);
  assert.equal(row.draw(rate(10), start + 11 * second), 10);
});

test('a quota resets with each period in UTC, and never with `ever`', () => {
  for (const [per, times] of [
    ['day', { '2026-11-30T23:59:59.999Z': 100, '2026-12-01T00:00:00Z': 100, '2026-12-01T23:59:59.999Z': 0 }],
    ['month', { '2026-11-30T23:59:59.999Z': 100, '2026-12-01T00:00:00Z': 100, '2026-12-31T23:59:59.999Z': 0 }],
    ['month', { '2026-12-31T23:59:59.999Z': 100, '2027-01-01T00:00:00Z': 100 }],
    ['ever', { '2026-11-30T00:00:00Z': 100, '2030-01-01T00:00:00Z': 0 }],
  ] as const) {
    const row = new Row('quota');
    for (const [time, tokens] of Object.entries(times))
      assert.equal(row.draw(quota(100, per), Date.parse(time) * 1_000), tokens, `${per} ${time}`);
  }
});

test('a clock that goes back over midnight by less than an hour does not reset a quota', () => {
  const row = new Row('quota');
  const at = (time: string): number => row.draw(quota(100), Date.parse(time) * 1_000);
  assert.equal(at('2026-11-30T23:59:00Z'), 100);
  assert.equal(at('2026-12-01T00:00:01Z'), 100);
  assert.equal(at('2026-11-30T23:59:59Z'), 0);
  assert.equal(at('2026-11-30T23:00:01Z'), 0);
  assert.equal(at('2026-12-01T00:00:01Z'), 0);
  assert.equal(at('2026-12-02T00:00:00Z'), 100);
});

test('a clock that was a day ahead does not block a quota', () => {
  const row = new Row('quota');
  const at = (time: string): number => row.draw(quota(100), Date.parse(time) * 1_000);
  assert.equal(at('2026-12-02T12:00:00Z'), 100);
  assert.equal(at('2026-12-01T12:00:00Z'), 100);
});

test('a limit states when it has enough tokens, exactly', () => {
  for (const meter of [rate(10), rate(7), rate(3, 86_400, 2), rate(999_999), rate(5, 10, 1)]) {
    const row = new Row('rate');
    row.draw(meter, start);
    for (const tokens of new Set([1, Math.ceil(meter.capacity / 2), meter.capacity])) {
      const { room } = new Budget(meter, row.row, start);
      assert.equal(room, 0);
      const at = roomAt(meter, new Budget(meter, row.row, start), tokens);
      assert.ok(new Budget(meter, row.row, at).room >= tokens, `${meter.quantity}: ${tokens} at ${at}`);
      assert.ok(new Budget(meter, row.row, at - 2).room < tokens, `${meter.quantity}: ${tokens} before ${at}`);
    }
    assert.equal(roomAt(meter, new Budget(meter, row.row, start), meter.capacity + 1), Infinity);
  }
  const row = new Row('quota');
  row.draw(quota(10), start);
  const left = new Budget(quota(10), row.row, start);
  assert.equal(roomAt(quota(10), left, 1), Date.UTC(2026, 10, 22) * 1_000);
  assert.equal(roomAt(quota(10), left, 11), Infinity);
});

test('the largest limits are computed exactly', () => {
  const rateRow = new Row('rate');
  assert.equal(rateRow.draw(rate(1_000_000, 86_400), start), 1_000_000);
  assert.equal(rateRow.draw(rate(1_000_000, 86_400), start + 86_399), 0);
  assert.equal(rateRow.draw(rate(1_000_000, 86_400), start + 86_400), 1);
  const quotaRow = new Row('quota');
  assert.equal(quotaRow.draw(quota(10 ** 12), start, 10 ** 12 - 1), 10 ** 12 - 1);
  assert.equal(quotaRow.draw(quota(10 ** 12), start), 1);
  assert.equal(quotaRow.draw(quota(10 ** 12), start), 0);
});

test('a limit that is used up is not written again', () => {
  const row = new Row('quota');
  row.draw(quota(1), start);
  assert.equal(new Budget(quota(1), row.row, start).changedRow(), undefined);
});
