/** Trusted address ranges protect the owner of an account, and other clients cannot observe them. */
import assert from 'node:assert/strict';
import { limits } from '@keyreeve/contract';
import type { Transaction } from '../../../foundation/database/db.ts';
import { DomainError } from '../../../foundation/errors.ts';
import { FakeClock } from '../../../../test-kit/fake-clock.ts';
import type { SignInLimits } from '../sign-in-limits.ts';
import { codeOf, onEachDatabase, outcomes, race, rivalsMin } from '../../../../test-kit/store-on-each-database.ts';
import { keys, now } from '../../../../test-kit/rows.ts';
import { readBuckets } from '../store.ts';
import { reserve, severalAtOnce, signIn, signInLimitsOn } from './sign-ins.ts';

const ada = (clientIp: string) => ({ canonicalEmail: 'ada@example.com', clientIp });
const clientIps = { thief: '192.0.2.66', owner: '192.0.2.1' };
/** The number of allowed attempts, up to the limit of trusted ranges. */
async function countAllowed(signInLimits: SignInLimits, client: keyof typeof clientIps): Promise<number> {
  let allowed = 0;
  for (; allowed < limits.signInTrustedPairFailuresMax; allowed++) {
    const isRejected = await signInLimits.reserve(ada(clientIps[client])).then(
      () => false,
      (error: unknown) => codeOf(error) === 'too_many_attempts',
    );
    if (isRejected) break;
  }
  return allowed;
}
type Clear = (signInLimits: SignInLimits, tx: Transaction, clientIp?: string) => Promise<void>;
const clearings: Readonly<Record<string, { readonly clear: Clear; readonly keepsResets: boolean }>> = {
  'a new password': {
    clear: (signInLimits, tx, clientIp) => signInLimits.clearTrustedRangesTx(tx, 'ada@example.com', clientIp),
    keepsResets: true,
  },
  'a new owner of the email': {
    clear: (signInLimits, tx, clientIp) => signInLimits.changeEmailOwnerTx(tx, 'ada@example.com', clientIp),
    keepsResets: false,
  },
};

for (const [what, { clear, keepsResets }] of Object.entries(clearings)) {
  onEachDatabase(
    `${what} clears the trusted address ranges, except the one of the client that made the change`,
    async ({ db }) => {
      const at = new FakeClock(now);
      const signInLimits = signInLimitsOn(db, { clock: at });
      const thief = ada(clientIps.thief);
      await signIn(signInLimits, thief, at.now());
      const startedAt = at.now();
      const late = await signInLimits.reserve(thief);
      at.advance({ seconds: 1 });
      await db.transaction((tx) => clear(signInLimits, tx, clientIps.owner));
      // The thief's password was checked before the change, and the sign-in ends after it.
      await signInLimits.succeed(late);
      // With a clock that is behind.
      await signIn(signInLimits, { ...thief, clientIp: clientIps.owner }, startedAt);
      assert.equal(await countAllowed(signInLimits, 'thief'), limits.signInPairFreeFailures);
      assert.equal(await countAllowed(signInLimits, 'owner'), limits.signInTrustedPairFailuresMax);
      assert.equal(await signInLimits.hasSignedInRecently(thief), keepsResets);
      at.advance({ days: 1 });
      await signIn(signInLimits, thief, at.now());
      assert.equal(await countAllowed(signInLimits, 'thief'), limits.signInTrustedPairFailuresMax);
    },
  );

  onEachDatabase(`${what} without a client clears all trusted address ranges at once`, async ({ db }) => {
    const signInLimits = signInLimitsOn(db);
    for (const clientIp of Object.values(clientIps)) await signIn(signInLimits, ada(clientIp));
    await db.transaction((tx) => clear(signInLimits, tx));
    for (const client of ['thief', 'owner'] as const)
      assert.equal(await countAllowed(signInLimits, client), limits.signInPairFreeFailures);
  });
}

onEachDatabase('a transaction that fails clears no trusted address range', async ({ db }) => {
  const signInLimits = signInLimitsOn(db);
  await signIn(signInLimits, ada(clientIps.owner));
  const failing = db.transaction(async (tx) => {
    await signInLimits.changeEmailOwnerTx(tx, 'ada@example.com');
    throw new DomainError('last_administrator');
  });
  await assert.rejects(failing, (error) => codeOf(error) === 'last_administrator');
  assert.equal(await countAllowed(signInLimits, 'owner'), limits.signInTrustedPairFailuresMax);
});

/** The results that a client in untrusted ranges gets until it is rejected. */
async function observed(signInLimits: SignInLimits, canonicalEmail: string): Promise<readonly unknown[]> {
  const results: unknown[] = [];
  for (let n = 0; n <= limits.signInEmailFailuresMax; n++) {
    const reserved = signInLimits.reserve({ canonicalEmail, clientIp: `198.51.100.${n}` });
    results.push(
      await reserved.then(
        () => 'allowed',
        (error: unknown) => (error instanceof DomainError ? error.options : error),
      ),
    );
  }
  return results;
}

for (const before of [0, 60, limits.signInEmailFailuresMax]) {
  onEachDatabase(
    `after ${before} failures untrusted clients get the same results with and without sign-ins of the owner`,
    async ({ db }) => {
      const signInLimits = signInLimitsOn(db);
      const home = { clientIp: clientIps.owner };
      for (const canonicalEmail of ['ada@example.com', 'unknown@example.com']) {
        if (canonicalEmail !== 'unknown@example.com') await signIn(signInLimits, { canonicalEmail, ...home });
        for (let n = 0; n < before; n++) await signInLimits.reserve({ canonicalEmail, clientIp: `203.0.113.${n}` });
      }
      await signIn(signInLimits, { canonicalEmail: 'ada@example.com', ...home });
      await db.transaction((tx) => signInLimits.clearTrustedRangesTx(tx, 'ada@example.com', home.clientIp));
      await db.transaction((tx) => signInLimits.changeEmailOwnerTx(tx, 'ada@example.com', home.clientIp));
      const account = await observed(signInLimits, 'ada@example.com');
      assert.deepEqual(account, await observed(signInLimits, 'unknown@example.com'));
      assert.equal(account.filter((one) => one === 'allowed').length, limits.signInEmailFailuresMax - before);
    },
  );
}

onEachDatabase('the count of an email falls by one every 36 seconds', async ({ db }) => {
  const at = new FakeClock(now);
  const signInLimits = signInLimitsOn(db, { clock: at });
  await observed(signInLimits, 'ada@example.com');
  const owner = ada('192.0.2.200');
  at.advance({ seconds: limits.signInEmailLeakSeconds - 1 });
  await assert.rejects(signInLimits.reserve(owner), (error) => codeOf(error) === 'too_many_attempts');
  at.advance({ seconds: 1 });
  await signInLimits.reserve(owner);
  await assert.rejects(signInLimits.reserve({ ...owner, clientIp: '192.0.2.201' }));
  at.advance({ seconds: 3_600 });
  const again = await observed(signInLimits, 'ada@example.com');
  assert.equal(again.filter((one) => one === 'allowed').length, limits.signInEmailFailuresMax);
});

onEachDatabase('failures from trusted ranges have separate counters with larger limits', async (opened) => {
  const rangeMax = limits.signInRangeFailuresMax * limits.signInTrustedFailuresFactor;
  const perEmail = limits.signInTrustedPairFailuresMax;
  const emails = rangeMax / perEmail + 2;
  const clientIp = clientIps.owner;
  const signInLimits = signInLimitsOn(opened.db);
  await severalAtOnce(emails, (n) => signIn(signInLimits, { canonicalEmail: `user${n}@example.com`, clientIp }));
  const settled = await severalAtOnce(emails * perEmail, (n) =>
    signInLimits.reserve({ canonicalEmail: `user${n % emails}@example.com`, clientIp }),
  );
  assert.deepEqual(outcomes(settled), { undefined: rangeMax, too_many_attempts: 2 * perEmail });
  // The counts of untrusted attempts are unchanged, in the same range too.
  await signInLimits.reserve({ canonicalEmail: 'new@example.com', clientIp });
  const counters = [['sign-in range', `${clientIp}/32`], ['sign-in global']].map((name) =>
    keys.rateLimitBucket.stored(JSON.stringify(name)),
  );
  assert.deepEqual(
    (await readBuckets(opened.db, counters)).map((bucket) => bucket?.count),
    [1, 1],
  );
});

onEachDatabase('concurrent attempts from a trusted range get exactly the limit', async (opened) => {
  await signIn(signInLimitsOn(opened.db), ada(clientIps.owner));
  const rivals = limits.signInTrustedPairFailuresMax + rivalsMin;
  const settled = await race(opened, rivals, (connection) => reserve(connection, 'ada@example.com', clientIps.owner));
  assert.deepEqual(outcomes(settled), {
    reserved: limits.signInTrustedPairFailuresMax,
    too_many_attempts: rivalsMin,
  });
});

onEachDatabase('of concurrent successful sign-ins exactly the limit per minute succeeds', async (opened) => {
  const rivals = limits.signInsPerMinuteMax + rivalsMin;
  const settled = await race(opened, rivals, async (connection, rival) => {
    // Not trusted: other clients must not notice that the account signs in often.
    const signInLimits = signInLimitsOn(connection);
    await signIn(signInLimits, ada(`192.0.2.${rival}`));
  });
  assert.deepEqual(outcomes(settled), {
    undefined: limits.signInsPerMinuteMax,
    too_many_attempts: rivalsMin,
  });
  // Only trusted ranges, here those of the successful sign-ins, get this rejection before the password check.
  const trusted = settled.findIndex(({ status }) => status === 'fulfilled');
  await assert.rejects(
    signInLimitsOn(opened.db).assess(ada(`192.0.2.${trusted}`)),
    (error) => codeOf(error) === 'too_many_attempts',
  );
  await signInLimitsOn(opened.db).assess(ada('203.0.113.1'));
});

/** Of the two clients of {@link clientIps}, those whose coarse range was trusted before a time. */
async function trustedBefore(signInLimits: SignInLimits, before: number): Promise<string[]> {
  const ranges = { '192.0.2.0/24': 'both', '198.51.100.0/24': 'elsewhere' };
  const trusted = await signInLimits.trustedBefore('ada@example.com', Object.keys(ranges), before);
  return Object.entries(ranges).flatMap(([range, name]) => (trusted.has(range) ? [name] : []));
}

onEachDatabase('a range was trusted before a time if a sign-in from it came before, within 30 days', async ({ db }) => {
  const at = new FakeClock(now);
  const signInLimits = signInLimitsOn(db, { clock: at });
  await signIn(signInLimits, ada(clientIps.owner), at.now());
  const first = at.now();
  at.advance({ days: 10 });
  for (const clientIp of [clientIps.thief, '198.51.100.7']) await signIn(signInLimits, ada(clientIp), at.now());
  assert.deepEqual(await trustedBefore(signInLimits, first), []);
  assert.deepEqual(await trustedBefore(signInLimits, first + 1), ['both']);
  assert.deepEqual(await trustedBefore(signInLimits, at.now() + 1), ['both', 'elsewhere']);
  const other = await signInLimits.trustedBefore('bob@example.com', ['192.0.2.0/24'], at.now() + 1);
  assert.deepEqual([...other], []);
  at.advance({ days: limits.signInOriginTrustDays + 1 });
  assert.deepEqual(await trustedBefore(signInLimits, at.now()), []);
  await signIn(signInLimits, ada(clientIps.owner), at.now());
  assert.deepEqual(await trustedBefore(signInLimits, at.now()), [], 'the range became trusted again only now');
});

onEachDatabase('a new password keeps since when its range is trusted, and other ranges begin again', async ({ db }) => {
  const at = new FakeClock(now);
  const signInLimits = signInLimitsOn(db, { clock: at });
  const elsewhere = '198.51.100.7';
  for (const clientIp of [clientIps.owner, elsewhere]) await signIn(signInLimits, ada(clientIp), at.now());
  at.advance({ days: 1 });
  await db.transaction((tx) => signInLimits.clearTrustedRangesTx(tx, 'ada@example.com', clientIps.owner));
  const cleared = at.now();
  at.advance({ days: 1 });
  const before = at.now();
  assert.deepEqual(await trustedBefore(signInLimits, before), ['both']);
  for (const clientIp of [clientIps.owner, elsewhere]) await signIn(signInLimits, ada(clientIp), at.now());
  assert.deepEqual(await trustedBefore(signInLimits, cleared), ['both']);
  assert.deepEqual(await trustedBefore(signInLimits, before), ['both']);
  at.advance({ days: 1 });
  assert.deepEqual(await trustedBefore(signInLimits, at.now()), ['both', 'elsewhere']);
  // A range that a new password has made untrusted begins again with the next password that is set there.
  await db.transaction((tx) => signInLimits.clearTrustedRangesTx(tx, 'ada@example.com', clientIps.owner));
  at.advance({ days: 1 });
  const set = at.now();
  await db.transaction((tx) => signInLimits.clearTrustedRangesTx(tx, 'ada@example.com', elsewhere));
  at.advance({ days: 1 });
  assert.deepEqual(await trustedBefore(signInLimits, set), ['both']);
});

onEachDatabase('a new owner of the email begins again with all ranges', async ({ db }) => {
  const at = new FakeClock(now);
  const signInLimits = signInLimitsOn(db, { clock: at });
  await signIn(signInLimits, ada(clientIps.owner), at.now());
  at.advance({ days: 1 });
  await db.transaction((tx) => signInLimits.changeEmailOwnerTx(tx, 'ada@example.com', clientIps.owner));
  const changed = at.now();
  at.advance({ days: 1 });
  assert.deepEqual(await trustedBefore(signInLimits, changed), []);
  assert.deepEqual(await trustedBefore(signInLimits, at.now()), ['both']);
});
