/** Limits on sign-ins stop guesses and do not lock the owner out. */
import assert from 'node:assert/strict';
import { limits } from '@keyreeve/contract';
import { Secret } from '../../../foundation/crypto/secret.ts';
import { goodPassword, newApp, operator, type Answered, type TestApp } from '../../../../test-kit/new-app.ts';
import { test, testOnBoth } from '../../../../test-kit/app-on-each-database.ts';
import {
  assertEmailLimited,
  assertLimited,
  attempt,
  behindProxy,
  email,
  home,
  otherIp,
  signIn,
} from './sign-in-attempts.ts';
import { setCounter } from './sign-ins.ts';

const hashed = (app: TestApp): number => app.service.services.hasher.stats.hashed;

/** Reaches the limit of the email. After one attempt, its counters get the values of as many attempts from other ranges. */
async function reachEmailLimit(app: TestApp, user: string): Promise<void> {
  assert.equal((await attempt(app, { email: user, from: otherIp(0) })).status, 401);
  const { rateLimitBucket } = app.installation.keys;
  for (const name of ['sign-in email', 'sign-in mailbox'])
    await setCounter(app.db, rateLimitBucket.stored(JSON.stringify([name, user])), limits.signInEmailFailuresMax);
  assert.equal((await attempt(app, { email: user, from: otherIp(limits.signInEmailFailuresMax) })).status, 429);
}

/** The next delays, in seconds. Advances the clock to the end of each. */
async function readDelays(app: TestApp, count: number): Promise<number[]> {
  const delays: number[] = [];
  while (delays.length < count) {
    const { status } = await attempt(app);
    assert.equal(status, 401);
    const rejected = await attempt(app);
    const seconds = Number(rejected.headers.get('retry-after'));
    assertLimited(rejected, seconds, { quota: 5 });
    app.clock.advance({ seconds: seconds - 1 });
    assertLimited(await attempt(app), 1, { quota: 5 });
    app.clock.advance({ seconds: 1 });
    delays.push(seconds);
  }
  return delays;
}

test(
  'after five failures the delay doubles from 1 second to 15 minutes, and nothing is hashed during a delay',
  { tags: ['asvs:2.4.1'] },
  async () => {
    await using app = await newApp();
    await app.createAccount(email);
    for (let n = 1; n < 5; n++) assert.equal((await attempt(app)).status, 401);
    const before = hashed(app);
    assert.deepEqual(await readDelays(app, 12), [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900]);
    assert.equal(hashed(app), before + 12);
  },
);

test('during a delay the right password is rejected, and after the delay it is accepted', async () => {
  await using app = await newApp();
  await app.createAccount(email);
  for (let n = 0; n < 5; n++) assert.equal((await attempt(app)).status, 401);
  assertLimited(await signIn(app), 1, { quota: 5 });
  app.clock.advance({ seconds: 1 });
  assert.equal((await signIn(app)).status, 200);
});

test('a trusted range has ten failures a minute, so nine failures do not lock the owner out', async () => {
  await using app = await newApp();
  await app.createAccount(email);
  assert.equal((await signIn(app)).status, 200);
  for (let minute = 0; minute < 3; minute++) {
    for (let n = 0; n < 10; n++) assert.equal((await attempt(app)).status, 401);
    app.clock.advance({ seconds: 59 });
    assertLimited(await signIn(app), 1, { quota: 10, windowSeconds: 60 }, 'the eleventh');
    app.clock.advance({ seconds: 1 });
  }
  for (let n = 0; n < 9; n++) assert.equal((await attempt(app)).status, 401);
  assert.equal((await signIn(app)).status, 200);
  // The count has started again.
  for (let n = 0; n < 10; n++) assert.equal((await attempt(app)).status, 401);
  assertLimited(await attempt(app), 60, { quota: 10, windowSeconds: 60 }, 'again');
});

for (const [what, user] of [
  ['an account', email],
  ['an email without an account', 'unknown@example.com'],
  ['a text that is no email address', 'unknown'],
] as const) {
  test(
    `of 105 consecutive wrong passwords from 105 ranges 100 are hashed: ${what}`,
    { tags: ['asvs:6.3.1', 'asvs:6.3.3'] },
    async () => {
      await using app = await newApp({ environment: behindProxy });
      await app.createAccount(email);
      const before = hashed(app);
      const answers: Answered[] = [];
      for (let n = 0; n < 105; n++) answers.push(await attempt(app, { email: user, from: otherIp(n) }));
      assert.deepEqual(
        answers.map(({ status }) => status),
        [...Array<number>(100).fill(401), ...Array<number>(5).fill(429)],
      );
      for (const answer of answers.slice(100)) assertEmailLimited(answer);
      assert.equal(hashed(app), before + 100);
    },
  );

  // The counters do not depend on the name, so one is enough on the second database.
  (user === email ? testOnBoth : test)(
    `of 150 concurrent wrong passwords from 150 ranges at most 100 are hashed: ${what}`,
    { tags: ['asvs:6.3.1'] },
    async () => {
      await using app = await newApp({ environment: behindProxy });
      await app.createAccount(email);
      const before = hashed(app);
      const answers = await Promise.all(
        Array.from({ length: 150 }, (_, n) => attempt(app, { email: user, from: otherIp(n) })),
      );
      const count = (status: number): number => answers.filter((answer) => answer.status === status).length;
      assert.equal(count(401), hashed(app) - before);
      assert.ok(count(401) <= 100 && count(401) > 0);
      assert.equal(count(401) + count(429) + count(503), 150);
    },
  );
}

test(
  'failures elsewhere do not lock the owner out of a range with a sign-in within 30 days',
  { tags: ['asvs:6.3.1'] },
  async () => {
    await using app = await newApp({ environment: behindProxy });
    await app.createAccount(email);
    assert.equal((await signIn(app, home)).status, 200);
    app.clock.advance({ days: 30 });
    await reachEmailLimit(app, email);
    assertEmailLimited(await signIn(app, otherIp(999)));
    assert.equal((await signIn(app, home)).status, 200);
  },
);

test('31 days after its last sign-in an address range is not trusted', async () => {
  await using app = await newApp({ environment: behindProxy });
  await app.createAccount(email);
  assert.equal((await signIn(app, home)).status, 200);
  app.clock.advance({ days: 31 });
  await reachEmailLimit(app, email);
  assertEmailLimited(await signIn(app, home));
});

test('an address range is trusted only for the email that signed in from it', async () => {
  await using app = await newApp({ environment: behindProxy });
  await app.createAccount(email);
  await app.createAccount('neighbour@example.com');
  assert.equal(
    (await attempt(app, { email: 'neighbour@example.com', password: goodPassword, from: home })).status,
    200,
  );
  await reachEmailLimit(app, email);
  assertEmailLimited(await signIn(app, home));
});

test('the right password of a disabled account is counted like a wrong one', async () => {
  await using app = await newApp();
  const { id } = await app.createAccount(email);
  await app.service.services.accounts.disable(operator, id);
  for (let n = 0; n < 5; n++) assert.equal((await signIn(app)).status, 401);
  assertLimited(await signIn(app), 1, { quota: 5 });
});

test('neither a sign-in of the owner nor a new password changes the count for untrusted ranges', async () => {
  await using app = await newApp({ environment: behindProxy });
  const { id } = await app.createAccount(email);
  assert.equal((await signIn(app, home)).status, 200);
  await reachEmailLimit(app, email);
  await reachEmailLimit(app, 'unknown@example.com');
  assert.equal((await signIn(app, home)).status, 200);
  const password = 'another velvet wombat 7';
  await app.service.services.accounts.setPassword(operator, id, new Secret(password));
  for (const user of [email, 'unknown@example.com'])
    assertEmailLimited(await attempt(app, { email: user, from: otherIp(500) }), user);
  app.clock.advance({ seconds: limits.signInEmailLeakSeconds });
  for (const user of [email, 'unknown@example.com']) {
    assert.equal((await attempt(app, { email: user, from: otherIp(500) })).status, 401, user);
    assertEmailLimited(await attempt(app, { email: user, from: otherIp(501) }), user);
  }
});

test('the address range of the former owner of an email is not trusted', async () => {
  await using app = await newApp({ environment: behindProxy });
  const { accounts } = app.service.services;
  const { id } = await app.createAccount(email);
  assert.equal((await signIn(app, home)).status, 200);
  await accounts.delete(operator, id);
  await app.createAccount(email);
  await reachEmailLimit(app, email);
  assertEmailLimited(await signIn(app, home));
});

test('the 61st successful sign-in in a minute is rejected, and untrusted clients do not observe it', async () => {
  await using app = await newApp({ environment: behindProxy });
  await app.createAccount(email);
  for (let n = 0; n < limits.signInsPerMinuteMax; n++) assert.equal((await signIn(app, home)).status, 200);
  const before = hashed(app);
  const rejected = await signIn(app, home);
  const perMinute = { quota: limits.signInsPerMinuteMax, windowSeconds: 60, policy: 'successful sign-ins' };
  assertLimited(rejected, 60, perMinute, 'the next');
  assert.equal((rejected.json as { title: string }).title, 'Too many sign-in attempts', 'none of them failed');
  const { text } = await app.call('GET', '/problems/too_many_attempts');
  assert.match(text, /signed in more than 60 times in a minute, or more than 2 of its attempts are in progress/);
  assert.equal(hashed(app), before, 'nothing was hashed');
  assert.equal((await attempt(app, { from: otherIp(1) })).status, 401);
  // In an untrusted range it is rejected after the check of the password.
  assertLimited(await signIn(app, otherIp(2)), 60, perMinute, 'from elsewhere');
  app.clock.advance({ seconds: 60 });
  assert.equal((await signIn(app, home)).status, 200);
});

test('after 100 failures over all emails a range is rejected for 15 minutes', { tags: ['asvs:2.4.1'] }, async () => {
  await using app = await newApp({ environment: behindProxy });
  await app.createAccount(email);
  const spray = (n: number): Promise<Answered> => attempt(app, { email: `user${n}@example.com`, from: home });
  for (let n = 0; n < limits.signInRangeFailuresMax; n++) assert.equal((await spray(n)).status, 401);
  app.clock.advance({ seconds: 100 });
  assertLimited(await spray(101), 800, { quota: 100 });
  assertLimited(await signIn(app, home), 800, { quota: 100 });
  assert.equal((await signIn(app, otherIp(0))).status, 200);
  app.clock.advance({ seconds: 800 });
  assert.equal((await signIn(app, home)).status, 200);
});

test('a range has the configured limit, and a right password is not counted', async () => {
  const environment = { ...behindProxy, KEYREEVE_SIGN_IN_RANGE_LIMITS: '192.0.2.0/29=3,192.0.2.8=102' };
  await using app = await newApp({ environment });
  for (let n = 0; n < 6; n++) {
    const { email: user } = await app.createAccount();
    assert.equal((await attempt(app, { email: user, password: goodPassword, from: home })).status, 200);
  }
  const spray = (n: number, from: string): Promise<Answered> => attempt(app, { email: `x${n}@example.com`, from });
  for (let n = 0; n < 3; n++) assert.equal((await spray(n, home)).status, 401);
  assertLimited(await spray(3, home), 900, { quota: 3 });
  for (let n = 0; n < 102; n++) assert.equal((await spray(n, '192.0.2.8')).status, 401);
  assertLimited(await spray(102, '192.0.2.8'), 900, { quota: 102 });
});

test('KEYREEVE_THROTTLE=off disables the limits on sign-ins, but not on mail, codes and guesses', async () => {
  await using app = await newApp({ environment: { KEYREEVE_THROTTLE: 'off' } });
  await app.createAccount(email);
  for (let n = 0; n <= limits.signInEmailFailuresMax; n++) assert.equal((await attempt(app)).status, 401);
  assert.equal((await signIn(app)).status, 200);
  const { requests, secondFactorLimits } = app.service.services;
  const request = { canonicalEmail: email, clientIp: home };
  for (const [max, code, count] of [
    [limits.resetsPerEmailMax, 'too_many_requests', () => requests.countReset(request)],
    [limits.signUpsPerEmailMax, 'too_many_requests', () => requests.countSignUp(request)],
    [limits.codeTriesMax, 'too_many_requests', () => requests.countCodeTry(Buffer.from('code'))],
    [limits.secondFactorFreeFailures, 'too_many_attempts', () => secondFactorLimits.reserve({ sessionId: 'ses_1' })],
  ] as const) {
    for (let n = 0; n < max; n++) await count();
    await assert.rejects(count(), { code });
  }
});
