/** Helpers of the tests of sign-in limits: reservations, successful sign-ins, and many at once. */
import { limits } from '@keyreeve/contract';
import type { Db } from '../../../foundation/database/db.ts';
import { FakeClock } from '../../../../test-kit/fake-clock.ts';
import { SignInLimits, type SignInAttempt, type SignInLimitsOptions } from '../sign-in-limits.ts';
import { keys, now } from '../../../../test-kit/rows.ts';

export const clock = new FakeClock(now);
export const signInLimitsOn = (db: Db, more: Partial<SignInLimitsOptions> = {}): SignInLimits =>
  new SignInLimits({ db, clock, bucketHash: keys.throttleBucket, ipRangeLimits: [], enabled: true, ...more });
/** A successful sign-in. */
export async function signIn(signInLimits: SignInLimits, attempt: SignInAttempt, startedAt = now): Promise<void> {
  await signInLimits.succeed({ ...(await signInLimits.reserve(attempt)), startedAt });
}
export const reserve = async (db: Db, canonicalEmail: string, clientIp: string): Promise<'reserved'> => {
  await signInLimitsOn(db).reserve({ canonicalEmail, clientIp });
  return 'reserved';
};

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
