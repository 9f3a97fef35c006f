/** The limit on mail requests from all ranges, which a test over HTTP cannot reach in reasonable time. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { limits } from '@keyreeve/contract';
import { KeyedHash } from '../../../foundation/crypto/keyed-hash.ts';
import { DomainError } from '../../../foundation/errors.ts';
import { FakeClock } from '../../../../test-kit/fake-clock.ts';
import { databases } from '../../../../test-kit/new-db.ts';
import { tally } from '../../../../test-kit/store-on-each-database.ts';
import { SignInLimits, type SignInAttempt } from '../sign-in-limits.ts';
import { RequestLimits } from '../request-limits.ts';
import { decided, setCounter } from './sign-ins.ts';

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

    const send = (n: number) =>
      decided('too_many_requests', async () => {
        await (n % 2 ? requests.countReset(attemptOf(n)) : requests.countSignUp(attemptOf(n)));
        return 'accepted';
      });
    const sendMany = async (from: number, count: number) =>
      tally(await Promise.all(Array.from({ length: count }, (_, index) => send(from + index))));
    assert.equal((await sendMany(0, 24))['rejected'], undefined);
    const left = 36;
    await setCounter(opened.db, common.bucketHash.stored('["mail global"]'), max - left);
    const { accepted = 0, unknown = 0 } = await sendMany(24, 72);
    assert.ok(accepted <= left && accepted + unknown >= left, `${accepted} accepted, ${unknown} of unknown outcome`);

    common.clock.advance({ seconds: 60 });
    const elsewhere = { ...owner, clientIp: '192.0.2.8' };
    // One after the other: a rejection that the test does not await yet would end it.
    for (const kind of ['countSignUp', 'countReset'] as const) {
      await assert.rejects(requests[kind](elsewhere), (error) => {
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
