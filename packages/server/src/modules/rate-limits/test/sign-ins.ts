/** Helpers of the tests of sign-in limits: reservations, successful sign-ins, and many at once. */
import assert from 'node:assert/strict';
import { limits, type ErrorCode } from '@keyreeve/contract';
import type { Db } from '../../../foundation/database/db.ts';
import { sql } from '../../../foundation/database/sql.ts';
import { isOutcomeUnknown } from '../../../foundation/database/unavailable.ts';
import { FakeClock } from '../../../../test-kit/fake-clock.ts';
import { codeOf } from '../../../../test-kit/store-on-each-database.ts';
import { SignInLimits, type SignInAttempt, type SignInLimitsOptions } from '../sign-in-limits.ts';
import { keys, now } from '../../../../test-kit/rows.ts';

export const clock = new FakeClock(now);
export const signInLimitsOn = (db: Db, more: Partial<SignInLimitsOptions> = {}): SignInLimits =>
  new SignInLimits({ db, clock, bucketHash: keys.rateLimitBucket, ipRangeLimits: [], enabled: true, ...more });
/** A successful sign-in. */
export async function signIn(signInLimits: SignInLimits, attempt: SignInAttempt, startedAt = now): Promise<void> {
  await signInLimits.succeed({ ...(await signInLimits.reserve(attempt)), startedAt });
}
export const reserve = async (db: Db, canonicalEmail: string, clientIp: string): Promise<'reserved'> => {
  await signInLimitsOn(db).reserve({ canonicalEmail, clientIp });
  return 'reserved';
};

const setCount = sql('test_set_count', 'update rate_limit_buckets set count = $2 where bucket = $1');
/** Sets a counter that exists, as that many attempts would. */
export async function setCounter(db: Db, bucket: Buffer, count: number): Promise<void> {
  assert.equal(await db.transaction((tx) => tx.run(setCount, [bucket, count])), 1);
}

/**
 * Repeats an operation that a busy machine has not done: its connection, statement or turn came too late.
 * @returns its value; `rejected` after DomainError `code`, `unknown` if it may have been done
 */
export async function decided<T>(code: ErrorCode, operation: () => Promise<T>): Promise<T | 'rejected' | 'unknown'> {
  for (;;) {
    try {
      return await operation();
    } catch (error) {
      if (codeOf(error) === code) return 'rejected';
      if (isOutcomeUnknown(error)) return 'unknown';
      if (codeOf(error) !== 'unavailable') throw error;
    }
  }
}

/** At most `limits.signInsUnderWayMax` at the same time, as in the service. */
export async function severalAtOnce(
  count: number,
  one: (n: number) => Promise<unknown>,
): Promise<PromiseSettledResult<unknown>[]> {
  const settled: PromiseSettledResult<unknown>[] = [];
  while (settled.length < count) {
    const first = settled.length;
    const length = Math.min(limits.signInsUnderWayMax, count - first);
    settled.push(
      ...(await Promise.allSettled(Array.from({ length }, async (_, index) => void (await one(first + index))))),
    );
  }
  return settled;
}
