/** The limit on mail requests from all ranges, which a test over HTTP cannot reach in reasonable time. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { limits } from '@keyreeve/contract';
import { KeyedHash } from '../../../foundation/crypto/keyed-hash.ts';
import { DomainError } from '../../../foundation/errors.ts';
import { FakeClock } from '../../../../test-kit/fake-clock.ts';
import { databases } from '../../../../test-kit/new-db.ts';
import { SignInLimits, type SignInAttempt } from '../sign-in-limits.ts';
import { RequestLimits } from '../request-limits.ts';

/** Each email, each address range and each /48 once, far from the other limits. */
const attemptOf = (n: number): SignInAttempt => ({
  canonicalEmail: `user${n}@example.com`,
  clientIp: `2001:db8:${n.toString(16)}::1`,
});
const max = limits.mailRequestsGlobalMax;
const windowSeconds = limits.mailRequestsGlobalWindowSeconds;

for (const [name, open] of Object.entries(databases)) {
  test(`a botnet causes at most 1,000 mails in 15 minutes, and an owner in a trusted range gets a reset (${name})`, async () => {
    await using opened = await open();
    const common = { db: opened.db, clock: new FakeClock(), bucketHash: new KeyedHash(randomBytes(32)) };
    const signInLimits = new SignInLimits({ ...common, ipRangeLimits: [], enabled: true });
    const requests = new RequestLimits({ ...common, signInLimits, ipRangeLimits: [] });
    const owner = { canonicalEmail: 'you@example.com', clientIp: '192.0.2.7' };
    await signInLimits.succeed(await signInLimits.reserve(owner));

    const send = (n: number) => (n % 2 ? requests.countReset(attemptOf(n)) : requests.countSignUp(attemptOf(n)));
    let accepted = 0;
    for (let from = 0; from < max + 48; from += 24) {
      const settled = await Promise.allSettled(Array.from({ length: 24 }, (_, index) => send(from + index)));
      accepted += settled.filter(({ status }) => status === 'fulfilled').length;
    }
    assert.equal(accepted, max);

    common.clock.advance({ seconds: 60 });
    const elsewhere = { ...owner, clientIp: '192.0.2.8' };
    for (const count of [requests.countSignUp(elsewhere), requests.countReset(elsewhere)]) {
      await assert.rejects(count, (error) => {
        assert.ok(error instanceof DomainError);
        assert.equal(error.code, 'too_many_requests');
        const rate = { policy: 'mail', quota: max, windowSeconds };
        assert.deepEqual(error.options, { retryAfterSeconds: windowSeconds - 60, rate });
        return true;
      });
    }
    await requests.countReset(owner);
    common.clock.advance({ seconds: windowSeconds - 60 });
    await requests.countReset(elsewhere);
    await requests.countSignUp(elsewhere);
  });
}
