/** Sign-up and email verification. The response does not show whether an account exists; only the mail does. */
import assert from 'node:assert/strict';
import { limits } from '@keyreeve/contract';
import { listAuditEvents } from '../../../../test-kit/audit-log.ts';
import { codeIn } from '../../../../test-kit/mailbox.ts';
import { goodPassword, newApp } from '../../../../test-kit/new-app.ts';
import { assertRejected, newAccountClient, otherPassword } from '../../../../test-kit/account-client.ts';
import { test, testOnBoth } from '../../../../test-kit/app-on-each-database.ts';
import { whenAvailable } from '../../../../test-kit/when-available.ts';

const email = 'ada@example.com';

test('a verified sign-up is a full account, which can create API keys', { tags: ['asvs:2.3.1'] }, async () => {
  await using client = await newAccountClient();
  await client.signUp('Ada@Example.com');
  const mail = await client.mailbox.next({ to: 'Ada@example.com' });
  assert.match(mail.subject, /^Confirm your email address/);

  const code = codeIn(mail);
  const verified = await client.verifyEmail(code);
  assert.deepEqual([verified.status, Object.keys(verified.json as object)], [200, ['message']]);
  const tokens = await client.signIn(email);
  await client.createKey(tokens);
  const { json } = await client.as(tokens, 'GET', '/auth/account');
  const { id, createdAt, ...account } = json as { id: string; createdAt: string };
  assert.match(id, /^acc_/);
  assert.equal(createdAt, new Date(client.app.clock.now()).toISOString());
  assert.deepEqual(account, {
    email: 'Ada@Example.com',
    role: 'user',
    verified: true,
    secondFactor: false,
    authenticator: false,
    passkeys: 0,
    requiresSecondFactor: false,
    language: null,
    limits: null,
    quotaUse: null,
  });
  const actions = (await listAuditEvents(client.app.db)).filter(({ accountId }) => accountId === id);
  assert.deepEqual(
    actions.map(({ actor, action }) => `${actor} ${action}`),
    [
      'system account.created',
      'system account.verification_requested',
      'mailbox account.verified',
      `account:${id} session.created`,
      `account:${id} api_key.created`,
    ],
  );
});

test('sign-up is closed unless the operator opens it, and rejects invalid requests with the same error', async () => {
  await using app = await newApp();
  for (const json of [
    { email, password: goodPassword },
    { email: 'no email address', password: 'short' },
  ])
    assertRejected(await app.call('POST', '/auth/accounts', { json }), 'signup_closed');
});

test('new, existing and disabled email addresses get the same response, and no account is changed', async () => {
  await using client = await newAccountClient();
  const { app } = client;
  await client.newAccount('known@example.com');
  await app.service.services.accounts.disable({ kind: 'operator' }, (await app.createAccount('off@example.com')).id);
  const answers = [];
  for (const name of ['known', 'off', 'new']) {
    const { status, text, headers } = await client.post('/auth/accounts', {
      email: `${name}@example.com`,
      password: otherPassword,
    });
    answers.push({ status, text, names: [...headers.keys()].filter((header) => header !== 'date').toSorted() });
  }
  assert.deepEqual(answers[0], answers[2]);
  assert.deepEqual(answers[1], answers[2]);
  for (const name of ['known', 'off']) {
    const mail = await client.mailbox.next({ to: `${name}@example.com` });
    assert.match(mail.subject, /^You already have an account/);
    assert.ok(!mail.text.includes('krvc_'), 'the mail contains no code');
  }
  assert.ok(await client.verificationCode('new@example.com'));
  assertRejected(await client.trySignIn('known@example.com', otherPassword), 'invalid_credentials');
  await client.signIn('known@example.com');
});

test('a sign-in after a sign-up does not show whether the email address had an account before', async () => {
  await using client = await newAccountClient();
  await client.newAccount('known@example.com');
  const answers = [];
  for (const name of ['known', 'new']) {
    await client.signUp(`${name}@example.com`, otherPassword);
    await client.untilOutboxEmpty();
    const { status, json } = await client.trySignIn(`${name}@example.com`, otherPassword);
    answers.push({ status, code: (json as { code: string }).code });
  }
  assert.deepEqual(answers[0], { status: 401, code: 'invalid_credentials' });
  assert.deepEqual(answers[1], answers[0]);
});

test('mails about an existing account are limited per email address and day', async () => {
  await using client = await newAccountClient({ KEYREEVE_THROTTLE: 'off' }, false);
  await client.newAccount(email);
  for (let n = 0; n < limits.accountExistsMailsMax + 3; n++) await client.signUp(email, otherPassword);
  await client.untilOutboxEmpty();
  const notices = client.mailbox.messages.filter(({ subject }) => subject.startsWith('You already have'));
  assert.equal(notices.length, limits.accountExistsMailsMax);
  client.app.clock.advance({ days: 1, seconds: 1 });
  await client.signUp(email, otherPassword);
  await client.mailbox.next({ subject: /^You already have/ });
});

test(
  'a verification code works once, with the password of its sign-up; a wrong password does not use it up',
  { tags: ['asvs:6.6.2'] },
  async () => {
    await using client = await newAccountClient();
    await client.signUp(email);
    const code = await client.verificationCode(email);
    assertRejected(await client.verifyEmail(code, otherPassword), 'invalid_credentials');
    assert.equal((await client.verifyEmail(code)).status, 200);
    assertRejected(await client.verifyEmail(code), 'code_invalid');
  },
);

testOnBoth('one of sixteen concurrent uses of a verification code succeeds', async () => {
  await using client = await newAccountClient({ KEYREEVE_THROTTLE: 'off' }, false);
  await client.signUp(email);
  const code = await client.verificationCode(email);
  const answers = await Promise.all(Array.from({ length: 16 }, () => whenAvailable(() => client.verifyEmail(code))));
  assert.equal(answers.filter(({ status }) => status === 200).length, 1);
  for (const answer of answers.filter(({ status }) => status !== 200)) assertRejected(answer, 'code_invalid');
  const verified = (await listAuditEvents(client.app.db)).filter(({ action }) => action === 'account.verified');
  assert.equal(verified.length, 1);
});

testOnBoth(
  'sixteen concurrent sign-ups with one email address get sixteen codes, and one of them is verified',
  async () => {
    await using client = await newAccountClient({ KEYREEVE_THROTTLE: 'off' }, false);
    const passwords = Array.from({ length: 16 }, (_, n) => `${goodPassword} number ${n}`);
    await Promise.all(
      passwords.map((password) => whenAvailable(() => client.post('/auth/accounts', { email, password }))),
    );
    await client.untilOutboxEmpty();
    const codes = await Promise.all(passwords.map(() => client.verificationCode(email)));
    assert.equal(new Set(codes).size, 16);
    const created = (await listAuditEvents(client.app.db)).filter(({ action }) => action === 'account.created');
    assert.equal(created.length, 1);
    // The order of the mails is undefined: try each code with every password, all codes concurrently.
    const isVerified = await Promise.all(
      codes.map(async (code) => {
        for (const password of passwords)
          if ((await whenAvailable(() => client.verifyEmail(code, password))).status === 200) return true;
        return false;
      }),
    );
    assert.equal(isVerified.filter(Boolean).length, 1);
  },
);

test('a verification code works for ten minutes', { tags: ['asvs:6.5.5'] }, async () => {
  await using client = await newAccountClient();
  await client.signUp(email);
  const code = await client.verificationCode(email);
  client.app.clock.advance({ seconds: 600 });
  assertRejected(await client.verifyEmail(code), 'code_invalid');
  await client.signUp(email);
  const next = await client.verificationCode(email);
  client.app.clock.advance({ seconds: 600 - 1 });
  assert.equal((await client.verifyEmail(next)).status, 200);
});

test('a verification mail can be sent again; its code belongs to the password of the newest sign-up', async () => {
  await using client = await newAccountClient();
  const resend = (to: string) => client.post('/auth/accounts/verify/resend', { email: to });
  await client.signUp(email);
  await client.verificationCode(email);
  client.app.clock.advance({ seconds: 1 });
  await client.signUp(email, otherPassword);
  await client.verificationCode(email);
  const [known, unknown] = [await resend(email), await resend('unknown@example.com')];
  assert.deepEqual([known.status, known.text], [unknown.status, unknown.text]);
  const code = await client.verificationCode(email);
  assertRejected(await client.verifyEmail(code, goodPassword), 'invalid_credentials');
  assert.equal((await client.verifyEmail(code, otherPassword)).status, 200);
  // A verified account gets no mail.
  await resend(email);
  await client.untilOutboxEmpty();
  assert.deepEqual(client.mailbox.unread, []);
});

test('invalid passwords and email addresses are rejected alike, whether the account exists or not', async () => {
  await using client = await newAccountClient();
  await client.newAccount(email);
  await client.untilOutboxEmpty();
  const cases = [
    ['short', 'password_too_short'],
    [`x${'ab c'.repeat(300)}`, 'password_too_long'],
    ['a bell \u0007 rings at midnight', 'password_invalid'],
    ['keyreeve keyreeve keyreeve', 'password_context'],
    ['passwordpassword', 'password_common'],
  ] as const;
  for (const [password, code] of cases) {
    for (const to of [email, 'unknown@example.com'])
      assertRejected(await client.post('/auth/accounts', { email: to, password }), code, to);
  }
  for (const invalid of [
    'ada',
    'ada@',
    'ada@example',
    'ada@exam ple.com',
    'a\r\nBcc: eve@example.com',
    'ada@[127.0.0.1]',
  ])
    assertRejected(await client.post('/auth/accounts', { email: invalid, password: goodPassword }), 'email_invalid');
  await client.untilOutboxEmpty();
  assert.deepEqual(client.mailbox.unread, []);
});

test('all Unicode forms of an email address belong to one account', async () => {
  await using client = await newAccountClient();
  await client.signUp('ada@bücher.example');
  const mail = await client.mailbox.next();
  assert.deepEqual(mail.to.length, 1);
  await client.signUp('ADA@BU\u0308CHER.example', otherPassword);
  await client.untilOutboxEmpty();
  const created = (await listAuditEvents(client.app.db)).filter(({ action }) => action === 'account.created');
  assert.equal(created.length, 1);
  assert.equal((await client.verifyEmail(codeIn(mail))).status, 200);
  await client.signIn('ada@xn--bcher-kva.example');
  for (const invalid of ['ädа@example.com', 'ada@example。com', 'ａda@example.com'])
    assertRejected(
      await client.post('/auth/accounts', { email: invalid, password: goodPassword }),
      'email_invalid',
      invalid,
    );
});

/** A valid body of each route. The test adds members that a client must not set. */
const bodies: Readonly<Record<string, object>> = {
  'POST /auth/accounts': { email, password: goodPassword },
  'POST /auth/accounts/verify': { code: 'x', password: goodPassword },
  'POST /auth/accounts/verify/resend': { email },
  'POST /auth/password-resets': { email },
  'POST /auth/password-resets/confirm': { code: 'x', password: goodPassword },
  'POST /auth/accounts/accept-invitation': { code: 'x', password: goodPassword },
  'PUT /auth/account/password': { currentPassword: goodPassword, newPassword: otherPassword },
  'PUT /auth/account/email': { email: 'new@example.com', currentPassword: goodPassword },
  'POST /auth/account/email/confirm': { code: 'x', password: goodPassword },
  'DELETE /auth/account': { currentPassword: goodPassword },
};
const forbidden = {
  id: 'acc_mine',
  role: 'admin',
  verified: true,
  unverifiedSince: null,
  canonicalEmail: 'eve@example.com',
  passwordHash: 'x',
  disabledAt: null,
  requiresSecondFactor: false,
  accountId: 'acc_other',
};

test(
  'a body with an undeclared member is rejected and changes nothing',
  { tags: ['asvs:8.2.3', 'asvs:15.3.3'] },
  async () => {
    await using client = await newAccountClient();
    const tokens = await client.newAccount(email);
    const before = await listAuditEvents(client.app.db);
    for (const [route, body] of Object.entries(bodies)) {
      const [method = '', path = ''] = route.split(' ');
      for (const [name, value] of Object.entries(forbidden)) {
        const answer = await client.as(tokens, method, path, { ...body, [name]: value });
        assertRejected(answer, 'invalid_request', `${route} ${name}`);
        assert.deepEqual(
          (answer.json as { errors: { pointer: string }[] }).errors.map(({ pointer }) => pointer),
          [`/${name}`],
        );
      }
      const [missing = ''] = Object.keys(body);
      assertRejected(
        await client.as(tokens, method, path, { ...body, [missing]: undefined }),
        'invalid_request',
        route,
      );
      assertRejected(await client.as(tokens, method, path, { ...body, [missing]: 7 }), 'invalid_request', route);
    }
    await client.untilOutboxEmpty();
    assert.deepEqual(await listAuditEvents(client.app.db), before);
    assert.deepEqual(client.mailbox.unread, []);
  },
);

test(
  'sign-up mails are limited per email address, with its aliases, with an account or not, from any client IP',
  { tags: ['asvs:2.4.1'] },
  async () => {
    await using client = await newAccountClient({ KEYREEVE_TRUSTED_PROXIES: '127.0.0.1,::1' });
    await client.app.createAccount('known@example.com');
    for (const name of ['known', 'unknown']) {
      const from = (n: number) => `198.51.100.${n + (name === 'known' ? 0 : 100)}`;
      const signUp = (n: number) =>
        client.post(
          '/auth/accounts',
          { email: `${name}${n % 2 ? `+${n}` : ''}@example.com`, password: goodPassword },
          from(n),
        );
      for (let n = 0; n < limits.signUpsPerEmailMax; n++) assert.equal((await signUp(n)).status, 202, `${n}`);
      await client.untilOutboxEmpty();
      const rejected = await signUp(50);
      assertRejected(rejected, 'too_many_requests', name);
      // The limit frees one request at a time.
      const seconds = limits.mailRequestWindowSeconds / limits.signUpsPerEmailMax;
      assert.equal(rejected.headers.get('retry-after'), String(seconds));
      const again = await client.post('/auth/accounts/verify/resend', { email: `${name}@example.com` }, from(51));
      assertRejected(again, 'too_many_requests', name);
    }
    client.app.clock.advance({ seconds: limits.mailRequestWindowSeconds });
    await client.signUp('unknown@example.com');
  },
);

test('sign-ups are limited per client IP range before the password is hashed', { tags: ['asvs:2.4.1'] }, async () => {
  await using client = await newAccountClient({ KEYREEVE_TRUSTED_PROXIES: '127.0.0.1,::1' });
  const { hasher } = client.app.service.services;
  const signUp = (n: number, from: string) =>
    client.post('/auth/accounts', { email: `u${n}@example.com`, password: goodPassword }, from);
  for (let n = 0; n < limits.mailRequestsPerAddressMax; n++)
    assert.equal((await signUp(n, `2001:db8:1:1::${n.toString(16)}`)).status, 202);
  const { hashed } = hasher.stats;
  // Another IP address in the same /64, in another notation; and a header that a client forged.
  assertRejected(await signUp(900, '2001:DB8:0001:0001:ffff:0:0:1'), 'too_many_requests');
  assertRejected(await signUp(901, '203.0.113.9, 2001:db8:1:1::5'), 'too_many_requests');
  assert.equal(hasher.stats.hashed, hashed, 'nothing was hashed');
  assert.equal((await signUp(902, '2001:db8:1:2::1')).status, 202, 'the next /64 is another range');
});
