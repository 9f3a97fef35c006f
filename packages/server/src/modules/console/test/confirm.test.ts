/** Confirmations: a recent proof of the owner, and a new secret. */
import assert from 'node:assert/strict';
import { limits, type SessionView } from '@keyreeve/contract';
import { problemCode } from '../../../../test-kit/administrators.ts';
import { test, testOnBoth } from '../../../../test-kit/app-on-each-database.ts';
import { codeAt, newEnrolledAccount, nextStep, wrongCode } from '../../../../test-kit/authenticator.ts';
import { ConsoleClient } from '../../../../test-kit/console-client.ts';
import { goodPassword, newApp } from '../../../../test-kit/new-app.ts';
import { rivalsMin, tally } from '../../../../test-kit/store-on-each-database.ts';
import { whenAvailable } from '../../../../test-kit/when-available.ts';

const wrong = 'velvet orbit wombat 24';

test('a confirmation renews the proof and replaces the secret', { tags: ['asvs:7.2.4', 'asvs:7.5.1'] }, async () => {
  await using app = await newApp();
  const client = new ConsoleClient(app);
  const { session } = await client.signIn((await app.createAccount()).email);
  const before = client.copy();
  app.clock.advance({ seconds: 3_600 });
  const answer = await client.confirm();
  assert.equal(answer.status, 200, answer.text);
  const now = new Date(app.clock.now()).toISOString();
  const { session: confirmed } = answer.json as SessionView;
  assert.deepEqual(confirmed, {
    ...session,
    authenticatedAt: now,
    idleExpiresAt: new Date(app.clock.now() + limits.consoleIdleSecondsMax * 1000).toISOString(),
  });
  assert.deepEqual((await client.session()).session, confirmed);
  assert.notEqual(client.cookie, before.cookie);
  assert.equal(await before.isSignedIn(), false);
  assert.equal(problemCode(await before.poll('/api/auth/account')), 'console_session_required');
});

test(
  'a wrong password confirms nothing, and counts as other checks of the session do',
  { tags: ['asvs:6.3.1'] },
  async () => {
    await using app = await newApp();
    const client = new ConsoleClient(app);
    await client.signIn((await app.createAccount()).email);
    const codes: (string | undefined)[] = [];
    for (let n = 0; n < limits.secondFactorFreeFailures; n++) {
      const json = { currentPassword: wrong, newPassword: 'a quiet harbour under seven moons' };
      const isOther = n % 2 === 0;
      codes.push(
        problemCode(
          await (isOther ? client.call('PUT', '/api/auth/account/password', { json }) : client.confirm(wrong)),
        ),
      );
    }
    assert.deepEqual(new Set(codes), new Set(['password_wrong']));
    await client.confirm(wrong);
    assert.equal(problemCode(await client.confirm()), 'too_many_attempts');
    assert.ok(await client.isSignedIn());
  },
);

test('with a second factor, a confirmation needs its code, and each code works once', async () => {
  await using app = await newApp();
  const { account, secret, recoveryCodes } = await newEnrolledAccount(app);
  const client = new ConsoleClient(app);
  await client.signIn(account.email, codeAt(secret, app.clock.now()));
  const missing = await client.confirm();
  assert.equal(problemCode(missing), 'second_factor_required');
  assert.equal(missing.headers.get('www-authenticate'), null);
  nextStep(app);
  const now = app.clock.now();
  assert.equal(problemCode(await client.confirm(goodPassword, wrongCode(secret, now))), 'second_factor_wrong');
  assert.equal((await client.confirm(goodPassword, codeAt(secret, now))).status, 200);
  assert.equal(problemCode(await client.confirm(goodPassword, codeAt(secret, now))), 'second_factor_wrong');
  assert.equal((await client.confirm(goodPassword, recoveryCodes[0])).status, 200);
  assert.equal(problemCode(await client.confirm(goodPassword, recoveryCodes[0])), 'second_factor_wrong');
});

testOnBoth('of concurrent confirmations with one cookie, one replaces the secret', async () => {
  await using app = await newApp({ areRequestsLimited: false, environment: { KEYREEVE_THROTTLE: 'off' } });
  const client = new ConsoleClient(app);
  const { session } = await client.signIn((await app.createAccount()).email);
  const rivals = Array.from({ length: rivalsMin }, () => client.copy());
  const codes = await Promise.all(rivals.map(async (rival) => problemCode(await whenAvailable(() => rival.confirm()))));
  const accepted = rivals.filter((_, index) => codes[index] === undefined);
  assert.equal(accepted.length, 1, JSON.stringify(tally(codes)));
  // Beyond the bound of requests in progress, a rival is rejected before it is processed.
  for (const code of codes)
    assert.ok([undefined, 'console_session_required', 'too_many_in_progress'].includes(code), code ?? '');
  assert.equal((await accepted[0]?.session())?.session.id, session.id);
  assert.equal(await client.isSignedIn(), false);
});
