/** Draws of tokens: exact over concurrent draws, on both databases. */
import assert from 'node:assert/strict';
import { onEachDatabase, raceToValues } from '../../../../test-kit/store-on-each-database.ts';
import { drawTokensFrom, type Draw, type WantedDraw } from '../store.ts';

const now = Date.UTC(2026, 10, 21, 9, 30);
const second = 1_000_000;

const quota = (more: Partial<WantedDraw> = {}): WantedDraw => ({
  subject: '7',
  kind: 'quota',
  quantity: 100,
  capacity: 100,
  windowMicros: 1,
  toleranceMicros: 0,
  per: 'day',
  want: 1,
  smallest: 1,
  forecast: 0,
  ...more,
});
/** Ten tokens a second. */
const rate = (more: Partial<WantedDraw> = {}): WantedDraw => ({
  ...quota(),
  kind: 'rate',
  quantity: 10,
  capacity: 10,
  windowMicros: second,
  toleranceMicros: second,
  ...more,
});

const granted = (draws: readonly Draw[]): number[] => draws.map((draw) => draw.granted);

onEachDatabase('sixteen instances that want more than a quota get exactly the quota', async (opened) => {
  await drawTokensFrom(opened.db, [quota({ want: 0 })], [quota()], now);
  const draws = await raceToValues(opened, 16, (db) => drawTokensFrom(db, [quota({ want: 9 })], [], now));
  assert.equal(
    granted(draws.flat()).reduce((sum, value) => sum + value),
    100,
  );
});

onEachDatabase('sixteen instances that want more than a burst get exactly the burst', async (opened) => {
  await drawTokensFrom(opened.db, [rate({ want: 0 })], [rate()], now);
  const draws = await raceToValues(opened, 16, (db) => drawTokensFrom(db, [rate({ want: 3 })], [], now));
  assert.equal(
    granted(draws.flat()).reduce((sum, value) => sum + value),
    10,
  );
});

onEachDatabase('concurrent first draws in any order neither fail nor grant twice', async (opened) => {
  const subjects = ['1', '2', '3', '4', '5', '6', '7', '8'];
  const draws = await raceToValues(opened, 16, (db, rival) => {
    const order = rival % 2 === 0 ? subjects : subjects.toReversed();
    const wanted = order.map((subject) => quota({ subject, want: 50 }));
    return drawTokensFrom(db, wanted, wanted, now);
  });
  for (const subject of subjects) {
    const of = draws.flat().filter((draw) => draw.subject === subject);
    assert.equal(
      granted(of).reduce((sum, value) => sum + value),
      100,
      subject,
    );
  }
});

onEachDatabase('a rate refills evenly, up to its burst', async ({ db }) => {
  const draw = async (at: number, want: number): Promise<number[]> =>
    granted(await drawTokensFrom(db, [rate({ want })], [rate()], at));
  assert.deepEqual(await draw(now, 100), [10]);
  assert.deepEqual(await draw(now, 1), [0]);
  assert.deepEqual(await draw(now + 99, 1), [0]);
  assert.deepEqual(await draw(now + 100, 1), [1]);
  assert.deepEqual(await draw(now + 600, 100), [5]);
  assert.deepEqual(await draw(now + 60_000, 100), [10]);
});

onEachDatabase('a clock that goes back refills nothing', async ({ db }) => {
  assert.deepEqual(granted(await drawTokensFrom(db, [rate({ want: 10 })], [rate()], now)), [10]);
  assert.deepEqual(granted(await drawTokensFrom(db, [rate()], [], now - 5_000)), [0]);
  assert.deepEqual(granted(await drawTokensFrom(db, [rate()], [], now + 100)), [1]);
});

onEachDatabase('a quota begins again with each period in UTC, and never with `ever`', async ({ db }) => {
  const draw = async (per: WantedDraw['per'], iso: string): Promise<number> => {
    const wanted = quota({ subject: per, per, want: 100 });
    return (await drawTokensFrom(db, [wanted], [wanted], Date.parse(iso)))[0]?.granted ?? -1;
  };
  assert.equal(await draw('day', '2026-11-30T23:59:59.999Z'), 100);
  assert.equal(await draw('day', '2026-11-30T23:59:59.999Z'), 0);
  assert.equal(await draw('day', '2026-12-01T00:00:00Z'), 100);
  assert.equal(await draw('month', '2026-11-30T23:59:59.999Z'), 100);
  assert.equal(await draw('month', '2026-12-01T00:00:00Z'), 100);
  assert.equal(await draw('month', '2026-12-31T23:59:59.999Z'), 0);
  assert.equal(await draw('ever', '2026-11-30T00:00:00Z'), 100);
  assert.equal(await draw('ever', '2030-01-01T00:00:00Z'), 0);
});

onEachDatabase('a draw that does not reach for one verification takes nothing', async ({ db }) => {
  const draw = async (want: number, smallest: number): Promise<number[]> =>
    granted(await drawTokensFrom(db, [quota({ want, smallest })], [quota()], now));
  assert.deepEqual(await draw(60, 60), [60]);
  assert.deepEqual(await draw(41, 41), [0]);
  assert.deepEqual(await draw(41, 20), [40]);
});

onEachDatabase('a forecast is granted only while a tenth of the limit is left', async ({ db }) => {
  const draw = async (want: number): Promise<number[]> =>
    granted(await drawTokensFrom(db, [quota({ want, forecast: 5 })], [quota()], now));
  assert.deepEqual(await draw(85), [90]);
  assert.deepEqual(await draw(1), [6]);
  assert.deepEqual(await draw(1), [1]);
  assert.deepEqual(await draw(5), [3]);
});

onEachDatabase('the largest limits are computed without overflow', async ({ db }) => {
  const day = 86_400 * second;
  const wide = rate({ quantity: 1_000_000, capacity: 1_000_000, windowMicros: day, toleranceMicros: day });
  assert.deepEqual(granted(await drawTokensFrom(db, [{ ...wide, want: 2_000_000 }], [wide], now)), [1_000_000]);
  const large = quota({ subject: '8', quantity: 10 ** 12, capacity: 10 ** 12, want: 10 ** 12 + 1 });
  assert.deepEqual(granted(await drawTokensFrom(db, [large], [large], now)), [10 ** 12]);
});

onEachDatabase('without a time, PostgreSQL uses its own clock', async ({ db }) => {
  if (db.dialect === 'sqlite') return;
  const [draw] = await drawTokensFrom(db, [rate()], [rate()], undefined);
  assert.ok(Math.abs((draw?.drawnAt ?? 0) / 1000 - Date.now()) < 3_600_000);
});
