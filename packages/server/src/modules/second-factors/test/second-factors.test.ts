/** Enrolment, verification and removal of a second factor, and recovery codes (ASVS 5.0 6.3.3, 6.5). */
import assert from 'node:assert/strict';
import { listAuditEvents } from '../../../../test-kit/audit-log.ts';
import { bearer, goodPassword, newApp, type Answered, type TestApp } from '../../../../test-kit/new-app.ts';
import { assertRejected } from '../../../../test-kit/account-client.ts';
import { test, testOnBoth } from '../../../../test-kit/app-on-each-database.ts';
import {
  as,
  beginEnrolment,
  codeAt,
  enrol,
  newEnrolledAccount,
  factorPath,
  nextStep,
  signInWith,
  stepSeconds,
  trySignIn,
  wrongCode,
  type Enrolled,
} from '../../../../test-kit/authenticator.ts';
import { whenAvailable } from '../../../../test-kit/when-available.ts';

const codeNow = (app: TestApp, { secret }: Pick<Enrolled, 'secret'>): string => codeAt(secret, app.clock.now());
const isSignedIn = async (app: TestApp, user: { accessToken: string }): Promise<boolean> =>
  (await as(app, user, 'GET', '/auth/sessions')).status === 200;
const actions = async (app: TestApp): Promise<string[]> => (await listAuditEvents(app.db)).map(({ action }) => action);

test(
  'an enrolment returns a secret and a URI for authenticators, and changes nothing before its confirmation',
  { tags: ['asvs:6.5.3'] },
  async () => {
    await using app = await newApp();
    const user = await app.signIn('ada@example.com');
    const answer = await as(app, user, 'POST', factorPath, { currentPassword: goodPassword });
    assert.equal(answer.status, 201);
    const { secret, uri, ...others } = answer.json as { secret: string; uri: string };
    assert.deepEqual(others, {});
    assert.match(secret, /^[A-Z2-7]{32}$/);
    const { protocol, host, pathname, searchParams } = new URL(uri);
    assert.deepEqual(
      [protocol, host, decodeURIComponent(pathname)],
      ['otpauth:', 'totp', '/localhost:ada@example.com'],
    );
    assert.deepEqual(Object.fromEntries(searchParams), {
      issuer: 'localhost',
      secret,
      algorithm: 'SHA1',
      digits: '6',
      period: '30',
    });
    await signInWith(app, 'ada@example.com');
    assert.ok(await isSignedIn(app, user));
  },
);

test(
  'a confirmation returns ten recovery codes once and ends all other sessions',
  { tags: ['asvs:6.5.2', 'asvs:6.5.4', 'asvs:7.4.3'] },
  async () => {
    await using app = await newApp();
    const user = await app.signIn('ada@example.com');
    const other = await signInWith(app, 'ada@example.com');
    const key = await as(app, user, 'POST', '/auth/api-keys', { nickname: 'machine' });
    const { recoveryCodes } = await enrol(app, user);
    assert.equal(recoveryCodes.length, 10);
    assert.equal(new Set(recoveryCodes).size, 10);
    for (const code of recoveryCodes) assert.match(code, /^(?:[0-9A-HJKMNP-TV-Z]{4}-){5}[0-9A-HJKMNP-TV-Z]{4}$/);
    assert.equal(await isSignedIn(app, other), false);
    const { refreshToken } = other;
    assertRejected(await app.call('POST', '/auth/token/refresh', { json: { refreshToken } }), 'invalid_refresh_token');
    assert.ok(await isSignedIn(app, user));
    const refresh = await app.call('POST', '/auth/token/refresh', { json: { refreshToken: user.refreshToken } });
    assert.equal(refresh.status, 200);
    const forward = await app.call('GET', '/auth/forward', { headers: bearer((key.json as { key: string }).key) });
    assert.equal(forward.status, 200, 'API keys still work');
    assert.deepEqual((await actions(app)).slice(-3), ['second_factor.begun', 'second_factor.added', 'session.ended']);
  },
);

test(
  'a sign-in requires a code, which the response shows only after a correct password',
  { tags: ['asvs:6.3.3'] },
  async () => {
    await using app = await newApp();
    const { account, secret } = await newEnrolledAccount(app);
    const code = codeAt(secret, app.clock.now());
    const missing = await trySignIn(app, account.email);
    assertRejected(missing, 'second_factor_required');
    assert.equal(missing.headers.get('www-authenticate'), 'Basic realm="keyreeve", charset="UTF-8"');
    assertRejected(await trySignIn(app, account.email, ''), 'second_factor_required');
    assertRejected(await trySignIn(app, account.email, wrongCode(secret, app.clock.now())), 'second_factor_invalid');
    for (const otp of [undefined, code, wrongCode(secret, app.clock.now())])
      assertRejected(
        await trySignIn(app, account.email, otp, 'a wrong password of some length'),
        'invalid_credentials',
      );
    app.clock.advance({ seconds: stepSeconds });
    const answer = await trySignIn(app, account.email, codeAt(secret, app.clock.now()));
    assert.equal(answer.status, 200);
    assert.deepEqual(Object.keys(answer.json as object).toSorted(), ['accessToken', 'refreshToken']);
  },
);

test('a wrong password gets identical responses with any code, with or without a second factor', async () => {
  await using app = await newApp();
  const { secret } = await newEnrolledAccount(app, 'ada@example.com');
  await app.createAccount('bob@example.com');
  const bodies = new Set<string>();
  for (const email of ['ada@example.com', 'bob@example.com', 'unknown@example.com']) {
    for (const code of [undefined, codeAt(secret, app.clock.now()), '000000', 'x'.repeat(500)]) {
      const answer = await trySignIn(app, email, code, 'a wrong password of some length');
      assertRejected(answer, 'invalid_credentials', email);
      const headers = [...answer.headers].filter(([name]) => name !== 'date');
      bodies.add(JSON.stringify([headers, { ...(answer.json as object), requestId: '' }]));
    }
  }
  assert.equal(bodies.size, 1);
});

test('an account without a second factor signs in with any value of the header', async () => {
  await using app = await newApp();
  await app.createAccount('ada@example.com');
  for (const code of ['', '000000', 'nonsense']) await signInWith(app, 'ada@example.com', code);
});

test('a code is accepted at most one step early and one step late', { tags: ['asvs:6.5.5'] }, async () => {
  await using app = await newApp();
  const { account, secret } = await newEnrolledAccount(app);
  app.clock.advance({ seconds: 10 * stepSeconds });
  const at = (steps: number): string => codeAt(secret, app.clock.now() + steps * stepSeconds * 1000);
  assertRejected(await trySignIn(app, account.email, at(-2)), 'second_factor_invalid');
  assertRejected(await trySignIn(app, account.email, at(2)), 'second_factor_invalid');
  await signInWith(app, account.email, at(-1));
  await signInWith(app, account.email, at(0));
  await signInWith(app, account.email, at(1));
});

test('a code is accepted once, and no earlier code after it', { tags: ['asvs:6.5.1'] }, async () => {
  await using app = await newApp();
  const user = await enrol(app, await app.signIn());
  const { email } = user.account;
  assertRejected(
    await trySignIn(app, email, codeNow(app, user)),
    'second_factor_invalid',
    'the code of the confirmation',
  );
  nextStep(app);
  const early = codeNow(app, user);
  const late = codeAt(user.secret, app.clock.now() + stepSeconds * 1000);
  await signInWith(app, email, late);
  assertRejected(await trySignIn(app, email, late), 'second_factor_invalid', 'again');
  assertRejected(await trySignIn(app, email, early), 'second_factor_invalid', 'the one before');
});

testOnBoth('one of sixteen concurrent sign-ins with a code succeeds', { tags: ['asvs:6.5.1'] }, async () => {
  for (const kind of ['code', 'recovery code'] as const) {
    await using app = await newApp({ environment: { KEYREEVE_THROTTLE: 'off' }, areRequestsLimited: false });
    const user = await newEnrolledAccount(app);
    const code = kind === 'code' ? codeNow(app, user) : (user.recoveryCodes[0] ?? '');
    const answers = await Promise.all(
      Array.from({ length: 16 }, () => whenAvailable(() => trySignIn(app, user.account.email, code))),
    );
    assert.equal(answers.filter(({ status }) => status === 200).length, 1, kind);
    for (const answer of answers.filter(({ status }) => status !== 200))
      assertRejected(answer, 'second_factor_invalid');
    assert.equal((await actions(app)).filter((action) => action === 'session.created').length, 2);
  }
});

test(
  'a recovery code works once, in any case and grouping, for its own account only',
  { tags: ['asvs:6.4.4', 'asvs:6.5.1'] },
  async () => {
    await using app = await newApp();
    const ada = await newEnrolledAccount(app);
    const bob = await newEnrolledAccount(app);
    const [first = '', second = ''] = ada.recoveryCodes;
    assertRejected(await trySignIn(app, bob.account.email, first), 'second_factor_invalid');
    await signInWith(app, ada.account.email, first);
    assertRejected(await trySignIn(app, ada.account.email, first), 'second_factor_invalid');
    const typed = second.toLowerCase().replaceAll('-', ' ').replaceAll('0', 'o').replaceAll('1', 'l');
    await signInWith(app, ada.account.email, typed);
    const used = (await listAuditEvents(app.db)).filter(({ action }) => action === 'recovery_code.used');
    assert.deepEqual(
      used.map(({ accountId, details }) => [accountId, (JSON.parse(details ?? '') as { left: number }).left]),
      [9, 8].map((left) => [ada.account.id, left]),
    );
  },
);

test('new recovery codes require the password and a code, and replace the old ones', async () => {
  await using app = await newApp();
  const user = await newEnrolledAccount(app);
  const replace = (currentPassword: string, code: string): Promise<Answered> =>
    as(app, user, 'POST', '/auth/account/recovery-codes', { currentPassword, code });
  assertRejected(await replace('a wrong password of some length', codeNow(app, user)), 'password_wrong');
  assertRejected(await replace(goodPassword, wrongCode(user.secret, app.clock.now())), 'second_factor_wrong');
  const answer = await replace(goodPassword, codeNow(app, user));
  assert.equal(answer.status, 200, answer.text);
  const { recoveryCodes } = answer.json as { recoveryCodes: string[] };
  assert.equal(new Set([...recoveryCodes, ...user.recoveryCodes]).size, 20);
  assertRejected(await trySignIn(app, user.account.email, user.recoveryCodes[1]), 'second_factor_invalid');
  assertRejected(await replace(goodPassword, codeNow(app, user)), 'second_factor_wrong', 'used up');
  await signInWith(app, user.account.email, recoveryCodes[1]);
});

test('a removal requires the password and a code; afterwards the password signs in, and recovery codes do not work', async () => {
  await using app = await newApp();
  const user = await newEnrolledAccount(app);
  const other = await signInWith(app, user.account.email, codeNow(app, user));
  nextStep(app);
  const remove = (currentPassword: string, code: string): Promise<Answered> =>
    as(app, user, 'DELETE', factorPath, { currentPassword, code });
  assertRejected(await remove('a wrong password of some length', codeNow(app, user)), 'password_wrong');
  assertRejected(await remove(goodPassword, wrongCode(user.secret, app.clock.now())), 'second_factor_wrong');
  const answer = await remove(goodPassword, user.recoveryCodes[0] ?? '');
  assert.deepEqual([answer.status, answer.text], [204, '']);
  assert.equal(await isSignedIn(app, other), false);
  assert.ok(await isSignedIn(app, user));
  await signInWith(app, user.account.email);
  assertRejected(await remove(goodPassword, user.recoveryCodes[1] ?? ''), 'second_factor_not_enrolled');
  const again = await enrol(app, user);
  nextStep(app);
  assertRejected(
    await trySignIn(app, user.account.email, user.recoveryCodes[1]),
    'second_factor_invalid',
    'of the old one',
  );
  await signInWith(app, user.account.email, codeNow(app, again));
});

test('an enrolment replaces an unconfirmed one, expires after ten minutes, and is rejected if a factor is enrolled', async () => {
  await using app = await newApp();
  const user = await app.signIn();
  const confirm = (secret: string, by = user): Promise<Answered> =>
    as(app, by, 'POST', `${factorPath}/confirm`, { code: codeAt(secret, app.clock.now()) });
  assertRejected(await confirm('A'.repeat(32)), 'second_factor_not_enrolled');
  const first = await beginEnrolment(app, user);
  const second = await beginEnrolment(app, user);
  assertRejected(await confirm(first), 'second_factor_wrong');
  app.clock.advance({ seconds: 601 });
  const later = await signInWith(app, user.account.email);
  assertRejected(await confirm(second, { ...user, ...later }), 'second_factor_not_enrolled');
  const third = await beginEnrolment(app, later);
  app.clock.advance({ seconds: 300 });
  assert.equal((await confirm(third, { ...user, ...later })).status, 200);
  assertRejected(await as(app, later, 'POST', factorPath, { currentPassword: goodPassword }), 'second_factor_exists');
});

test('changes to a second factor require a recent sign-in', { tags: ['asvs:7.5.1'] }, async () => {
  await using app = await newApp();
  const user = await newEnrolledAccount(app);
  app.clock.advance({ seconds: 301 });
  const proof = { currentPassword: goodPassword, code: codeNow(app, user) };
  assertRejected(await as(app, user, 'POST', factorPath, { currentPassword: goodPassword }), 'reauth_required');
  assertRejected(await as(app, user, 'DELETE', factorPath, proof), 'reauth_required');
  assertRejected(await as(app, user, 'POST', '/auth/account/recovery-codes', proof), 'reauth_required');
});

test('a body with an undeclared member or a wrong type is rejected and changes nothing', async () => {
  await using app = await newApp();
  const user = await app.signIn();
  const bodies: readonly (readonly [string, string, unknown])[] = [
    ['POST', factorPath, { currentPassword: goodPassword, secret: 'A'.repeat(32) }],
    ['POST', factorPath, { currentPassword: goodPassword, accountId: 'acc_other' }],
    ['POST', factorPath, { currentPassword: [goodPassword] }],
    ['POST', factorPath, {}],
    ['POST', `${factorPath}/confirm`, { code: 123456 }],
    ['POST', `${factorPath}/confirm`, { code: '123456', confirmedAt: 1 }],
    ['DELETE', factorPath, { currentPassword: goodPassword }],
    ['DELETE', factorPath, { currentPassword: goodPassword, code: '123456', policy: 'off' }],
    ['POST', '/auth/account/recovery-codes', { currentPassword: goodPassword, code: '1', recoveryCodes: ['mine'] }],
  ];
  for (const [method, path, body] of bodies)
    assertRejected(await as(app, user, method, path, body), 'invalid_request', JSON.stringify(body));
  assert.ok(!(await actions(app)).some((action) => /factor|recovery/.test(action)));
});

test('neither the secret nor a recovery code is in the log or the audit log', async () => {
  await using app = await newApp();
  const { secret, recoveryCodes, account } = await newEnrolledAccount(app);
  await signInWith(app, account.email, recoveryCodes[0]);
  const log = app.logLines.join('\n');
  for (const text of [secret, ...recoveryCodes]) {
    assert.ok(!log.includes(text));
    assert.ok(!JSON.stringify(await listAuditEvents(app.db)).includes(text));
  }
});
