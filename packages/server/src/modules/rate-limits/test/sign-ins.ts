/** Sign-ins as the rate limits see them: reserved, given back, and many at once. */
import { limits } from '@keyreeve/contract';
import type { Db } from '../../../foundation/database/db.ts';
import { FakeClock } from '../../../../test-kit/fake-clock.ts';
import { SignInLimits, type SignInAttempt } from '../sign-in-limits.ts';
import { keys, now } from '../../../../test-kit/rows.ts';

export const clock = new FakeClock(now);
export const signInLimitsOn = (db: Db): SignInLimits =>
  new SignInLimits({ db, clock, bucketHash: keys.throttleBucket, ipRangeLimits: [], enabled: true });
/** A sign-in with the right password. */
export async function signIn(signInLimits: SignInLimits, attempt: SignInAttempt, startedAt = now): Promise<void> {
  await signInLimits.succeed({ ...(await signInLimits.reserve(attempt)), startedAt });
}
export const reserve = async (db: Db, canonicalEmail: string, clientIp: string): Promise<'reserved'> => {
  await signInLimitsOn(db).reserve({ canonicalEmail, clientIp });
  return 'reserved';
};

/** No more at once than the service lets through (`limits.signInsUnderWayMax`). */
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
