/** What an account changes of itself: its password, its email, its end. */
import assert from 'node:assert/strict';
import { limits } from '@keyreeve/contract';
import { listAuditEvents } from '../../../../test-kit/audit-trail.ts';
import { bearer, goodPassword } from '../../../../test-kit/new-app.ts';
import { assertRefused, newLife, otherPassword, type Life, type Tokens } from '../../../../test-kit/mailed-app.ts';
import { test } from '../../../../test-kit/app-on-each-database.ts';

const email = 'ada@example.com';
const newEmail = 'lovelace@example.org';

const changePassword = (life: Life, tokens: Tokens, body: object) =>
  life.as(tokens, 'PUT', '/auth/account/password', body);
const changeEmail = (life: Life, tokens: Tokens, address = newEmail, currentPassword = goodPassword) =>
  life.as(tokens, 'PUT', '/auth/account/email', { email: address, currentPassword });
const confirmEmail = (life: Life, code: string, password = goodPassword) =>
  life.post('/auth/account/email/confirm', { code, password });
const remove = (life: Life, tokens: Tokens, currentPassword = goodPassword) =>
  life.as(tokens, 'DELETE', '/auth/account', { currentPassword });

test(
  'a changed password ends every other session, and nothing in the request keeps one',
  { tags: ['asvs:6.2.2', 'asvs:7.4.3'] },
  async () => {
    await using life = await newLife();
    const tokens = await life.member(email);
    const others = [await life.signIn(email), await life.signIn(email)];
    const key = await life.createKey(tokens, 'billing worker');
    for (const revokeKeys of [undefined, false]) {
      const currentPassword = revokeKeys === undefined ? goodPassword : otherPassword;
      const newPassword = revokeKeys === undefined ? otherPassword : goodPassword;
      const late = await life.signIn(email, currentPassword);
      const answer = await changePassword(life, tokens, {
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
        assert.equal(await life.isLive(other), false);
        const refreshed = await life.post('/auth/token/refresh', { refreshToken: other.refreshToken });
        assertRefused(refreshed, 'invalid_refresh_token');
      }
      assert.equal(await life.isLive(tokens), true, 'the own session goes on');
    }
    const refreshed = await life.post('/auth/token/refresh', { refreshToken: tokens.refreshToken });
    assert.equal(refreshed.status, 200);
    assert.equal(await life.works(key.key), true);
    await life.mailbox.next({ to: email, subject: /password.*was changed/ });
  },
);

test('a changed password makes codes that were sent before void, and deletes the keys when asked', async () => {
  await using life = await newLife();
  const tokens = await life.member(email);
  const key = await life.createKey(tokens);
  const code = await life.resetCode(email);
  const answer = await changePassword(life, tokens, {
    currentPassword: goodPassword,
    newPassword: otherPassword,
    revokeKeys: true,
  });
  assert.deepEqual([answer.status, (answer.json as { apiKeys: unknown[] }).apiKeys], [200, []]);
  assert.equal(await life.works(key.key), false);
  assertRefused(await life.reset(code), 'code_invalid');
});

test(
  'without the right current password nothing changes, and guesses are counted as at a sign-in',
  { tags: ['asvs:6.2.3', 'asvs:7.5.1'] },
  async () => {
    await using life = await newLife();
    const tokens = await life.member(email);
    const before = await listAuditEvents(life.app.db);
    const wrong = 'not the password at all';
    const tries = [
      () => changePassword(life, tokens, { currentPassword: wrong, newPassword: otherPassword }),
      () => changeEmail(life, tokens, newEmail, wrong),
      () => remove(life, tokens, wrong),
    ];
    for (const [n, ask] of tries.entries()) {
      assertRefused(await ask(), 'password_wrong', String(n));
    }
    const { hasher } = life.app.service.services;
    for (let n = tries.length; n < limits.secondFactorFreeFailures; n++)
      await changePassword(life, tokens, { currentPassword: wrong, newPassword: otherPassword });
    const { hashed } = hasher.stats;
    for (const ask of tries) assertRefused(await ask(), 'too_many_attempts');
    assertRefused(await remove(life, tokens), 'too_many_attempts', 'not even with the right one');
    assert.equal(hasher.stats.hashed, hashed);
    assert.deepEqual(await listAuditEvents(life.app.db), before);
  },
);

test('of sixteen password changes at once one succeeds', async () => {
  await using life = await newLife({ KEYREEVE_THROTTLE: 'off' }, false);
  const tokens = await life.member(email);
  const passwords = Array.from({ length: 16 }, (_, n) => `${otherPassword} ${n}`);
  const answers = await Promise.all(
    passwords.map((newPassword) => changePassword(life, tokens, { currentPassword: goodPassword, newPassword })),
  );
  const done = passwords.filter((_, n) => answers[n]?.status === 200);
  assert.equal(done.length, 1);
  for (const answer of answers.filter(({ status }) => status !== 200)) assertRefused(answer, 'password_wrong');
  await life.signIn(email, done[0]);
});

test('an account changes its password a bounded number of times in an hour, and another account is not affected', async () => {
  await using life = await newLife();
  const [tokens, other] = [await life.member(email), await life.member(newEmail)];
  const passwords = [goodPassword, otherPassword] as const;
  const change = (by: Tokens, n: number) =>
    changePassword(life, by, { currentPassword: passwords[n % 2], newPassword: passwords[(n + 1) % 2] });
  const max = limits.passwordChangesPerHourMax;
  for (let n = 0; n < max; n++) assert.equal((await change(tokens, n)).status, 200);
  assertRefused(await change(tokens, max), 'too_many_requests');
  assert.equal((await change(other, 0)).status, 200);
  life.app.clock.advance({ seconds: 3_600 });
  const again = await life.signIn(email, passwords[max % 2]);
  assert.equal((await change(again, max)).status, 200, 'the rejected change did not happen, and the hour is over');
});

test('a new password obeys the rules, in the words of the account', async () => {
  await using life = await newLife();
  const tokens = await life.member(email);
  for (const [newPassword, code] of [
    ['x'.repeat(14), 'password_too_short'],
    ['ada example ada ada', 'password_context'],
    ['passwordpassword', 'password_common'],
  ] as const)
    assertRefused(await changePassword(life, tokens, { currentPassword: goodPassword, newPassword }), code);
});

test('a new email is confirmed by its own mailbox, both addresses hear of it, and every session ends', async () => {
  await using life = await newLife();
  const tokens = await life.member(email);
  const key = await life.createKey(tokens);
  const asked = await changeEmail(life, tokens);
  assert.equal(asked.status, 202, asked.text);
  const notice = await life.mailbox.next({ to: email, subject: /new email address was requested/ });
  assert.ok(notice.text.includes(newEmail) && !notice.text.includes('krvc_'));
  const code = await life.code(newEmail, 'Confirm your new email');
  await life.signIn(email);
  const reset = await life.resetCode(email);

  assertRefused(await confirmEmail(life, code, otherPassword), 'invalid_credentials');
  assert.equal((await confirmEmail(life, code)).status, 200);
  assertRefused(await confirmEmail(life, code), 'code_invalid');
  assert.equal(await life.isLive(tokens), false);
  assertRefused(await life.reset(reset), 'code_invalid');
  assertRefused(await life.trySignIn(email), 'invalid_credentials');
  const own = await life.signIn(newEmail);
  assert.equal(((await life.as(own, 'GET', '/auth/account')).json as { email: string }).email, newEmail);
  assert.equal(await life.works(key.key), true, 'keys go on working');
  await life.mailbox.next({ to: email, subject: /email address.*was changed/ });
  await life.member(email);
});

test('the code of a new email expires, is replaced by a newer one, and survives nothing else', async () => {
  await using life = await newLife();
  const tokens = await life.member(email);
  await changeEmail(life, tokens);
  const first = await life.code(newEmail, 'Confirm your new email');
  await changeEmail(life, tokens, 'third@example.com');
  assertRefused(await confirmEmail(life, first), 'code_invalid');
  const second = await life.code('third@example.com', 'Confirm your new email');
  life.app.clock.advance({ seconds: limits.emailChangeCodeSeconds });
  assertRefused(await confirmEmail(life, second), 'code_invalid');
});

test('a taken address gets the same answer and another mail, and its account keeps it', async () => {
  await using life = await newLife();
  const tokens = await life.member(email);
  await life.member('bob@example.com');
  await life.settled();
  const [free, taken] = [await changeEmail(life, tokens), await changeEmail(life, tokens, 'Bob@example.com')];
  assert.deepEqual([free.status, free.text], [taken.status, taken.text]);
  const mail = await life.mailbox.next({ to: 'Bob@example.com' });
  assert.match(mail.subject, /^You already have an account/);
  assert.ok(!mail.text.includes('krvc_'));
});

test('of sixteen accounts that take one address at once one gets it', { timeout: 240_000 }, async () => {
  await using life = await newLife({ KEYREEVE_THROTTLE: 'off' }, false);
  const codes: string[] = [];
  for (let n = 0; n < 16; n++) {
    const account = await life.app.createAccount(`user${n}@example.org`);
    await changeEmail(life, await life.signIn(account.email));
    codes.push(await life.code(newEmail, 'Confirm your new email'));
  }
  const answers = await Promise.all(codes.map((code) => confirmEmail(life, code)));
  assert.equal(answers.filter(({ status }) => status === 200).length, 1);
  for (const answer of answers.filter(({ status }) => status !== 200)) assertRefused(answer, 'account_exists');
  await life.signIn(newEmail);
});

test('a deleted account is gone at once: its sessions, tokens and keys; its email is free again', async () => {
  await using life = await newLife();
  const tokens = await life.member(email);
  const other = await life.signIn(email);
  const key = await life.createKey(tokens);
  const code = await life.resetCode(email);
  assert.equal((await remove(life, tokens)).status, 204);
  assert.equal(await life.works(key.key), false);
  for (const session of [tokens, other]) {
    assertRefused(await life.as(session, 'GET', '/auth/account'), 'invalid_access_token');
    const seen = await life.app.call('GET', '/auth/forward', { headers: bearer(session.accessToken) });
    assert.equal(seen.status, 401);
  }
  assertRefused(await life.reset(code), 'code_invalid');
  assertRefused(await life.trySignIn(email), 'invalid_credentials');
  await life.mailbox.next({ to: email, subject: /was deleted/ });
  const [deleted] = (await listAuditEvents(life.app.db)).filter(({ action }) => action === 'account.deleted');
  assert.match(deleted?.actor ?? '', /^account:acc_/);
  await life.member(email, otherPassword);
});

test('what is dangerous needs a session that began lately', { tags: ['asvs:7.5.1', 'asvs:10.3.4'] }, async () => {
  await using life = await newLife();
  const tokens = await life.member(email);
  life.app.clock.advance({ seconds: limits.recentSignInSeconds + 1 });
  assertRefused(await changeEmail(life, tokens), 'reauth_required');
  assertRefused(await remove(life, tokens), 'reauth_required');
  // The password itself can be changed with the password.
  const body = { currentPassword: goodPassword, newPassword: otherPassword };
  assert.equal((await changePassword(life, tokens, body)).status, 200);
  assert.equal((await remove(life, await life.signIn(email, otherPassword), otherPassword)).status, 204);
});

test('the last administrator stays', async () => {
  await using life = await newLife();
  const { accounts } = life.app.service.services;
  const { email: address } = await life.app.createAccount('root@example.com');
  await accounts.setRole({ kind: 'operator' }, address, 'admin');
  assertRefused(await remove(life, await life.signIn(address)), 'last_administrator');
  await life.signIn(address);
});

test('an API key neither reads nor changes its account', async () => {
  await using life = await newLife();
  const tokens = await life.member(email);
  const { key } = await life.createKey(tokens);
  const asKey = { accessToken: key, refreshToken: '' };
  assertRefused(await life.as(asKey, 'GET', '/auth/account'), 'invalid_access_token');
  assertRefused(await changeEmail(life, asKey), 'invalid_access_token');
  assertRefused(await remove(life, asKey), 'invalid_access_token');
  const body = { currentPassword: goodPassword, newPassword: otherPassword };
  assertRefused(await changePassword(life, asKey, body), 'invalid_access_token');
});
