/** Password reset: a code from the account's mailbox sets the password. Responses do not show whether an account exists. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { limits } from '@keyreeve/contract';
import { Sealer } from '../../../foundation/crypto/seal.ts';
import { Outbox } from '../../outbox/outbox.ts';
import { listAuditEvents } from '../../../../test-kit/audit-log.ts';
import { basic, bearer, goodPassword, newApp } from '../../../../test-kit/new-app.ts';
import { until } from '../../../../test-kit/until.ts';
import {
  assertRejected,
  newAccountClient,
  otherPassword,
  type AccountClient,
} from '../../../../test-kit/account-client.ts';
import { test, testOnBoth } from '../../../../test-kit/app-on-each-database.ts';
import { whenAvailable } from '../../../../test-kit/when-available.ts';

const email = 'ada@example.com';
const behindProxy = { KEYREEVE_TRUSTED_PROXIES: '127.0.0.1,::1' };

test(
  'a reset sets the password, ends every session, returns no token, and lists the API keys, which it keeps',
  { tags: ['asvs:6.4.3', 'asvs:7.4.3'] },
  async () => {
    await using client = await newAccountClient();
    const sessions = [await client.newAccount(email), await client.signIn(email)] as const;
    const key = await client.createKey(sessions[0], 'billing worker');
    const requested = await client.post('/auth/password-resets', { email });
    assert.equal(requested.status, 202);
    const mail = await client.mailbox.next({ subject: 'Set a new password' });
    assert.ok(mail.text.includes('billing worker'), 'the mail lists the keys');
    const code = /#(krvc_\w+)/.exec(mail.text)?.[1] ?? '';

    const answer = await client.confirmReset(code);
    assert.equal(answer.status, 200, answer.text);
    const { message, apiKeys } = answer.json as { message: string; apiKeys: Record<string, unknown>[] };
    assert.equal(typeof message, 'string');
    assert.deepEqual(
      apiKeys.map(({ id, nickname, ...times }) => [id, nickname, Object.keys(times)]),
      [[key.id, 'billing worker', ['createdAt', 'updatedAt']]],
    );
    assert.ok(!answer.text.includes('eyJ') && !answer.text.includes('krv'), 'no token and no secret');
    for (const session of sessions) {
      assert.equal(await client.isSignedIn(session), false);
      const refreshed = await client.post('/auth/token/refresh', { refreshToken: session.refreshToken });
      assertRejected(refreshed, 'invalid_refresh_token');
    }
    assertRejected(await client.trySignIn(email), 'invalid_credentials');
    await client.signIn(email, otherPassword);
    assert.equal(await client.isKeyAccepted(key.key), true);
    const notice = await client.mailbox.next({ to: email, subject: /password.*was changed/ });
    assert.ok(notice.text.includes('billing worker'));
  },
);

test('a reset that deletes the API keys responds after it has deleted them all', async () => {
  await using client = await newAccountClient();
  const tokens = await client.newAccount(email);
  const keys = [await client.createKey(tokens, 'one'), await client.createKey(tokens, 'two')];
  const other = await client.createKey(await client.newAccount('bob@example.com'));
  const answer = await client.confirmReset(await client.resetCode(email), otherPassword, { revokeKeys: true });
  assert.deepEqual([answer.status, (answer.json as { apiKeys: unknown[] }).apiKeys], [200, []]);
  for (const { key } of keys) assert.equal(await client.isKeyAccepted(key), false);
  assert.equal(await client.isKeyAccepted(other.key), true);
  const deleted = (await listAuditEvents(client.app.db)).filter(({ action }) => action === 'api_key.deleted');
  assert.deepEqual(
    new Set(deleted.map(({ actor, target }) => `${actor} ${target ?? ''}`)),
    new Set(keys.map(({ id }) => `mailbox ${id}`)),
  );
});

test('active, disabled and unknown email addresses get the same response, and only the first gets mail', async () => {
  await using client = await newAccountClient();
  const { app } = client;
  await client.newAccount(email);
  await client.untilOutboxEmpty();
  const { id } = await app.createAccount('off@example.com');
  await app.service.services.accounts.disable({ kind: 'operator' }, id);
  const answers = [];
  for (const requested of [email, 'off@example.com', 'unknown@example.com']) {
    const { status, text } = await client.post('/auth/password-resets', { email: requested });
    answers.push({ status, text });
  }
  assert.deepEqual(answers, [answers[0], answers[0], answers[0]]);
  await client.untilOutboxEmpty();
  assert.deepEqual(
    client.mailbox.unread.map(({ to }) => to),
    [[email]],
  );
});

test(
  'a reset code works once, for ten minutes; a rejected password does not use it up',
  { tags: ['asvs:6.4.3', 'asvs:6.5.5'] },
  async () => {
    await using client = await newAccountClient();
    await client.newAccount(email);
    const late = await client.resetCode(email);
    client.app.clock.advance({ seconds: 600 });
    assertRejected(await client.confirmReset(late), 'code_invalid');
    const code = await client.resetCode(email);
    client.app.clock.advance({ seconds: 600 - 1 });
    assertRejected(await client.confirmReset(code, 'too short'), 'password_too_short');
    assertRejected(await client.confirmReset(code, 'ada ada example ada'), 'password_context');
    assert.equal((await client.confirmReset(code)).status, 200);
    assertRejected(await client.confirmReset(code), 'code_invalid');
  },
);

testOnBoth('one of sixteen concurrent resets with the newest code or the one before sets the password', async () => {
  await using client = await newAccountClient({ KEYREEVE_THROTTLE: 'off' }, false);
  await client.newAccount(email);
  const codes = [await client.resetCode(email), await client.resetCode(email)];
  const passwords = Array.from({ length: 16 }, (_, n) => `${otherPassword} ${n}`);
  const answers = await Promise.all(
    passwords.map((password, n) => whenAvailable(() => client.confirmReset(codes[n % 2] ?? '', password))),
  );
  const done = passwords.filter((_, n) => answers[n]?.status === 200);
  assert.equal(done.length, 1);
  for (const answer of answers.filter(({ status }) => status !== 200)) assertRejected(answer, 'code_invalid');
  await client.signIn(email, done[0]);
});

test('a reset invalidates every other one-time code, and fails if the account has been disabled', async () => {
  await using client = await newAccountClient();
  const tokens = await client.newAccount(email);
  const code = await client.resetCode(email);
  const change = await client.requestEmailChange(tokens, 'new@example.com');
  assert.equal((await client.confirmReset(code)).status, 200);
  assertRejected(await client.confirmEmailChange(change, otherPassword), 'code_invalid');

  const third = await client.resetCode(email);
  const { accounts } = client.app.service.services;
  await accounts.disable({ kind: 'operator' }, (await accounts.find(email)).id);
  assertRejected(await client.confirmReset(third), 'code_invalid');
});

test('a newer reset code replaces the older one', async () => {
  await using client = await newAccountClient();
  await client.newAccount(email);
  const [older, newer] = [await client.resetCode(email), await client.resetCode(email)];
  assertRejected(await client.confirmReset(older), 'code_invalid');
  assert.equal((await client.confirmReset(newer)).status, 200);
});

test('a reset keeps the second factor', { tags: ['asvs:6.3.4', 'asvs:6.4.3'] }, async () => {
  await using client = await newAccountClient();
  const tokens = await client.newAccount(email);
  await client.enrol(tokens);
  assert.equal((await client.confirmReset(await client.resetCode(email))).status, 200);
  assertRejected(await client.trySignIn(email, otherPassword), 'second_factor_required');
});

test('after a reset the owner can sign in from the same address range, despite failed sign-ins of others', async () => {
  await using client = await newAccountClient({ ...behindProxy });
  await client.newAccount(email);
  const code = await client.resetCode(email);
  for (let n = 0; n < limits.signInEmailFailuresMax; n++) {
    const headers = { 'x-forwarded-for': `198.51.${100 + (n >> 8)}.${n & 255}` };
    await client.app.call('POST', '/auth/token', {
      headers: { ...headers, authorization: `Basic ${Buffer.from(`${email}:wrong`).toString('base64')}` },
    });
  }
  const untrusted = { 'x-forwarded-for': '203.0.113.77' };
  const authorization = `Basic ${Buffer.from(`${email}:${otherPassword}`).toString('base64')}`;
  const rejected = await client.app.call('POST', '/auth/token', { headers: { ...untrusted, authorization } });
  assertRejected(rejected, 'too_many_attempts');
  const password = otherPassword;
  assert.equal((await client.post('/auth/password-resets/confirm', { code, password }, '203.0.113.78')).status, 200);
  const signedIn = await client.app.call('POST', '/auth/token', {
    headers: { 'x-forwarded-for': '203.0.113.78', authorization },
  });
  assert.equal(signedIn.status, 200, signedIn.text);
  const elsewhere = await client.app.call('POST', '/auth/token', { headers: { ...untrusted, authorization } });
  assertRejected(elsewhere, 'too_many_attempts', 'the limit for other ranges is unchanged');
});

const guessFrom = (client: AccountClient, from: string) =>
  client.app.call('POST', '/auth/token', { headers: { ...basic(email, 'wrong'), 'x-forwarded-for': from } });

for (const what of ['a reset', 'a change'] as const) {
  test(`after ${what} of a stolen password, the thief’s address range is untrusted and the owner’s is trusted`, async () => {
    await using client = await newAccountClient(behindProxy);
    const tokens = await client.newAccount(email);
    const code = await client.resetCode(email);
    const [thief, owner] = ['203.0.113.66', '203.0.113.77'];
    const headers = { ...basic(email, goodPassword), 'x-forwarded-for': thief };
    assert.equal((await client.app.call('POST', '/auth/token', { headers })).status, 200);
    client.app.clock.advance({ seconds: 1 });
    const answer =
      what === 'a reset'
        ? await client.post('/auth/password-resets/confirm', { code, password: otherPassword }, owner)
        : await client.app.call('PUT', '/auth/account/password', {
            headers: { ...bearer(tokens.accessToken), 'x-forwarded-for': owner },
            json: { currentPassword: goodPassword, newPassword: otherPassword },
          });
    assert.equal(answer.status, 200, answer.text);
    for (let n = 0; n < limits.signInPairFreeFailures; n++)
      for (const from of [thief, owner]) assertRejected(await guessFrom(client, from), 'invalid_credentials');
    assertRejected(await guessFrom(client, thief), 'too_many_attempts');
    assertRejected(await guessFrom(client, owner), 'invalid_credentials');
  });
}

/** Sends 64 concurrent requests. Repeats them an hour later if a busy database made the server answer 503 to some. */
async function requestConcurrently(client: AccountClient, to: string): Promise<number> {
  for (let round = 0; round < 10; round++) {
    const before = client.mailbox.messages.length;
    const answers = await Promise.all(
      Array.from({ length: 64 }, (_, n) => client.post('/auth/password-resets', { email: to }, `198.51.100.${n}`)),
    );
    await client.untilOutboxEmpty();
    const accepted = answers.filter(({ status }) => status === 202).length;
    assert.ok(accepted <= limits.resetsPerEmailMax, `${accepted} for ${to}`);
    if (!answers.some(({ status }) => status === 503)) {
      assert.equal(accepted, limits.resetsPerEmailMax, to);
      for (const answer of answers.filter(({ status }) => status !== 202)) assertRejected(answer, 'too_many_requests');
      return client.mailbox.messages.length - before;
    }
    client.app.clock.advance({ seconds: limits.mailRequestWindowSeconds });
  }
  throw new Error('the server answered 503 in every round');
}

test(
  'resets are limited to three per hour and email address, with an account or not; a trusted range has three more',
  { tags: ['asvs:2.3.2'] },
  async () => {
    await using client = await newAccountClient(behindProxy);
    await client.newAccount(email);
    await client.untilOutboxEmpty();
    for (const to of ['unknown@example.com', email]) {
      const mails = await requestConcurrently(client, to);
      // A request that a later one has replaced before its mail was handed over sends none.
      assert.ok(to === email ? mails > 0 && mails <= limits.resetsPerEmailMax : mails === 0, String(mails));
    }
    // The owner has signed in from this range, so it is trusted.
    for (let n = 0; n < limits.resetsPerEmailMax; n++)
      assert.equal((await client.post('/auth/password-resets', { email })).status, 202);
    const rejected = await client.post('/auth/password-resets', { email });
    assertRejected(rejected, 'too_many_requests');
    assert.equal(rejected.headers.get('retry-after'), String(limits.mailRequestWindowSeconds));
    client.app.clock.advance({ seconds: limits.mailRequestWindowSeconds });
    assert.equal((await client.post('/auth/password-resets', { email }, '198.51.100.7')).status, 202);
  },
);

test('attempts with one reset code are limited, so that rejected passwords cannot cause many hashes', async () => {
  await using client = await newAccountClient();
  await client.newAccount(email);
  const code = await client.resetCode(email);
  for (let n = 0; n < limits.codeTriesMax; n++)
    assertRejected(await client.confirmReset(code, 'short'), 'password_too_short');
  assertRejected(await client.confirmReset(code), 'too_many_requests');
});

test('an installation without mail rejects requests that need mail', async () => {
  await using app = await newApp();
  for (const path of ['/auth/password-resets', '/auth/accounts/verify/resend'])
    assertRejected(await app.call('POST', path, { json: { email } }), 'mail_not_configured');
});

test('a reset request for an email address without an account runs the same jobs and sends no mail', async () => {
  await using client = await newAccountClient();
  await client.app.createAccount(email);
  const { outbox } = client.app.service.services;
  const done = (kind: string): number => outbox.counts.get(kind)?.done ?? 0;
  const jobsOf = async (to: string) => {
    const counts = (): [number, number] => [done('password_reset'), done('mail') + done('decoy')];
    const [resets, mails] = counts();
    assert.equal((await client.post('/auth/password-resets', { email: to })).status, 202);
    // A job is counted after its row has been deleted.
    await until('both jobs are counted', () => counts()[0] > resets && counts()[1] > mails);
    await client.untilOutboxEmpty();
    return [counts()[0] - resets, counts()[1] - mails];
  };
  assert.deepEqual(await jobsOf(email), [1, 1]);
  assert.deepEqual(await jobsOf('unknown@example.com'), [1, 1]);
  assert.deepEqual([done('mail'), done('decoy'), client.mailbox.messages.length], [1, 1, 1]);
});

test('a job from an unauthenticated request is due after a random delay', async () => {
  const now = 1_800_000_000_000;
  const clock = { now: () => now };
  const delayMsMax = limits.requestedMailDelayMsMax;
  const seal = new Sealer(randomBytes(32));
  await using app = await newApp();
  const outbox = new Outbox({ db: app.db, clock, seal, delayMsMax });
  const delays = Array.from({ length: 200 }, () => {
    const row = outbox.prepare('password_reset', 'account-life', {});
    assert.equal(row.dueAt, now);
    return outbox.delayed(row).dueAt - now;
  });
  assert.ok(delays.every((ms) => ms >= 0 && ms <= delayMsMax));
  // The probability that 200 uniform draws all fall into one half is 1 in 2^199.
  assert.ok(delays.some((ms) => ms < delayMsMax / 2) && delays.some((ms) => ms > delayMsMax / 2));
});
