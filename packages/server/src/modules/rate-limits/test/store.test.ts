/** The table of counters and the reservations that use it, on each database. */
import assert from 'node:assert/strict';
import { limits } from '@keyreeve/contract';
import type { Db } from '../../../foundation/database/db.ts';
import { FakeClock } from '../../../../test-kit/fake-clock.ts';
import { SecondFactorLimits, type GuessTarget } from '../second-factor-limits.ts';
import { RequestLimits } from '../request-limits.ts';
import * as store from '../store.ts';
import {
  codeOf,
  onEachDatabase,
  outcomes,
  race,
  raceToValues,
  rivalsMin,
} from '../../../../test-kit/store-on-each-database.ts';
import { keys, now } from '../../../../test-kit/rows.ts';
import { clock, reserve, severalAtOnce, signIn, signInLimitsOn } from './sign-ins.ts';

const bucket = keys.rateLimitBucket.stored('one');
const other = keys.rateLimitBucket.stored('other');
const increment = (db: Db, at = now, decay?: store.Decay, of = bucket): Promise<store.Bucket> =>
  db.transaction((tx) => store.incrementTx(tx, of, at, decay));

onEachDatabase('concurrent increments return different counts', async (opened) => {
  const counted = await raceToValues(opened, rivalsMin * 4, (connection) => increment(connection));
  const counts = counted.map(({ count }) => count).toSorted((a, b) => a - b);
  assert.deepEqual(
    counts,
    Array.from({ length: rivalsMin * 4 }, (_, index) => index + 1),
  );
});

onEachDatabase('a count starts again when its window is over, and never without a window', async ({ db }) => {
  const second = { windowMs: 1_000 };
  for (const [ms, count, from] of [
    [0, 1, 0],
    [999, 2, 0],
    [1_000, 1, 1_000],
  ] as const) {
    const counted = await incrementAsPredicted(db, now + ms, second);
    assert.deepEqual(counted, { count, windowStartedAt: now + from, blockedUntil: 0 });
  }
  assert.equal((await incrementAsPredicted(db, now + 10 ** 12)).count, 2);
});

/** Asserts that the prediction equals the result of the increment. */
async function incrementAsPredicted(db: Db, at: number, decay?: store.Decay): Promise<store.Bucket> {
  const [row] = await store.readBuckets(db, [bucket]);
  const predicted = store.predictIncrement(row, at, decay);
  assert.deepEqual({ ...(await increment(db, at, decay)) }, predicted);
  return predicted;
}

onEachDatabase('a leaking count falls by one at a time, with and without increments', async ({ db }) => {
  const leak = { leakMs: 1_000 };
  const at = async (ms: number, count: number, from: number): Promise<void> =>
    assert.deepEqual(await incrementAsPredicted(db, now + ms, leak), {
      count,
      windowStartedAt: now + from,
      blockedUntil: 0,
    });
  await at(0, 1, 0);
  await at(0, 2, 0);
  await at(0, 3, 0);
  await at(999, 4, 0);
  await at(1_000, 4, 1_000);
  await at(2_999, 4, 2_000);
  await at(4_500, 3, 4_000);
  // A clock that is behind another instance's changes nothing.
  await at(100, 4, 4_000);
  await at(8_000, 1, 8_000);
  await at(1_000_000_000_000, 1, 1_000_000_000_000);
});

onEachDatabase('counters are decremented to zero at most, blocked and cleared independently', async ({ db }) => {
  await increment(db);
  await increment(db, now, undefined, other);
  await db.transaction(async (tx) => {
    store.blockTx(tx, bucket, now + 7);
    store.decrementTx(tx, bucket);
    store.decrementTx(tx, bucket);
  });
  assert.deepEqual({ ...(await increment(db, now + 1)) }, { count: 1, windowStartedAt: now, blockedUntil: now + 7 });
  await db.transaction(async (tx) => store.clearTx(tx, bucket));
  assert.deepEqual({ ...(await increment(db, now + 2)) }, { count: 1, windowStartedAt: now + 2, blockedUntil: 0 });
  assert.equal((await increment(db, now, undefined, other)).count, 2);
});

onEachDatabase('untouched counters are deleted, a bounded number at a time', async ({ db }) => {
  const old = ['a', 'b', 'c'].map((name) => keys.rateLimitBucket.stored(name));
  for (const each of old) await increment(db, now - 1, undefined, each);
  await increment(db, now);
  assert.equal(await store.deleteUntouchedBuckets(db, now, 2), 2);
  assert.equal(await store.deleteUntouchedBuckets(db, now, 2), 1);
  assert.equal(await store.deleteUntouchedBuckets(db, now, 2), 0);
  const rows = await store.readBuckets(db, [...old, bucket]);
  assert.deepEqual(
    rows.map((row) => row?.touchedAt),
    [undefined, undefined, undefined, now],
  );
});

onEachDatabase('concurrent attempts on one email from one range get exactly the free attempts', async (opened) => {
  const rivals = rivalsMin * 2;
  const settled = await race(opened, rivals, (connection) => reserve(connection, 'ada@example.com', '192.0.2.1'));
  const free = limits.signInPairFreeFailures;
  assert.deepEqual(outcomes(settled), { reserved: free, too_many_attempts: rivals - free });
});

onEachDatabase('concurrent attempts on one email from many ranges get exactly the limit', async (opened) => {
  const rivals = limits.signInEmailFailuresMax + rivalsMin;
  const settled = await race(opened, rivals, (connection, rival) =>
    reserve(connection, 'ada@example.com', `192.0.2.${rival}`),
  );
  assert.deepEqual(outcomes(settled), { reserved: limits.signInEmailFailuresMax, too_many_attempts: rivalsMin });
});

onEachDatabase('concurrent attempts from one range on many emails get exactly the limit', async (opened) => {
  const rivals = limits.signInRangeFailuresMax + rivalsMin;
  const settled = await race(opened, rivals, (connection, rival) =>
    reserve(connection, `user${rival}@example.com`, `2001:db8::${rival.toString(16)}`),
  );
  assert.deepEqual(outcomes(settled), { reserved: limits.signInRangeFailuresMax, too_many_attempts: rivalsMin });
});

onEachDatabase('a rejected reservation is not counted', async ({ db }) => {
  const at = new FakeClock(now);
  const signInLimits = signInLimitsOn(db, { clock: at });
  const attempt = { canonicalEmail: 'ada@example.com', clientIp: '192.0.2.1' };
  for (let free = 0; free < limits.signInPairFreeFailures; free++) await signInLimits.reserve(attempt);
  for (let rejected = 0; rejected < 20; rejected++) {
    await assert.rejects(signInLimits.reserve(attempt), (error) => codeOf(error) === 'too_many_attempts');
  }
  at.advance({ seconds: limits.signInPairDelaySecondsFirst });
  await signInLimits.reserve(attempt);
  // The delay has doubled once, not once per rejection.
  at.advance({ seconds: limits.signInPairDelaySecondsFirst * 2 });
  await signInLimits.reserve(attempt);
});

onEachDatabase('reservations that are released concurrently leave no count', async (opened) => {
  const attempts = Array.from({ length: rivalsMin }, (_, rival) => ({
    canonicalEmail: `user${rival}@example.com`,
    clientIp: `192.0.2.${rival}`,
  }));
  await raceToValues(opened, rivalsMin, async (connection, rival) => {
    const attempt = attempts[rival];
    if (!attempt) return;
    const signInLimits = signInLimitsOn(connection);
    const reservation = await signInLimits.reserve(attempt);
    await (rival % 2 === 0 ? signInLimits.succeed(reservation) : signInLimits.release(reservation));
  });
  const settled = await race(opened, limits.signInPairFreeFailures * rivalsMin, (connection, rival) => {
    const attempt = attempts[rival % rivalsMin];
    return attempt
      ? reserve(connection, attempt.canonicalEmail, attempt.clientIp)
      : Promise.reject(new Error('no attempt'));
  });
  assert.deepEqual(outcomes(settled), { reserved: limits.signInPairFreeFailures * rivalsMin });
});

onEachDatabase('in a trusted range released reservations are not counted', async ({ db }) => {
  const signInLimits = signInLimitsOn(db);
  const home = { canonicalEmail: 'ada@example.com', clientIp: '192.0.2.1' };
  await signIn(signInLimits, home);
  for (let n = 0; n < limits.signInTrustedPairFailuresMax * 2; n++)
    await signInLimits.release(await signInLimits.reserve(home));
  const reserving = async (): Promise<void> => void (await signInLimits.reserve(home));
  const settled = await Promise.allSettled(Array.from({ length: 20 }, reserving));
  const max = limits.signInTrustedPairFailuresMax;
  assert.deepEqual(outcomes(settled), { undefined: max, too_many_attempts: 20 - max });
});

const targets: Readonly<Record<string, GuessTarget>> = {
  'of a second factor': { accountId: 'acc_ada', createdAt: now },
  'of a session’s current password': { sessionId: 'ada1' },
};
for (const [what, target] of Object.entries(targets)) {
  onEachDatabase(`concurrent guesses ${what} get exactly the free attempts`, async (opened) => {
    const guess = async (connection: Db): Promise<'reserved'> => {
      await new SecondFactorLimits({ db: connection, clock, bucketHash: keys.rateLimitBucket }).reserve(target);
      return 'reserved';
    };
    const settled = await race(opened, rivalsMin * 2, guess);
    const free = limits.secondFactorFreeFailures;
    assert.deepEqual(outcomes(settled), { reserved: free, too_many_attempts: rivalsMin * 2 - free });
  });
}

onEachDatabase('concurrent passwords with one code get exactly the limit', async (opened) => {
  const rivals = limits.codeTriesMax + rivalsMin;
  const settled = await race(opened, rivals, async (connection) => {
    const options = { db: connection, clock, bucketHash: keys.rateLimitBucket, ipRangeLimits: [] };
    await new RequestLimits({ ...options, signInLimits: signInLimitsOn(connection) }).countCodeTry(Buffer.from('code'));
  });
  assert.deepEqual(outcomes(settled), { undefined: limits.codeTriesMax, too_many_requests: rivalsMin });
});

/** The reservations that reach each limit of this attempt. */
const attempt = { canonicalEmail: 'ada@example.com', clientIp: '2001:db8::1' };
const floods: Readonly<Record<string, { readonly times: number; readonly like: (n: number) => typeof attempt }>> = {
  'the limit of the pair': { times: limits.signInPairFreeFailures, like: () => attempt },
  'the limit of the email': {
    times: limits.signInEmailFailuresMax,
    like: (n) => ({ ...attempt, clientIp: `192.0.2.${n}` }),
  },
  'the limit of the mailbox': {
    times: limits.signInEmailFailuresMax,
    like: (n) => ({ canonicalEmail: `ada+${n}@example.com`, clientIp: `192.0.2.${n}` }),
  },
  'the limit of the range': {
    times: limits.signInRangeFailuresMax,
    like: (n) => ({ ...attempt, canonicalEmail: `user${n}@example.com` }),
  },
  'the limit of the network': {
    times: limits.signInNetworkFailuresMax,
    like: (n) => ({ canonicalEmail: `user${n}@example.com`, clientIp: `2001:db8:0:${n.toString(16)}::1` }),
  },
};
for (const [what, { times, like }] of Object.entries(floods)) {
  onEachDatabase(`when ${what} is reached, a rejection costs no commit`, async ({ db }) => {
    const signInLimits = signInLimitsOn(db);
    for (const { status } of await severalAtOnce(times, (n) => signInLimits.reserve(like(n))))
      assert.equal(status, 'fulfilled');
    let commits = 0;
    db.times.observe = (operation) => void (operation === 'commit' && commits++);
    for (let n = 0; n < 5; n++) {
      await assert.rejects(signInLimits.reserve(attempt), (error) => codeOf(error) === 'too_many_attempts');
    }
    assert.equal(commits, 0);
    await signInLimits.reserve({ canonicalEmail: 'other@example.com', clientIp: '198.18.0.1' });
    assert.equal(commits, 1);
  });
}

onEachDatabase(
  'an IPv6 /48 has four times the limit of a range, without the ranges that have a configured limit',
  async ({ db }) => {
    const ipRangeLimits = [{ cidr: '2001:db8:0:f000::/64', failuresMax: 1_000 }];
    const signInLimits = signInLimitsOn(db, { ipRangeLimits });
    const from = (clientIp: string) => (n: number) =>
      signInLimits.reserve({ canonicalEmail: `${clientIp}${n}@example.com`, clientIp });
    assert.equal(limits.signInNetworkFailuresMax, 4 * limits.signInRangeFailuresMax);
    assert.deepEqual(outcomes(await severalAtOnce(500, from('2001:db8:0:f000::1'))), { undefined: 500 });
    for (let range = 1; range <= 4; range++) {
      const max = limits.signInRangeFailuresMax;
      assert.deepEqual(outcomes(await severalAtOnce(max, from(`2001:db8:0:${range}::1`))), { undefined: max });
    }
    await assert.rejects(from('2001:db8:0:5::1')(0), (error) => codeOf(error) === 'too_many_attempts');
    assert.deepEqual(outcomes(await severalAtOnce(1, from('2001:db8:0:f000::1'))), { undefined: 1 });
    await from('2001:db8:1::1')(0);
    await from('192.0.2.1')(0);
  },
);
