/** Draws in another process than the limiter: the same decisions, and never more than a limit. */
import assert from 'node:assert/strict';
import { unavailable } from '../../../foundation/database/unavailable.ts';
import { codeOf, onEachDatabase, rivalsMin, tally } from '../../../../test-kit/store-on-each-database.ts';
import { withTransaction } from '../../../../test-kit/wrapped-db.ts';
import { metersOf } from '../definition.ts';
import type { DrawRequest, Draws } from '../draws.ts';
import { StoredDraws } from '../stored-draws.ts';
import { daily, elsewhere, instance, limited, perSecond, quota, start } from './instances.ts';

const never = (): number => 0;

onEachDatabase('limiters of several processes spend exactly a quota, also if results are lost', async (opened) => {
  const { db, connect } = opened;
  const clock = { now: () => start };
  const main = new StoredDraws({ db, clock, monotonicMs: never });
  let lost = 0;
  let draws = 0;
  const losing: Draws = {
    async draw(request) {
      const result = await elsewhere(main).draw(request);
      if (draws++ % 3 !== 1) return result;
      lost += result.limits[1]?.drawn ?? 0;
      throw unavailable(new Error('the process has ended'), true);
    },
  };
  const limiters = [
    instance(db, { draws: elsewhere(main), originMs: 1_000 }),
    instance(db, { draws: losing, originMs: 86_400_000 }),
    instance(await connect()),
  ];
  const key = limited(quota(2_000), 7, quota(900));
  let accepted = 0;
  const use = async ({ spend }: (typeof limiters)[number], cost: number): Promise<boolean> => {
    const outcome = await spend(key, cost).catch(codeOf);
    const isAccepted = typeof outcome === 'object' && outcome !== null && 'exceeded' in outcome && !outcome.exceeded;
    if (isAccepted) accepted += cost;
    return isAccepted || outcome === 'unavailable';
  };
  for (let round = 0; round < 4; round++)
    await Promise.all(
      limiters.flatMap((of) => Array.from({ length: rivalsMin }, (_, rival) => use(of, 1 + ((rival + round) % 5)))),
    );
  await Promise.all(
    limiters.map(async (of) => {
      while (await use(of, 1));
    }),
  );
  assert.ok(lost > 0);
  assert.equal(accepted + lost, 900);
});

onEachDatabase('a result that arrives after the validity of its tokens is not spent', async ({ db }) => {
  // The clock of the process that draws does not show the delay.
  const main = new StoredDraws({ db, clock: { now: () => start }, monotonicMs: never });
  let delays = 1;
  const late: Draws = {
    async draw(request) {
      const result = await elsewhere(main).draw(request);
      if (delays-- > 0) of.advance(1_000);
      return result;
    },
  };
  const of = instance(db, { draws: late, originMs: 5_000 });
  assert.equal((await of.spend(perSecond(10))).exceeded, undefined);
  assert.deepEqual({ ...of.limiter.draws }, { committed: 2, failed: 0, unknown: 0 });
  assert.deepEqual({ ...of.limiter.tokens }, { drawn: 2, spent: 1 });
  delays = 2;
  assert.equal(await of.spend(perSecond(10)).catch(codeOf), 'unavailable');
  assert.equal(of.limiter.tokens.spent, 1);
});

onEachDatabase('the wait for the transaction does not shorten the validity of tokens', async ({ db }) => {
  const waiting = withTransaction(db, async (body, options) => {
    of.advance(900);
    return db.transaction(body, options);
  });
  const of = instance(waiting, { originMs: 5_000 });
  const key = perSecond(1_000);
  for (const count of [20, 1]) await of.spendMany(key, count);
  const { drawn, spent } = of.limiter.tokens;
  assert.ok(drawn > spent);
  for (const ms of [999, 1]) {
    assert.deepEqual({ ...of.limiter.tokens, spent }, { drawn, spent });
    of.advance(ms);
    await of.spend(key);
  }
  assert.ok(of.limiter.tokens.drawn > drawn);
});

onEachDatabase('a request that no limiter makes draws nothing, and later ones succeed', async ({ db }) => {
  const draws = elsewhere(new StoredDraws({ db, clock: { now: () => start } }));
  const [meter] = metersOf('key', '7', daily(10).limits ?? '');
  assert.ok(meter);
  const limit = { meter, isStored: false, held: 0, heldMs: 0, forecast: 0 };
  const valid: DrawRequest = { limits: [limit], questions: [{ limits: [0], cost: 1 }] };
  const invalid: readonly unknown[] = [
    undefined,
    {},
    { ...valid, limits: [limit, limit] },
    { ...valid, limits: [{ ...limit, meter: undefined }] },
    { ...valid, limits: [{ ...limit, meter: { ...meter, kind: 'other' } }] },
    { ...valid, limits: [{ ...limit, meter: { ...meter, row: 'quota 8' } }] },
    { ...valid, limits: [{ ...limit, held: -1 }] },
    { ...valid, limits: [{ ...limit, forecast: 0.5 }] },
    { ...valid, questions: [{ limits: [1], cost: 1 }] },
    { ...valid, questions: [{ limits: [0], cost: -1 }] },
    { ...valid, questions: [{ limits: [0], cost: NaN }] },
  ];
  const settled = await Promise.allSettled(invalid.map((request) => draws.draw(request as DrawRequest)));
  assert.deepEqual(tally(settled.map(({ status }) => status)), { rejected: invalid.length });
  const { limits, lacking } = await draws.draw(valid);
  assert.deepEqual([limits[0]?.left.room, lacking], [9, [undefined]]);
});
