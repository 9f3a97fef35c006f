/** The changes of an account to itself: its password, its email address, its deletion. */
import assert from 'node:assert/strict';
import { limits } from '@keyreeve/contract';
import { listAuditEvents } from '../../../../test-kit/audit-log.ts';
import { bearer, goodPassword } from '../../../../test-kit/new-app.ts';
import {
  assertRejected,
  newAccountClient,
  otherPassword,
  type AccountClient,
  type Tokens,
} from '../../../../test-kit/account-client.ts';
import { test, testOnBoth } from '../../../../test-kit/app-on-each-database.ts';
import { whenAvailable } from '../../../../test-kit/when-available.ts';

const email = 'ada@example.com';
const newEmail = 'lovelace@example.org';

const changePassword = (client: AccountClient, tokens: Tokens, body: object) =>
  client.as(tokens, 'PUT', '/auth/account/password', body);
const changeEmail = (client: AccountClient, tokens: Tokens, to = newEmail, currentPassword = goodPassword) =>
  client.as(tokens, 'PUT', '/auth/account/email', { email: to, currentPassword });
const remove = (client: AccountClient, tokens: Tokens, currentPassword = goodPassword) =>
  client.as(tokens, 'DELETE', '/auth/account', { currentPassword });

test(
  'a password change ends every other session, whatever the request contains',
  { tags: ['asvs:6.2.2', 'asvs:7.4.3'] },
  async () => {
    await using client = await newAccountClient();
    const tokens = await client.newAccount(email);
    const others = [await client.signIn(email), await client.signIn(email)];
    const key = await client.createKey(tokens, 'billing worker');
    for (const revokeKeys of [undefined, false]) {
      const currentPassword = revokeKeys === undefined ? goodPassword : otherPassword;
      const newPassword = revokeKeys === undefined ? otherPassword : goodPassword;
      const late = await client.signIn(email, currentPassword);
      const answer = await changePassword(client, tokens, {
        currentPassword,
        newPassword,
        ...(revokeKeys === undefined ? {} : { revokeKeys }),
      });
      assert.equal(answer.status, 200, answer.text);
      const { apiKeys } = answer.json as { apiKeys: { nickname: string }[] };
      assert.deepEqual(
        apiKeys.map(({ nickname }) => nickname),
        ['billing worker'],
      );
      for (const other of [...others, late]) {
        assert.equal(await client.isSignedIn(other), false);
        const refreshed = await client.post('/auth/token/refresh', { refreshToken: other.refreshToken });
        assertRejected(refreshed, 'invalid_refresh_token');
      }
      assert.equal(await client.isSignedIn(tokens), true, 'the session that made the change continues');
    }
    const refreshed = await client.post('/auth/token/refresh', { refreshToken: tokens.refreshToken });
    assert.equal(refreshed.status, 200);
    assert.equal(await client.isKeyAccepted(key.key), true);
    await client.mailbox.next({ to: email, subject: /password.*was changed/ });
  },
);

test('a password change invalidates earlier one-time codes, and deletes the API keys on request', async () => {
  await using client = await newAccountClient();
  const tokens = await client.newAccount(email);
  const key = await client.createKey(tokens);
  const code = await client.resetCode(email);
  const answer = await changePassword(client, tokens, {
    currentPassword: goodPassword,
    newPassword: otherPassword,
    revokeKeys: true,
  });
  assert.deepEqual([answer.status, (answer.json as { apiKeys: unknown[] }).apiKeys], [200, []]);
  assert.equal(await client.isKeyAccepted(key.key), false);
  assertRejected(await client.confirmReset(code), 'code_invalid');
});

test(
  'a change with a wrong current password is rejected and counts as a failed attempt',
  { tags: ['asvs:6.2.3', 'asvs:7.5.1'] },
  async () => {
    await using client = await newAccountClient();
    const tokens = await client.newAccount(email);
    const before = await listAuditEvents(client.app.db);
    const wrong = 'not the password at all';
    const attempts = [
      () => changePassword(client, tokens, { currentPassword: wrong, newPassword: otherPassword }),
      () => changeEmail(client, tokens, newEmail, wrong),
      () => remove(client, tokens, wrong),
    ];
    for (const [n, attempt] of attempts.entries()) assertRejected(await attempt(), 'password_wrong', String(n));
    const { hasher } = client.app.service.services;
    for (let n = attempts.length; n < limits.secondFactorFreeFailures; n++)
      await changePassword(client, tokens, { currentPassword: wrong, newPassword: otherPassword });
    const { hashed } = hasher.stats;
    for (const attempt of attempts) assertRejected(await attempt(), 'too_many_attempts');
    assertRejected(await remove(client, tokens), 'too_many_attempts', 'the correct password is rejected as well');
    assert.equal(hasher.stats.hashed, hashed);
    assert.deepEqual(await listAuditEvents(client.app.db), before);
  },
);

testOnBoth('one of sixteen concurrent password changes succeeds', async () => {
  await using client = await newAccountClient({ KEYREEVE_THROTTLE: 'off' }, false);
  const tokens = await client.newAccount(email);
  const passwords = Array.from({ length: 16 }, (_, n) => `${otherPassword} ${n}`);
  const answers = await Promise.all(
    passwords.map((newPassword) =>
      whenAvailable(() => changePassword(client, tokens, { currentPassword: goodPassword, newPassword })),
    ),
  );
  const done = passwords.filter((_, n) => answers[n]?.status === 200);
  assert.equal(done.length, 1);
  for (const answer of answers.filter(({ status }) => status !== 200)) assertRejected(answer, 'password_wrong');
  await client.signIn(email, done[0]);
});

test('password changes are limited per account and hour', async () => {
  await using client = await newAccountClient();
  const [tokens, other] = [await client.newAccount(email), await client.newAccount(newEmail)];
  const passwords = [goodPassword, otherPassword] as const;
  const change = (by: Tokens, n: number) =>
    changePassword(client, by, { currentPassword: passwords[n % 2], newPassword: passwords[(n + 1) % 2] });
  const max = limits.passwordChangesPerHourMax;
  for (let n = 0; n < max; n++) assert.equal((await change(tokens, n)).status, 200);
  assertRejected(await change(tokens, max), 'too_many_requests');
  assert.equal((await change(other, 0)).status, 200);
  client.app.clock.advance({ seconds: 3_600 });
  const again = await client.signIn(email, passwords[max % 2]);
  assert.equal((await change(again, max)).status, 200, 'the rejected change had no effect, and the hour is over');
});

test('a new password must satisfy the rules, which include words of the email address', async () => {
  await using client = await newAccountClient();
  const tokens = await client.newAccount(email);
  for (const [newPassword, code] of [
    ['x'.repeat(14), 'password_too_short'],
    ['ada example ada ada', 'password_context'],
    ['passwordpassword', 'password_common'],
  ] as const)
    assertRejected(await changePassword(client, tokens, { currentPassword: goodPassword, newPassword }), code);
});

test('a new email address is confirmed by a code sent to it; both addresses get mail, and every session ends', async () => {
  await using client = await newAccountClient();
  const tokens = await client.newAccount(email);
  const key = await client.createKey(tokens);
  const code = await client.requestEmailChange(tokens, newEmail);
  const notice = await client.mailbox.next({ to: email, subject: /new email address was requested/ });
  assert.ok(notice.text.includes(newEmail) && !notice.text.includes('krvc_'));
  await client.signIn(email);
  const reset = await client.resetCode(email);

  assertRejected(await client.confirmEmailChange(code, otherPassword), 'invalid_credentials');
  assert.equal((await client.confirmEmailChange(code)).status, 200);
  assertRejected(await client.confirmEmailChange(code), 'code_invalid');
  assert.equal(await client.isSignedIn(tokens), false);
  assertRejected(await client.confirmReset(reset), 'code_invalid');
  assertRejected(await client.trySignIn(email), 'invalid_credentials');
  const own = await client.signIn(newEmail);
  assert.equal(((await client.as(own, 'GET', '/auth/account')).json as { email: string }).email, newEmail);
  assert.equal(await client.isKeyAccepted(key.key), true, 'API keys still work');
  await client.mailbox.next({ to: email, subject: /email address.*was changed/ });
  await client.newAccount(email);
});

test('the code for a new email address expires and is replaced by a newer one', async () => {
  await using client = await newAccountClient();
  const tokens = await client.newAccount(email);
  const first = await client.requestEmailChange(tokens, newEmail);
  const second = await client.requestEmailChange(tokens, 'third@example.com');
  assertRejected(await client.confirmEmailChange(first), 'code_invalid');
  client.app.clock.advance({ seconds: limits.emailChangeCodeSeconds });
  assertRejected(await client.confirmEmailChange(second), 'code_invalid');
});

test('a request for the email address of another account gets the same response, and that account gets a mail', async () => {
  await using client = await newAccountClient();
  const tokens = await client.newAccount(email);
  await client.newAccount('bob@example.com');
  await client.untilOutboxEmpty();
  const [free, taken] = [await changeEmail(client, tokens), await changeEmail(client, tokens, 'Bob@example.com')];
  assert.deepEqual([free.status, free.text], [taken.status, taken.text]);
  const mail = await client.mailbox.next({ to: 'Bob@example.com' });
  assert.match(mail.subject, /^You already have an account/);
  assert.ok(!mail.text.includes('krvc_'));
});

testOnBoth('one of sixteen accounts that concurrently change to the same email address gets it', async () => {
  await using client = await newAccountClient({ KEYREEVE_THROTTLE: 'off' }, false);
  const codes: string[] = [];
  for (let n = 0; n < 16; n++) {
    const account = await client.app.createAccount(`user${n}@example.org`);
    codes.push(await client.requestEmailChange(await client.signIn(account.email), newEmail));
  }
  const answers = await Promise.all(codes.map((code) => whenAvailable(() => client.confirmEmailChange(code))));
  assert.equal(answers.filter(({ status }) => status === 200).length, 1);
  for (const answer of answers.filter(({ status }) => status !== 200)) assertRejected(answer, 'account_exists');
  await client.signIn(newEmail);
});

test('deleting an account ends its sessions, tokens and keys immediately, and frees its email address', async () => {
  await using client = await newAccountClient();
  const tokens = await client.newAccount(email);
  const other = await client.signIn(email);
  const key = await client.createKey(tokens);
  const code = await client.resetCode(email);
  assert.equal((await remove(client, tokens)).status, 204);
  assert.equal(await client.isKeyAccepted(key.key), false);
  for (const session of [tokens, other]) {
    assertRejected(await client.as(session, 'GET', '/auth/account'), 'invalid_access_token');
    const forwarded = await client.app.call('GET', '/auth/forward', { headers: bearer(session.accessToken) });
    assert.equal(forwarded.status, 401);
  }
  assertRejected(await client.confirmReset(code), 'code_invalid');
  assertRejected(await client.trySignIn(email), 'invalid_credentials');
  await client.mailbox.next({ to: email, subject: /was deleted/ });
  const [deleted] = (await listAuditEvents(client.app.db)).filter(({ action }) => action === 'account.deleted');
  assert.match(deleted?.actor ?? '', /^account:acc_/);
  await client.newAccount(email, otherPassword);
});

test(
  'changing the email address and deleting the account require a recent sign-in',
  { tags: ['asvs:7.5.1', 'asvs:10.3.4'] },
  async () => {
    await using client = await newAccountClient();
    const tokens = await client.newAccount(email);
    client.app.clock.advance({ seconds: limits.recentSignInSeconds + 1 });
    assertRejected(await changeEmail(client, tokens), 'reauth_required');
    assertRejected(await remove(client, tokens), 'reauth_required');
    // A password change requires the current password instead of a recent sign-in.
    const body = { currentPassword: goodPassword, newPassword: otherPassword };
    assert.equal((await changePassword(client, tokens, body)).status, 200);
    assert.equal((await remove(client, await client.signIn(email, otherPassword), otherPassword)).status, 204);
  },
);

test('the last administrator cannot delete their account', async () => {
  await using client = await newAccountClient();
  const { accounts } = client.app.service.services;
  const { id } = await client.app.createAccount(email);
  await accounts.setRole({ kind: 'operator' }, id, 'admin');
  assertRejected(await remove(client, await client.signIn(email)), 'last_administrator');
  await client.signIn(email);
});

test('an API key can neither read nor change its account', async () => {
  await using client = await newAccountClient();
  const tokens = await client.newAccount(email);
  const { key } = await client.createKey(tokens);
  const asKey = { accessToken: key, refreshToken: '' };
  assertRejected(await client.as(asKey, 'GET', '/auth/account'), 'invalid_access_token');
  assertRejected(await changeEmail(client, asKey), 'invalid_access_token');
  assertRejected(await remove(client, asKey), 'invalid_access_token');
  const body = { currentPassword: goodPassword, newPassword: otherPassword };
  assertRejected(await changePassword(client, asKey, body), 'invalid_access_token');
});
