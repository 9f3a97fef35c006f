/** What an account's owner keeps from trusted address ranges, and what strangers elsewhere observe of it: nothing. */
import assert from 'node:assert/strict';
import { limits } from '@keyreeve/contract';
import type { Transaction } from '../../../foundation/database/db.ts';
import { DomainError } from '../../../foundation/errors.ts';
import { FakeClock } from '../../../../test-kit/fake-clock.ts';
import { SignInLimits } from '../sign-in-limits.ts';
import { codeOf, onEachDatabase, outcomes, race, rivalsMin } from '../../../../test-kit/store-on-each-database.ts';
import { keys, now } from '../../../../test-kit/rows.ts';
import { reserve, severalAtOnce, signIn, signInLimitsOn } from './sign-ins.ts';

const places = { thief: '192.0.2.66', owner: '192.0.2.1' };
/** How many tries of more than anybody unknown has are let through. */
async function triesFrom(signInLimits: SignInLimits, place: keyof typeof places): Promise<number> {
  let tries = 0;
  for (; tries < limits.loginKnownPairFailuresMax; tries++) {
    const isRefused = await signInLimits.reserve({ canonicalEmail: 'ada@example.com', clientIp: places[place] }).then(
      () => false,
      (error: unknown) => codeOf(error) === 'too_many_attempts',
    );
    if (isRefused) break;
  }
  return tries;
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
      const options = { db, clock: at, bucketHash: keys.throttleBucket, ipRangeLimits: [], enabled: true };
      const signInLimits = new SignInLimits(options);
      const thief = { canonicalEmail: 'ada@example.com', clientIp: places.thief };
      await signIn(signInLimits, thief, at.now());
      const startedAt = at.now();
      const late = await signInLimits.reserve(thief);
      at.advance({ seconds: 1 });
      await db.transaction((tx) => clear(signInLimits, tx, places.owner));
      // The thief's password was checked before the change, and the sign-in ends after it.
      await signInLimits.succeed(late);
      // By a clock that is behind.
      await signIn(signInLimits, { ...thief, clientIp: places.owner }, startedAt);
      assert.equal(await triesFrom(signInLimits, 'thief'), limits.loginPairFreeFailures);
      assert.equal(await triesFrom(signInLimits, 'owner'), limits.loginKnownPairFailuresMax);
      assert.equal(await signInLimits.hasSignedInRecently(thief), keepsResets);
      at.advance({ days: 1 });
      await signIn(signInLimits, thief, at.now());
      assert.equal(await triesFrom(signInLimits, 'thief'), limits.loginKnownPairFailuresMax);
    },
  );

  onEachDatabase(`${what} without a client clears every trusted address range, in the same moment`, async ({ db }) => {
    const signInLimits = signInLimitsOn(db);
    for (const clientIp of Object.values(places))
      await signIn(signInLimits, { canonicalEmail: 'ada@example.com', clientIp });
    await db.transaction((tx) => clear(signInLimits, tx));
    for (const place of ['thief', 'owner'] as const)
      assert.equal(await triesFrom(signInLimits, place), limits.loginPairFreeFailures);
  });
}

onEachDatabase('a transaction that fails clears no trusted address range', async ({ db }) => {
  const signInLimits = signInLimitsOn(db);
  await signIn(signInLimits, { canonicalEmail: 'ada@example.com', clientIp: places.owner });
  const failing = db.transaction(async (tx) => {
    await signInLimits.changeEmailOwnerTx(tx, 'ada@example.com');
    throw new DomainError('last_administrator');
  });
  await assert.rejects(failing, (error) => codeOf(error) === 'last_administrator');
  assert.equal(await triesFrom(signInLimits, 'owner'), limits.loginKnownPairFailuresMax);
});

/** What a client elsewhere observes: how many failures are let through, and what it is told then. */
async function observed(signInLimits: SignInLimits, canonicalEmail: string): Promise<readonly unknown[]> {
  const seen: unknown[] = [];
  for (let n = 0; n <= limits.loginEmailFailuresMax; n++) {
    const reserved = signInLimits.reserve({ canonicalEmail, clientIp: `198.51.100.${n}` });
    seen.push(
      await reserved.then(
        () => 'let through',
        (error: unknown) => (error instanceof DomainError ? error.options : error),
      ),
    );
  }
  return seen;
}

for (const before of [0, 60, limits.loginEmailFailuresMax]) {
  onEachDatabase(
    `what strangers observe of an email after ${before} failures doesn’t depend on sign-ins and new passwords elsewhere`,
    async ({ db }) => {
      const signInLimits = signInLimitsOn(db);
      const home = { clientIp: places.owner };
      for (const canonicalEmail of ['ada@example.com', 'nobody@example.com']) {
        if (canonicalEmail !== 'nobody@example.com') await signIn(signInLimits, { canonicalEmail, ...home });
        for (let n = 0; n < before; n++) await signInLimits.reserve({ canonicalEmail, clientIp: `203.0.113.${n}` });
      }
      await signIn(signInLimits, { canonicalEmail: 'ada@example.com', ...home });
      await db.transaction((tx) => signInLimits.clearTrustedRangesTx(tx, 'ada@example.com', home.clientIp));
      await db.transaction((tx) => signInLimits.changeEmailOwnerTx(tx, 'ada@example.com', home.clientIp));
      const account = await observed(signInLimits, 'ada@example.com');
      assert.deepEqual(account, await observed(signInLimits, 'nobody@example.com'));
      assert.equal(account.filter((one) => one === 'let through').length, limits.loginEmailFailuresMax - before);
    },
  );
}

onEachDatabase('what strangers fill falls by one every 36 seconds, by time alone', async ({ db }) => {
  const at = new FakeClock(now);
  const options = { db, clock: at, bucketHash: keys.throttleBucket, ipRangeLimits: [], enabled: true };
  const signInLimits = new SignInLimits(options);
  await observed(signInLimits, 'ada@example.com');
  const owner = { canonicalEmail: 'ada@example.com', clientIp: '192.0.2.200' };
  at.advance({ seconds: limits.loginEmailLeakSeconds - 1 });
  await assert.rejects(signInLimits.reserve(owner), (error) => codeOf(error) === 'too_many_attempts');
  at.advance({ seconds: 1 });
  await signInLimits.reserve(owner);
  await assert.rejects(signInLimits.reserve({ ...owner, clientIp: '192.0.2.201' }));
  at.advance({ seconds: 3_600 });
  const again = await observed(signInLimits, 'ada@example.com');
  assert.equal(again.filter((one) => one === 'let through').length, limits.loginEmailFailuresMax);
});

onEachDatabase('failures from trusted ranges count in a larger window of their own, which rejects', async (opened) => {
  const rangeMax = limits.loginAddressFailuresMax * limits.loginTrustedFailuresFactor;
  const perEmail = limits.loginKnownPairFailuresMax;
  const emails = rangeMax / perEmail + 2;
  const clientIp = places.owner;
  const signInLimits = signInLimitsOn(opened.db);
  await severalAtOnce(emails, (n) => signIn(signInLimits, { canonicalEmail: `user${n}@example.com`, clientIp }));
  const settled = await severalAtOnce(emails * perEmail, (n) =>
    signInLimits.reserve({ canonicalEmail: `user${n % emails}@example.com`, clientIp }),
  );
  assert.deepEqual(outcomes(settled), { undefined: rangeMax, too_many_attempts: 2 * perEmail });
  // Newcomers, in the same range too, have what they had.
  await signInLimits.reserve({ canonicalEmail: 'new@example.com', clientIp });
  const elsewhere = await severalAtOnce(limits.loginGlobalFailuresMax - 1, (n) =>
    signInLimits.reserve({ canonicalEmail: `new${n}@example.com`, clientIp: `10.0.${n >> 8}.${n & 255}` }),
  );
  assert.deepEqual(outcomes(elsewhere), { undefined: limits.loginGlobalFailuresMax - 1 });
});

onEachDatabase('a burst from a trusted range gets exactly its limit', async (opened) => {
  await signIn(signInLimitsOn(opened.db), { canonicalEmail: 'ada@example.com', clientIp: places.owner });
  const rivals = limits.loginKnownPairFailuresMax + rivalsMin;
  const settled = await race(opened, rivals, (connection) => reserve(connection, 'ada@example.com', places.owner));
  assert.deepEqual(outcomes(settled), {
    reserved: limits.loginKnownPairFailuresMax,
    too_many_attempts: rivalsMin,
  });
});

onEachDatabase('of many successful sign-ins at once exactly the limit of a minute is let through', async (opened) => {
  const rivals = limits.signInsPerMinuteMax + rivalsMin;
  const settled = await race(opened, rivals, async (connection, rival) => {
    // Not trusted: strangers must not notice that the account signs in often.
    const signInLimits = signInLimitsOn(connection);
    await signIn(signInLimits, { canonicalEmail: 'ada@example.com', clientIp: `192.0.2.${rival}` });
  });
  assert.deepEqual(outcomes(settled), {
    undefined: limits.signInsPerMinuteMax,
    too_many_attempts: rivalsMin,
  });
  // The limit shows from ranges that are trusted, those of the successful sign-ins.
  const trusted = settled.findIndex(({ status }) => status === 'fulfilled');
  await assert.rejects(
    signInLimitsOn(opened.db).assess({ canonicalEmail: 'ada@example.com', clientIp: `192.0.2.${trusted}` }),
    (error) => codeOf(error) === 'too_many_attempts',
  );
  await signInLimitsOn(opened.db).assess({ canonicalEmail: 'ada@example.com', clientIp: '203.0.113.1' });
});
