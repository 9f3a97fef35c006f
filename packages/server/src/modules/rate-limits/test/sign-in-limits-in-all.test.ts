/** The limit on failed sign-ins from all ranges, which a test over HTTP cannot reach in reasonable time. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { limits } from '@keyreeve/contract';
import { KeyedHash } from '../../../foundation/crypto/keyed-hash.ts';
import { DomainError } from '../../../foundation/errors.ts';
import { FakeClock } from '../../../../test-kit/fake-clock.ts';
import { databases } from '../../../../test-kit/new-db.ts';
import { tally } from '../../../../test-kit/store-on-each-database.ts';
import { SignInLimits } from '../sign-in-limits.ts';
import { decided, setCounter } from './sign-ins.ts';

for (const [name, open] of Object.entries(databases)) {
  test(`after 3,000 failures only trusted address ranges may sign in for 15 minutes (${name})`, async () => {
    await using opened = await open();
    const clock = new FakeClock();
    const bucketHash = new KeyedHash(randomBytes(32));
    const signInLimits = new SignInLimits({ db: opened.db, clock, bucketHash, ipRangeLimits: [], enabled: true });
    const owner = { canonicalEmail: 'you@example.com', clientIp: '192.0.2.7' };
    await signInLimits.succeed(await signInLimits.reserve(owner));

    // Each email and each client IP once, far from the other limits.
    const flood = (from: number, count: number) =>
      Promise.all(
        Array.from({ length: count }, (_, index) => {
          const n = from + index;
          const attempt = { canonicalEmail: `user${n}@example.com`, clientIp: `10.0.${n >> 8}.${n & 255}` };
          return decided('too_many_attempts', async () => {
            await signInLimits.reserve(attempt);
            return 'reserved';
          });
        }),
      );
    const failuresMax = limits.signInGlobalFailuresMax;
    assert.equal(failuresMax, 3_000);
    assert.equal(tally(await flood(0, 100))['rejected'], undefined);
    const left = 50;
    await setCounter(opened.db, bucketHash.stored('["sign-in global"]'), failuresMax - left);
    const { reserved = 0, unknown = 0 } = tally(await flood(100, 100));
    assert.ok(reserved <= left && reserved + unknown >= left, `${reserved} reserved, ${unknown} of unknown outcome`);

    clock.advance({ seconds: 60 });
    const elsewhere = { ...owner, clientIp: '192.0.2.8' };
    await assert.rejects(signInLimits.reserve(elsewhere), (error) => {
      assert.ok(error instanceof DomainError);
      assert.equal(error.code, 'too_many_attempts');
      const rate = { policy: 'sign-ins', quota: failuresMax, windowSeconds: 900 };
      assert.deepEqual(error.options, { retryAfterSeconds: 840, rate });
      return true;
    });
    await signInLimits.reserve(owner);
    clock.advance({ seconds: 840 });
    await signInLimits.reserve(elsewhere);
  });
}
