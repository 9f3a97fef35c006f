/** Signing up and verifying: the answer tells nothing, the mail tells all, and only the mail's reader gets in. */
import assert from 'node:assert/strict';
import { limits } from '@keyreeve/contract';
import { listAuditEvents } from '../../../../test-kit/audit-trail.ts';
import { codeIn } from '../../../../test-kit/mailbox.ts';
import { goodPassword, newApp } from '../../../../test-kit/new-app.ts';
import {
  assertRejected,
  newAccountClient,
  otherPassword,
  type AccountClient,
} from '../../../../test-kit/account-client.ts';
import { test } from '../../../../test-kit/app-on-each-database.ts';

const email = 'ada@example.com';

test(
  'who signs up and verifies has an account like any other, and then makes keys',
  { tags: ['asvs:2.3.1'] },
  async () => {
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
      requiresSecondFactor: false,
      language: null,
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
  },
);

test('sign-up is closed unless the operator opens it, also to who would not be accepted', async () => {
  await using app = await newApp();
  for (const [address, password] of [
    [email, goodPassword],
    ['no address', 'short'],
  ]) {
    assertRejected(await app.call('POST', '/auth/accounts', { json: { email: address, password } }), 'signup_closed');
  }
});

test('a known email, an unknown and a disabled one get the same answer, and no account is changed', async () => {
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
    assert.ok(!mail.text.includes('krvc_'), 'it has no code');
  }
  assert.ok(await client.verificationCode('new@example.com'));
  assertRejected(await client.trySignIn('known@example.com', otherPassword), 'invalid_credentials');
  await client.signIn('known@example.com');
});

test('whoever signs up with an email can’t tell by a sign-in whether it had an account', async () => {
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

test('an address is told a few times a day that it has an account, and no more', async () => {
  await using client = await newAccountClient({ KEYREEVE_THROTTLE: 'off' }, false);
  await client.newAccount(email);
  for (let n = 0; n < limits.accountExistsMailsMax + 3; n++) await client.signUp(email, otherPassword);
  await client.untilOutboxEmpty();
  const told = client.mailbox.messages.filter(({ subject }) => subject.startsWith('You already have'));
  assert.equal(told.length, limits.accountExistsMailsMax);
  client.app.clock.advance({ days: 1, seconds: 1 });
  await client.signUp(email, otherPassword);
  await client.mailbox.next({ subject: /^You already have/ });
});

test(
  'a code is good once, with the password of its own sign-up, and a wrong one doesn’t use it up',
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

test('of sixteen who use a code at once one succeeds', async () => {
  await using client = await newAccountClient({ KEYREEVE_THROTTLE: 'off' }, false);
  await client.signUp(email);
  const code = await client.verificationCode(email);
  const answers = await Promise.all(Array.from({ length: 16 }, () => client.verifyEmail(code)));
  assert.equal(answers.filter(({ status }) => status === 200).length, 1);
  for (const answer of answers.filter(({ status }) => status !== 200)) assertRejected(answer, 'code_invalid');
  const verified = (await listAuditEvents(client.app.db)).filter(({ action }) => action === 'account.verified');
  assert.equal(verified.length, 1);
});

test('of sixteen who sign up with one email at once each has a code of its own, and one account is verified', async () => {
  await using client = await newAccountClient({ KEYREEVE_THROTTLE: 'off' }, false);
  const passwords = Array.from({ length: 16 }, (_, n) => `${goodPassword} number ${n}`);
  await Promise.all(passwords.map((password) => client.signUp(email, password)));
  await client.untilOutboxEmpty();
  const codes = await Promise.all(passwords.map(() => client.verificationCode(email)));
  assert.equal(new Set(codes).size, 16);
  const created = (await listAuditEvents(client.app.db)).filter(({ action }) => action === 'account.created');
  assert.equal(created.length, 1);
  // The mails come in any order: each code is tried with one password after the other, all codes at once.
  const isVerified = await Promise.all(
    codes.map(async (code) => {
      for (const password of passwords) if ((await client.verifyEmail(code, password)).status === 200) return true;
      return false;
    }),
  );
  assert.equal(isVerified.filter(Boolean).length, 1);
});

test('a code is good for a day', { tags: ['asvs:6.5.5'] }, async () => {
  await using client = await newAccountClient();
  await client.signUp(email);
  const code = await client.verificationCode(email);
  client.app.clock.advance({ seconds: limits.verificationCodeSeconds });
  assertRejected(await client.verifyEmail(code), 'code_invalid');
  await client.signUp(email);
  const next = await client.verificationCode(email);
  client.app.clock.advance({ seconds: limits.verificationCodeSeconds - 1 });
  assert.equal((await client.verifyEmail(next)).status, 200);
});

test('the mail of a sign-up can be sent again, with the password of the newest one', async () => {
  await using client = await newAccountClient();
  const resend = (address: string) => client.post('/auth/accounts/verify/resend', { email: address });
  await client.signUp(email);
  await client.verificationCode(email);
  client.app.clock.advance({ seconds: 1 });
  await client.signUp(email, otherPassword);
  await client.verificationCode(email);
  const [known, unknown] = [await resend(email), await resend('nobody@example.com')];
  assert.deepEqual([known.status, known.text], [unknown.status, unknown.text]);
  const code = await client.verificationCode(email);
  assertRejected(await client.verifyEmail(code, goodPassword), 'invalid_credentials');
  assert.equal((await client.verifyEmail(code, otherPassword)).status, 200);
  // A verified account is not written to.
  await resend(email);
  await client.untilOutboxEmpty();
  assert.deepEqual(client.mailbox.unread, []);
});

test('what is no new account’s email or password is refused alike for known and unknown emails', async () => {
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
    for (const address of [email, 'unknown@example.com'])
      assertRejected(await client.post('/auth/accounts', { email: address, password }), code, address);
  }
  for (const address of [
    'ada',
    'ada@',
    'ada@example',
    'ada@exam ple.com',
    'a\r\nBcc: eve@example.com',
    'ada@[127.0.0.1]',
  ])
    assertRejected(await client.post('/auth/accounts', { email: address, password: goodPassword }), 'email_invalid');
  await client.untilOutboxEmpty();
  assert.deepEqual(client.mailbox.unread, []);
});

test('an email in Unicode is one account in every way of writing it', async () => {
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
  for (const address of ['ädа@example.com', 'ada@example。com', 'ａda@example.com'])
    assertRejected(
      await client.post('/auth/accounts', { email: address, password: goodPassword }),
      'email_invalid',
      address,
    );
});

/** Each has what a client must never say beside what it may. */
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
const unwanted = {
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
  'a field that no body has is refused, whatever it would set, and nothing is done',
  { tags: ['asvs:8.2.3', 'asvs:15.3.3'] },
  async () => {
    await using client = await newAccountClient();
    const tokens = await client.newAccount(email);
    const before = await listAuditEvents(client.app.db);
    for (const [route, body] of Object.entries(bodies)) {
      const [method = '', path = ''] = route.split(' ');
      for (const [name, value] of Object.entries(unwanted)) {
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

async function drain(
  client: AccountClient,
  count: number,
  ask: (n: number) => Promise<{ status: number }>,
): Promise<void> {
  for (let n = 0; n < count; n++) assert.equal((await ask(n)).status, 202, `${n}`);
  await client.untilOutboxEmpty();
}

test(
  'nobody floods a mailbox by sign-ups: by one email and its aliases, known or not, from anywhere',
  { tags: ['asvs:2.4.1'] },
  async () => {
    await using client = await newAccountClient({ KEYREEVE_TRUSTED_PROXIES: '127.0.0.1,::1' });
    await client.app.createAccount('known@example.com');
    for (const name of ['known', 'unknown']) {
      const from = (n: number) => `198.51.100.${n + (name === 'known' ? 0 : 100)}`;
      const ask = (n: number) =>
        client.post(
          '/auth/accounts',
          { email: `${name}${n % 2 ? `+${n}` : ''}@example.com`, password: goodPassword },
          from(n),
        );
      await drain(client, limits.signUpsPerEmailMax, ask);
      const refused = await ask(50);
      assertRejected(refused, 'too_many_requests', name);
      // The count falls by one at a time.
      const seconds = limits.mailRequestWindowSeconds / limits.signUpsPerEmailMax;
      assert.equal(refused.headers.get('retry-after'), String(seconds));
      const again = await client.post('/auth/accounts/verify/resend', { email: `${name}@example.com` }, from(51));
      assertRejected(again, 'too_many_requests', name);
    }
    client.app.clock.advance({ seconds: limits.mailRequestWindowSeconds });
    await client.signUp('unknown@example.com');
  },
);

test(
  'nobody makes hashes for nothing: sign-ups from one address range and from one network are counted',
  { tags: ['asvs:2.4.1'] },
  async () => {
    await using client = await newAccountClient({ KEYREEVE_TRUSTED_PROXIES: '127.0.0.1,::1' });
    const { hasher } = client.app.service.services;
    const ask = (n: number, from: string) =>
      client.post('/auth/accounts', { email: `u${n}@example.com`, password: goodPassword }, from);
    for (let n = 0; n < limits.mailRequestsPerAddressMax; n++)
      assert.equal((await ask(n, `2001:db8:1:1::${n.toString(16)}`)).status, 202);
    const { hashed } = hasher.stats;
    // Another address of the same /64, in another way of writing it; and a header that no trusted proxy wrote.
    assertRejected(await ask(900, '2001:DB8:0001:0001:ffff:0:0:1'), 'too_many_requests');
    assertRejected(await ask(901, '203.0.113.9, 2001:db8:1:1::5'), 'too_many_requests');
    assert.equal(hasher.stats.hashed, hashed, 'nothing was hashed');
    assert.equal((await ask(902, '2001:db8:1:2::1')).status, 202, 'the next link is another range');
  },
);
