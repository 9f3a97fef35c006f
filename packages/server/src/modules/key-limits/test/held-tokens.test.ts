/** Tokens that an instance holds: how many it draws for later verifications, and when they expire. */
import assert from 'node:assert/strict';
import type { KeyLimits } from '@keyreeve/contract';
import { onEachDatabase } from '../../../../test-kit/store-on-each-database.ts';
import { toLimitsText } from '../definition.ts';
import { KeyLimiter } from '../key-limits.ts';
import { StoredDraws } from '../stored-draws.ts';
import { instance, limited } from './instances.ts';

/** Half a minute before the end of a day. */
const start = Date.UTC(2026, 10, 21, 23, 59, 30);

const rows: readonly { what: string; limits: KeyLimits; validMs: number }[] = [
  { what: 'a rate of a minute', limits: { rate: { limit: 1_000, windowSeconds: 60 } }, validMs: 6_000 },
  { what: 'a rate of a second', limits: { rate: { limit: 1_000, windowSeconds: 1 } }, validMs: 1_000 },
  { what: 'a rate of a day', limits: { rate: { limit: 1_000_000, windowSeconds: 86_400 } }, validMs: 60_000 },
  { what: 'a quota of a day', limits: { quota: { limit: 1_000, per: 'day' } }, validMs: 30_000 },
];

for (const { what, limits, validMs } of rows) {
  onEachDatabase(`tokens of ${what} are spent within ${validMs} ms, and not later`, async ({ db }) => {
    let passed = 0;
    const clock = { now: () => start + passed };
    const monotonicMs = () => passed;
    const limiter = new KeyLimiter({ draws: new StoredDraws({ db, clock, monotonicMs }), clock, monotonicMs });
    const key = { id: 7, accountId: 'acc_1', limits: toLimitsText(limits), accountLimits: null };
    const spend = async (): Promise<void> => {
      const { exceeded } = await new Promise<{ exceeded: unknown }>((resolve, reject) =>
        limiter.spend({ key, cost: 1 }, resolve, reject),
      );
      assert.equal(exceeded, undefined);
    };
    // The second draw takes tokens for later verifications.
    await Promise.all(Array.from({ length: 10 }, spend));
    while (limiter.tokens.drawn <= 10) await spend();
    const { drawn } = limiter.tokens;
    passed += validMs - 1;
    await spend();
    assert.equal(limiter.tokens.drawn, drawn);
    passed += 1;
    await spend();
    assert.ok(limiter.tokens.drawn > drawn);
  });
}

onEachDatabase('tokens of a quota are not spent after a suspension over the end of its period', async ({ db }) => {
  // The monotonic clock of the machine stops meanwhile.
  let suspendedMs = 0;
  const clock = { now: () => start + suspendedMs };
  const monotonicMs = () => 0;
  const limiter = new KeyLimiter({ draws: new StoredDraws({ db, clock, monotonicMs }), clock, monotonicMs });
  const daily = toLimitsText({ quota: { limit: 1_000, per: 'day' } });
  const key = { id: 7, accountId: 'acc_1', limits: daily, accountLimits: null };
  const isAccepted = (cost: number): Promise<boolean> =>
    new Promise((resolve, reject) => limiter.spend({ key, cost }, ({ exceeded }) => resolve(!exceeded), reject));
  for (let count = 0; count < 20; count++) await isAccepted(1);
  const { drawn, spent } = limiter.tokens;
  assert.ok(drawn > spent);
  suspendedMs = 3_600_000;
  assert.equal(await isAccepted(1_000), true);
  assert.equal(await isAccepted(1), false);
  assert.equal(limiter.tokens.drawn, drawn + 1_000);
});

for (const { windowSeconds, limit, drawn } of [
  { windowSeconds: 3_600, limit: 1_000_000, drawn: 1 + 64 },
  { windowSeconds: 60, limit: 600, drawn: 1 },
])
  onEachDatabase(`the first draw of ${limit} tokens per ${windowSeconds} s takes ${drawn}`, async ({ db }) => {
    const { limiter, spend } = instance(db);
    await spend(limited({ rate: { limit, windowSeconds } }));
    assert.equal(limiter.tokens.drawn, drawn);
  });
