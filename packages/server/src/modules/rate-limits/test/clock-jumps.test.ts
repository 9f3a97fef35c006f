/** A clock that jumps neither locks an account out for long nor ends a limit early. */
import assert from 'node:assert/strict';
import { limits } from '@keyreeve/contract';
import { aheadMsMax } from '../../../foundation/clock.ts';
import type { Db } from '../../../foundation/database/db.ts';
import { FakeClock } from '../../../../test-kit/fake-clock.ts';
import { codeOf, onEachDatabase } from '../../../../test-kit/store-on-each-database.ts';
import { keys, now } from '../../../../test-kit/rows.ts';
import { RequestLimits } from '../request-limits.ts';
import { SecondFactorLimits } from '../second-factor-limits.ts';
import * as store from '../store.ts';
import { signInLimitsOn } from './sign-ins.ts';

const bucketHash = keys.rateLimitBucket;
const attempt = { canonicalEmail: 'ada@example.com', clientIp: '192.0.2.1' };
const tolerated = { seconds: aheadMsMax / 1000 };

type Count = () => Promise<unknown>;

/** Each limit, and the code of its rejection. */
const limited: Readonly<Record<string, { code: string; on: (db: Db, clock: FakeClock) => Count }>> = {
  'failed sign-ins': {
    code: 'too_many_attempts',
    on: (db, clock) => () => signInLimitsOn(db, { clock }).reserve(attempt),
  },
  'successful sign-ins': {
    code: 'too_many_attempts',
    on: (db, clock) => async () => {
      const signInLimits = signInLimitsOn(db, { clock });
      await signInLimits.succeed(await signInLimits.reserve(attempt));
    },
  },
  'guesses of a second factor': {
    code: 'too_many_attempts',
    on: (db, clock) => () =>
      new SecondFactorLimits({ db, clock, bucketHash }).reserve({ accountId: 'acc_ada', createdAt: now }),
  },
  'mail requests of an email address': {
    code: 'too_many_requests',
    on: (db, clock) => () =>
      new RequestLimits({
        db,
        clock,
        bucketHash,
        ipRangeLimits: [],
        signInLimits: { hasSignedInRecently: () => Promise.resolve(false) },
      }).countSignUp(attempt),
  },
};

/** Repeats the request until the limit rejects it. */
async function exhaust(count: Count, code: string): Promise<void> {
  for (let n = 0; n <= limits.signInsPerMinuteMax; n++) {
    const rejected = await count().then(() => undefined, codeOf);
    if (rejected === undefined) continue;
    assert.equal(rejected, code);
    return;
  }
  assert.fail('the limit rejects nothing');
}

for (const [what, { code, on }] of Object.entries(limited)) {
  onEachDatabase(`a clock that was a year ahead does not keep the limit of ${what} in force`, async ({ db }) => {
    const clock = new FakeClock(now);
    const count = on(db, clock);
    clock.advance({ days: 365 });
    await exhaust(count, code);
    clock.advance({ days: -365 });
    await count();
    // From here on, the limit counts as before.
    await exhaust(count, code);
  });

  onEachDatabase(`a clock that is set back by an hour does not end the limit of ${what}`, async ({ db }) => {
    const clock = new FakeClock(now);
    const count = on(db, clock);
    await exhaust(count, code);
    clock.advance({ seconds: -tolerated.seconds });
    await assert.rejects(count(), (error) => codeOf(error) === code);
  });
}

onEachDatabase(
  'a counter from the future runs up to the tolerated difference, and then starts again',
  async ({ db }) => {
    const bucket = bucketHash.stored('one');
    for (const decay of [{ windowMs: 1_000 }, { leakMs: 1_000 }]) {
      const at = async (ms: number): Promise<store.Bucket> => {
        const [row] = await store.readBuckets(db, [bucket]);
        const counted = await db.transaction((tx) => store.incrementTx(tx, bucket, now + ms, decay));
        assert.deepEqual({ ...counted }, store.predictIncrement(row, now + ms, decay));
        return counted;
      };
      await db.transaction(async (tx) => store.clearTx(tx, bucket));
      assert.equal((await at(aheadMsMax)).count, 1);
      assert.equal((await at(0)).count, 2);
      assert.deepEqual({ ...(await at(-1)) }, { count: 1, windowStartedAt: now - 1, blockedUntil: 0 });
    }
  },
);
