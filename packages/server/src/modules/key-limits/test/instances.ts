/** Instances with clocks that tests advance, and keys with limits. */
import type { KeyLimits } from '@keyreeve/contract';
import type { Db } from '../../../foundation/database/db.ts';
import { fromPlain, toPlain } from '../../../foundation/database/plain-error.ts';
import { tally } from '../../../../test-kit/store-on-each-database.ts';
import { toLimitsText } from '../definition.ts';
import type { Draws } from '../draws.ts';
import { KeyLimiter, type KeyLimiterOptions, type LimitedKey, type LimitOutcome } from '../key-limits.ts';
import { StoredDraws } from '../stored-draws.ts';

export const start = Date.UTC(2026, 10, 21, 9, 30);

interface InstanceOptions extends Partial<KeyLimiterOptions> {
  /** Of the monotonic clock of a limiter in another process than its draws; undefined: in the same process. */
  readonly originMs?: number;
}

/** An instance whose clocks the test advances. */
export function instance(db: Db, { originMs, ...options }: InstanceOptions = {}) {
  let passed = 0;
  const clock = { now: () => start + passed };
  const stored = new StoredDraws({ db, clock, monotonicMs: () => passed });
  const draws = originMs === undefined ? stored : elsewhere(stored);
  const limiter = new KeyLimiter({ draws, clock, monotonicMs: () => (originMs ?? 0) + passed, ...options });
  const spend = (key: LimitedKey, cost = 1): Promise<LimitOutcome> =>
    new Promise((resolve, reject) => limiter.spend({ key, cost }, resolve, reject));
  /** @returns how many verifications were accepted, and how many each limit rejected */
  const spendMany = async (key: LimitedKey, count: number): Promise<Record<string, number>> => {
    const outcomes = await Promise.all(Array.from({ length: count }, () => spend(key)));
    return tally(outcomes.map(({ exceeded }) => exceeded?.kind ?? 'accepted'));
  };
  const advance = (ms: number): void => void (passed += ms);
  return { limiter, spend, spendMany, advance };
}

/** Draws in another process, which gets and sends copies of plain data. */
export const elsewhere = (draws: Draws): Draws => ({
  async draw(request) {
    try {
      return structuredClone(await draws.draw(structuredClone(request)));
    } catch (error) {
      throw fromPlain(structuredClone(toPlain(error)));
    }
  },
});

export const limited = (value: KeyLimits | null, id = 7, ofAccount: KeyLimits | null = null): LimitedKey => ({
  id,
  accountId: 'acc_1',
  limits: toLimitsText(value),
  accountLimits: toLimitsText(ofAccount),
});
export const quota = (limit: number, per: 'day' | 'month' | 'ever' = 'day'): KeyLimits => ({ quota: { limit, per } });
export const daily = (limit: number, id = 7): LimitedKey => limited(quota(limit), id);
export const perSecond = (limit: number, id = 7): LimitedKey => limited({ rate: { limit, windowSeconds: 1 } }, id);
