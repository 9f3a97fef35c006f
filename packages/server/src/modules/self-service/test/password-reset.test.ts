/** A forgotten password: the mailbox is the proof, sessions end, and nobody learns who has an account. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { limits } from '@keyreeve/contract';
import { Sealer } from '../../../foundation/crypto/seal.ts';
import { Outbox } from '../../outbox/outbox.ts';
import { listAuditEvents } from '../../../../test-kit/audit-trail.ts';
import { basic, bearer, goodPassword, newApp } from '../../../../test-kit/new-app.ts';
import { until } from '../../../../test/revocation-check/until.ts';
import {
  assertRejected,
  newAccountClient,
  otherPassword,
  type AccountClient,
} from '../../../../test-kit/account-client.ts';
import { test } from '../../../../test-kit/app-on-each-database.ts';

const email = 'ada@example.com';
const behindProxy = { KEYREEVE_TRUSTED_PROXIES: '127.0.0.1,::1' };

test(
  'a reset sets the password, ends every session, signs nobody in, and leaves the keys that it lists',
  { tags: ['asvs:6.4.3', 'asvs:7.4.3'] },
  async () => {
    await using client = await newAccountClient();
    const sessions = [await client.newAccount(email), await client.signIn(email)] as const;
    const key = await client.createKey(sessions[0], 'billing worker');
    const asked = await client.post('/auth/password-resets', { email });
    assert.equal(asked.status, 202);
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
    const told = await client.mailbox.next({ to: email, subject: /password.*was changed/ });
    assert.ok(told.text.includes('billing worker'));
  },
);

test('a reset that revokes the keys has deleted them all when it is answered', async () => {
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

test('a known, an unknown and a disabled email get the same answer, and only the first gets mail', async () => {
  await using client = await newAccountClient();
  const { app } = client;
  await client.newAccount(email);
  await client.untilOutboxEmpty();
  const { id } = await app.createAccount('off@example.com');
  await app.service.services.accounts.disable({ kind: 'operator' }, id);
  const answers = [];
  for (const address of [email, 'off@example.com', 'nobody@example.com']) {
    const { status, text } = await client.post('/auth/password-resets', { email: address });
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
  'a code is good once and for ten minutes, and a refused password doesn’t use it up',
  { tags: ['asvs:6.4.3', 'asvs:6.5.5'] },
  async () => {
    await using client = await newAccountClient();
    await client.newAccount(email);
    const late = await client.resetCode(email);
    client.app.clock.advance({ seconds: limits.resetCodeSeconds });
    assertRejected(await client.confirmReset(late), 'code_invalid');
    const code = await client.resetCode(email);
    client.app.clock.advance({ seconds: limits.resetCodeSeconds - 1 });
    assertRejected(await client.confirmReset(code, 'too short'), 'password_too_short');
    assertRejected(await client.confirmReset(code, 'ada ada example ada'), 'password_context');
    assert.equal((await client.confirmReset(code)).status, 200);
    assertRejected(await client.confirmReset(code), 'code_invalid');
  },
);

test('of sixteen resets at once, with the newest code or the one before, one sets the password', async () => {
  await using client = await newAccountClient({ KEYREEVE_THROTTLE: 'off' }, false);
  await client.newAccount(email);
  const codes = [await client.resetCode(email), await client.resetCode(email)];
  const passwords = Array.from({ length: 16 }, (_, n) => `${otherPassword} ${n}`);
  const answers = await Promise.all(passwords.map((password, n) => client.confirmReset(codes[n % 2] ?? '', password)));
  const done = passwords.filter((_, n) => answers[n]?.status === 200);
  assert.equal(done.length, 1);
  for (const answer of answers.filter(({ status }) => status !== 200)) assertRejected(answer, 'code_invalid');
  await client.signIn(email, done[0]);
});

test('a reset makes every other code void, and the account that was disabled meanwhile is not reset', async () => {
  await using client = await newAccountClient();
  const tokens = await client.newAccount(email);
  const code = await client.resetCode(email);
  const changed = await client.as(tokens, 'PUT', '/auth/account/email', {
    email: 'new@example.com',
    currentPassword: goodPassword,
  });
  assert.equal(changed.status, 202, changed.text);
  const change = await client.nextCode('new@example.com', 'Confirm your new email');
  assert.equal((await client.confirmReset(code)).status, 200);
  const confirmed = await client.post('/auth/account/email/confirm', { code: change, password: otherPassword });
  assertRejected(confirmed, 'code_invalid');

  const third = await client.resetCode(email);
  await client.app.service.services.accounts.disable({ kind: 'operator' }, email);
  assertRejected(await client.confirmReset(third), 'code_invalid');
});

test('a newer reset replaces the code of an older one', async () => {
  await using client = await newAccountClient();
  await client.newAccount(email);
  const [older, newer] = [await client.resetCode(email), await client.resetCode(email)];
  assertRejected(await client.confirmReset(older), 'code_invalid');
  assert.equal((await client.confirmReset(newer)).status, 200);
});

test('a reset leaves the second factor in force', { tags: ['asvs:6.3.4', 'asvs:6.4.3'] }, async () => {
  await using client = await newAccountClient();
  const tokens = await client.newAccount(email);
  await client.enrol(tokens);
  assert.equal((await client.confirmReset(await client.resetCode(email))).status, 200);
  assertRejected(await client.trySignIn(email, otherPassword), 'second_factor_required');
});

test('after a reset the owner signs in from where it was made, whatever strangers have tried', async () => {
  await using client = await newAccountClient({ ...behindProxy });
  await client.newAccount(email);
  const code = await client.resetCode(email);
  for (let n = 0; n < limits.loginEmailFailuresMax; n++) {
    const headers = { 'x-forwarded-for': `198.51.${100 + (n >> 8)}.${n & 255}` };
    await client.app.call('POST', '/auth/token', {
      headers: { ...headers, authorization: `Basic ${Buffer.from(`${email}:wrong`).toString('base64')}` },
    });
  }
  const from = { 'x-forwarded-for': '203.0.113.77' };
  const authorization = `Basic ${Buffer.from(`${email}:${otherPassword}`).toString('base64')}`;
  const refused = await client.app.call('POST', '/auth/token', { headers: { ...from, authorization } });
  assertRejected(refused, 'too_many_attempts');
  const password = otherPassword;
  assert.equal((await client.post('/auth/password-resets/confirm', { code, password }, '203.0.113.78')).status, 200);
  const signedIn = await client.app.call('POST', '/auth/token', {
    headers: { 'x-forwarded-for': '203.0.113.78', authorization },
  });
  assert.equal(signedIn.status, 200, signedIn.text);
  const elsewhere = await client.app.call('POST', '/auth/token', { headers: { ...from, authorization } });
  assertRejected(elsewhere, 'too_many_attempts', 'strangers notice nothing of the reset');
});

const guessFrom = (client: AccountClient, from: string) =>
  client.app.call('POST', '/auth/token', { headers: { ...basic(email, 'wrong'), 'x-forwarded-for': from } });

for (const what of ['a reset', 'a change'] as const) {
  test(`after ${what} of a stolen password the thief guesses as a stranger, and the owner as one who is known`, async () => {
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
    for (let n = 0; n < limits.loginPairFreeFailures; n++)
      for (const from of [thief, owner]) assertRejected(await guessFrom(client, from), 'invalid_credentials');
    assertRejected(await guessFrom(client, thief), 'too_many_attempts');
    assertRejected(await guessFrom(client, owner), 'invalid_credentials');
  });
}

/** Sixty-four at once. On a busy machine the database may refuse some of them: then again, an hour later. */
async function askAtOnce(client: AccountClient, address: string): Promise<number> {
  for (let round = 0; round < 10; round++) {
    const before = client.mailbox.messages.length;
    const answers = await Promise.all(
      Array.from({ length: 64 }, (_, n) => client.post('/auth/password-resets', { email: address }, `198.51.100.${n}`)),
    );
    await client.untilOutboxEmpty();
    const accepted = answers.filter(({ status }) => status === 202).length;
    assert.ok(accepted <= limits.resetsPerEmailMax, `${accepted} of ${address}`);
    if (!answers.some(({ status }) => status === 503)) {
      assert.equal(accepted, limits.resetsPerEmailMax, address);
      for (const answer of answers.filter(({ status }) => status !== 202)) assertRejected(answer, 'too_many_requests');
      return client.mailbox.messages.length - before;
    }
    client.app.clock.advance({ seconds: limits.mailRequestWindowSeconds });
  }
  throw new Error('the database never had time for sixty-four requests');
}

test(
  'three resets an hour for an email, known or not, under sixty-four at once too; the owner has three more',
  { tags: ['asvs:2.3.2'] },
  async () => {
    await using client = await newAccountClient(behindProxy);
    await client.newAccount(email);
    await client.untilOutboxEmpty();
    for (const address of ['nobody@example.com', email]) {
      const mails = await askAtOnce(client, address);
      assert.equal(mails, address === email ? limits.resetsPerEmailMax : 0);
    }
    // From where the owner signed in lately.
    for (let n = 0; n < limits.resetsPerEmailMax; n++)
      assert.equal((await client.post('/auth/password-resets', { email })).status, 202);
    const refused = await client.post('/auth/password-resets', { email });
    assertRejected(refused, 'too_many_requests');
    assert.equal(refused.headers.get('retry-after'), String(limits.mailRequestWindowSeconds));
    client.app.clock.advance({ seconds: limits.mailRequestWindowSeconds });
    assert.equal((await client.post('/auth/password-resets', { email }, '198.51.100.7')).status, 202);
  },
);

test('a good code with refused passwords costs a bounded number of hashes', async () => {
  await using client = await newAccountClient();
  await client.newAccount(email);
  const code = await client.resetCode(email);
  for (let n = 0; n < limits.codeTriesMax; n++)
    assertRejected(await client.confirmReset(code, 'short'), 'password_too_short');
  assertRejected(await client.confirmReset(code), 'too_many_requests');
});

test('an installation without mail says so', async () => {
  await using app = await newApp();
  for (const path of ['/auth/password-resets', '/auth/accounts/verify/resend'])
    assertRejected(await app.call('POST', path, { json: { email } }), 'mail_not_configured');
});

test('after a reset request for an email without an account the same jobs run, each once, and no mail is sent', async () => {
  await using client = await newAccountClient();
  await client.app.createAccount(email);
  const { outbox } = client.app.service.services;
  const done = (kind: string): number => outbox.counts.get(kind)?.done ?? 0;
  const jobsOf = async (address: string) => {
    const counts = (): [number, number] => [done('password_reset'), done('mail') + done('decoy')];
    const [resets, mails] = counts();
    assert.equal((await client.post('/auth/password-resets', { email: address })).status, 202);
    // A job is counted after its row has gone.
    await until('both jobs are counted', 30_000, () => counts()[0] > resets && counts()[1] > mails);
    await client.untilOutboxEmpty();
    return [counts()[0] - resets, counts()[1] - mails];
  };
  assert.deepEqual(await jobsOf(email), [1, 1]);
  assert.deepEqual(await jobsOf('nobody@example.com'), [1, 1]);
  assert.deepEqual([done('mail'), done('decoy'), client.mailbox.messages.length], [1, 1, 1]);
});

test('a job that a stranger’s request starts is due after a random time', async () => {
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
  // Of 200 even draws, none in one of the halves would be a chance of 1 in 2^199.
  assert.ok(delays.some((ms) => ms < delayMsMax / 2) && delays.some((ms) => ms > delayMsMax / 2));
});
