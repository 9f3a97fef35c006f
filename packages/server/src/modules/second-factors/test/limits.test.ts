/** How often a second factor may be guessed, what an operator may require, and that no credential is good in another's place. */
import assert from 'node:assert/strict';
import { limits, type ErrorCode } from '@keyreeve/contract';
import { Secret } from '../../../foundation/crypto/secret.ts';
import { basic, bearer, goodPassword, newApp, operator, type Answered } from '../../../../test-kit/new-app.ts';
import { assertProblem, fromFetch } from '../../../../test-kit/assert-problem.ts';
import { test } from '../../../../test-kit/app-on-each-database.ts';
import {
  as,
  beginEnrolment,
  codeAt,
  enrol,
  newEnrolledAccount,
  factorPath,
  nextStep,
  otpHeader,
  signInWith,
  trySignIn,
  wrongCode,
} from '../../../../test-kit/authenticator.ts';

const refused = (answer: Answered, code: ErrorCode, what = ''): void =>
  void assertProblem(fromFetch(answer), code, what);
const codeOf = ({ status, json }: Answered): string => (status === 200 ? 'ok' : (json as { code: string }).code);
const tally = (answers: readonly Answered[]): Record<string, number> =>
  Object.fromEntries([...Map.groupBy(answers, codeOf)].map(([code, same]) => [code, same.length]));
/** Each from a network of its own, so that only the account's own counter is met. */
const trusting = { KEYREEVE_TRUSTED_PROXIES: '127.0.0.1/32' };

test(
  'of many wrong codes at once five are looked at, from however many addresses they come',
  { tags: ['asvs:2.4.1', 'asvs:6.6.3'] },
  async () => {
    await using app = await newApp({ environment: trusting });
    const { account, secret, recoveryCodes } = await newEnrolledAccount(app);
    const guess = (code: string, n: number): Promise<Answered> =>
      app.call('POST', '/auth/token', {
        headers: { ...basic(account.email, goodPassword), [otpHeader]: code, 'x-forwarded-for': `198.51.100.${n}` },
      });
    const wrong = wrongCode(secret, app.clock.now());
    // No more at once than may be in progress for one email: a rejection for that reason is none of this counter.
    const answers: Answered[] = [];
    for (let n = 0; n < 20; n += 2) answers.push(...(await Promise.all([guess(wrong, n), guess(wrong, n + 1)])));
    assert.deepEqual(tally(answers), { second_factor_invalid: 5, too_many_attempts: 15 });
    const late = await guess(codeAt(secret, app.clock.now()), 100);
    refused(late, 'too_many_attempts', 'the right one has to wait too');
    assert.equal(late.headers.get('retry-after'), '1');
    assert.equal((await guess(recoveryCodes[0] ?? '', 101)).status, 200, 'a recovery code is never kept waiting');
  },
);

test(
  'guessing codes waits ever longer and ends at a hundred in a row; a recovery code begins anew',
  { tags: ['asvs:6.6.3'] },
  async () => {
    await using app = await newApp({ environment: trusting });
    const { account, secret, recoveryCodes } = await newEnrolledAccount(app);
    let guesses = 0;
    let looked = 0;
    const guess = (code: string): Promise<Answered> =>
      app.call('POST', '/auth/token', {
        headers: {
          ...basic(account.email, goodPassword),
          [otpHeader]: code,
          'x-forwarded-for': `203.0.113.${guesses++ % 250}`,
        },
      });
    for (let n = 0; n < 130; n++) {
      app.clock.advance({ seconds: 901 });
      if (codeOf(await guess(wrongCode(secret, app.clock.now()))) === 'second_factor_invalid') looked++;
    }
    // The email's own limit of failures in a row from unknown ranges is met at the same number.
    assert.equal(looked, limits.secondFactorFailuresMax);
    app.clock.advance({ days: 1 });
    refused(await guess(codeAt(secret, app.clock.now())), 'too_many_attempts');
    const home = (code: string): Promise<Answered> => trySignIn(app, account.email, code);
    refused(await home(codeAt(secret, app.clock.now())), 'too_many_attempts', 'from a known range too');
    assert.equal((await home(recoveryCodes[0] ?? '')).status, 200);
    assert.equal((await home(codeAt(secret, app.clock.now()))).status, 200);
  },
);

test('asking for the code costs no attempt, and takes no failure back', async () => {
  await using app = await newApp({ environment: trusting });
  const { account, secret } = await newEnrolledAccount(app);
  const from = (password: string, code?: string): Promise<Answered> =>
    app.call('POST', '/auth/token', {
      headers: {
        ...basic(account.email, password),
        'x-forwarded-for': '198.51.100.7',
        ...(code === undefined ? {} : { [otpHeader]: code }),
      },
    });
  for (let n = 0; n < 20; n++) refused(await from(goodPassword), 'second_factor_required');
  for (let n = 0; n < limits.loginPairFreeFailures; n++) {
    refused(await from('a wrong password of some length'), 'invalid_credentials');
    app.clock.advance({ seconds: 2 });
    if (n < limits.loginPairFreeFailures - 1) refused(await from(goodPassword), 'second_factor_required');
  }
  refused(await from('a wrong password of some length'), 'invalid_credentials');
  refused(await from(goodPassword), 'too_many_attempts', 'the waits go on');
  app.clock.advance({ seconds: 60 });
  assert.equal((await from(goodPassword, codeAt(secret, app.clock.now()))).status, 200);
});

test('wrong codes count as failed sign-ins of their address', async () => {
  await using app = await newApp({ environment: trusting });
  const { account, secret } = await newEnrolledAccount(app);
  const hashes = (): number => app.service.services.hasher.stats.hashed;
  const guess = (): Promise<Answered> =>
    app.call('POST', '/auth/token', {
      headers: {
        ...basic(account.email, goodPassword),
        [otpHeader]: wrongCode(secret, app.clock.now()),
        'x-forwarded-for': '198.51.100.7',
      },
    });
  const before = hashes();
  for (let n = 0; n < 30; n++) await guess();
  assert.equal(hashes() - before, limits.loginPairFreeFailures, 'then not even the password is looked at');
});

test('wrong current passwords and wrong codes of a session are limited, and of that session alone', async () => {
  await using app = await newApp();
  const user = await newEnrolledAccount(app);
  const replace = (currentPassword: string, code: string): Promise<Answered> =>
    as(app, user, 'POST', '/auth/account/recovery-codes', { currentPassword, code });
  const guesses: Answered[] = [];
  for (let n = 0; n < 16; n++) guesses.push(await replace('a wrong password of length', '000000'));
  const { secondFactorFreeFailures: max } = limits;
  assert.deepEqual(tally(guesses), { password_wrong: max, too_many_attempts: 16 - max });
  const other = { ...user, ...(await signInWith(app, user.account.email, user.recoveryCodes[0] ?? '')) };
  const path = '/auth/account/recovery-codes';
  const ofOther = await as(app, other, 'POST', path, { currentPassword: goodPassword, code: '00000' });
  refused(ofOther, 'second_factor_wrong', 'the owner’s other session');
  app.clock.advance({ seconds: 61 });
  const wrong = wrongCode(user.secret, app.clock.now());
  const codes: Answered[] = [];
  for (let n = 0; n < 8; n++) codes.push(await replace(goodPassword, wrong));
  assert.deepEqual(tally(codes), { second_factor_wrong: 5, too_many_attempts: 3 });
});

test('codes that finish an enrolment are counted too', async () => {
  await using app = await newApp();
  const user = await app.signIn();
  const secret = await beginEnrolment(app, user);
  const confirm = (code: string): Promise<Answered> => as(app, user, 'POST', `${factorPath}/confirm`, { code });
  const wrong = wrongCode(secret, app.clock.now());
  const answers = await Promise.all(Array.from({ length: 16 }, () => confirm(wrong)));
  assert.deepEqual(tally(answers), { second_factor_wrong: 5, too_many_attempts: 11 });
});

test('of sixteen that confirm at once one does, with its ten codes', async () => {
  await using app = await newApp({ environment: { KEYREEVE_THROTTLE: 'off' }, areRequestsLimited: false });
  const user = await app.signIn();
  const secret = await beginEnrolment(app, user);
  const code = codeAt(secret, app.clock.now());
  const answers = await Promise.all(
    Array.from({ length: 16 }, () => as(app, user, 'POST', `${factorPath}/confirm`, { code })),
  );
  assert.deepEqual(tally(answers), { ok: 1, second_factor_not_enrolled: 15 });
  const [winner] = answers.filter(({ status }) => status === 200);
  assert.ok(winner);
  const { recoveryCodes } = winner.json as { recoveryCodes: string[] };
  for (const recoveryCode of recoveryCodes) await signInWith(app, user.account.email, recoveryCode);
});

test(
  'where a factor is required and none enrolled, a session is good for enrolling one, and for signing out',
  { tags: ['asvs:6.3.3'] },
  async () => {
    await using app = await newApp();
    const { accounts } = app.service.services;
    const account = await app.createAccount('ada@example.com');
    await accounts.requireSecondFactor(operator, account.id, true);
    const user = { ...(await signInWith(app, 'ada@example.com')), account };
    const closed: readonly (readonly [string, string, unknown?])[] = [
      ['GET', '/auth/api-keys'],
      ['POST', '/auth/api-keys', { nickname: 'mine' }],
      ['DELETE', '/auth/api-keys/1'],
      ['GET', '/auth/sessions'],
      ['DELETE', '/auth/sessions'],
      ['DELETE', '/auth/sessions/ses_x'],
      ['DELETE', factorPath, { currentPassword: goodPassword, code: '000000' }],
      ['POST', '/auth/account/recovery-codes', { currentPassword: goodPassword, code: '000000' }],
    ];
    for (const [method, path, json] of closed)
      refused(await as(app, user, method, path, json), 'second_factor_enrolment_required', `${method} ${path}`);
    refused(await app.call('GET', '/auth/forward', { headers: bearer(user.accessToken) }), 'invalid_credential');
    const verdict = await app.call('POST', '/auth/verify', {
      headers: bearer(await app.serviceKey()),
      json: { credential: user.accessToken },
    });
    assert.deepEqual(verdict.json, { valid: false, code: 'enrolment_required' });
    const refresh = await app.call('POST', '/auth/token/refresh', { json: { refreshToken: user.refreshToken } });
    const refreshed = refresh.json as typeof user;
    refused(await as(app, refreshed, 'GET', '/auth/api-keys'), 'second_factor_enrolment_required', 'refreshed');

    const { secret } = await enrol(app, { ...user, ...refreshed });
    assert.equal((await as(app, refreshed, 'GET', '/auth/api-keys')).status, 200);
    nextStep(app);
    refused(await trySignIn(app, 'ada@example.com'), 'second_factor_required');
    const proof = { currentPassword: goodPassword, code: codeAt(secret, app.clock.now()) };
    refused(await as(app, refreshed, 'DELETE', factorPath, proof), 'second_factor_required_by_policy');
    await accounts.requireSecondFactor(operator, account.id, false);
    assert.equal((await as(app, refreshed, 'DELETE', factorPath, proof)).status, 204, 'the code was not used up');
    await signInWith(app, 'ada@example.com');
  },
);

test(
  'an operator who removes a lost factor ends all sessions; where one is required, the next is enrolled first',
  { tags: ['asvs:6.4.4'] },
  async () => {
    await using app = await newApp();
    const { accounts, administration } = app.service.services;
    const user = await newEnrolledAccount(app, 'ada@example.com');
    await accounts.requireSecondFactor(operator, user.account.id, true);
    await administration.removeSecondFactor(operator, user.account.id, '192.0.2.1');
    refused(await as(app, user, 'GET', '/auth/sessions'), 'invalid_access_token');
    const again = await signInWith(app, 'ada@example.com');
    refused(await as(app, again, 'GET', '/auth/sessions'), 'second_factor_enrolment_required');
    await beginEnrolment(app, again);
    const removing = administration.removeSecondFactor(operator, user.account.id, '192.0.2.1');
    await assert.rejects(removing, { code: 'second_factor_not_enrolled' }, 'one that was only begun is none');
  },
);

test('a disabled account is told nothing of its factor, and a new password leaves it in force', async () => {
  await using app = await newApp();
  const { accounts } = app.service.services;
  const { account, secret } = await newEnrolledAccount(app);
  await accounts.disable(operator, account.id);
  for (const code of [undefined, codeAt(secret, app.clock.now())])
    refused(await trySignIn(app, account.email, code), 'invalid_credentials');
  await accounts.enable(operator, account.id);
  const password = 'another wombat orbits velvet';
  await accounts.setPassword(operator, account.id, new Secret(password));
  refused(await trySignIn(app, account.email, undefined, password), 'second_factor_required');
  assert.equal((await trySignIn(app, account.email, codeAt(secret, app.clock.now()), password)).status, 200);
});

test('every kind of credential is good in its own place only', { tags: ['asvs:6.3.4'] }, async () => {
  await using app = await newApp();
  const user = await newEnrolledAccount(app);
  const key = (await as(app, user, 'POST', '/auth/api-keys', { nickname: 'k' })).json as { key: string };
  const oneTimeCode = app.service.services.codes.make().text.reveal();
  const credentials: Readonly<Record<string, string>> = {
    'access token': user.accessToken,
    'refresh token': user.refreshToken,
    'API key': key.key,
    'one-time code': oneTimeCode,
    'recovery code': user.recoveryCodes[0] ?? '',
    'TOTP secret': user.secret,
    password: goodPassword,
  };
  const serviceKey = await app.serviceKey();
  const places: Readonly<Record<string, (credential: string) => Promise<boolean>>> = {
    'as the Bearer of an account': async (text) =>
      (await app.call('GET', '/auth/api-keys', { headers: bearer(text) })).status === 200,
    'as the Bearer of a service’s caller': async (text) =>
      (await app.call('GET', '/auth/forward', { headers: bearer(text) })).status === 200,
    'as X-API-Key': async (text) =>
      (await app.call('GET', '/auth/forward', { headers: { 'x-api-key': text } })).status === 200,
    'as what is verified': async (text) => {
      const answer = await app.call('POST', '/auth/verify', {
        headers: bearer(serviceKey),
        json: { credential: text },
      });
      return (answer.json as { valid: boolean }).valid;
    },
    'as the password': async (text) =>
      codeOf(await trySignIn(app, user.account.email, undefined, text)) !== 'invalid_credentials',
    'as the code of the second factor': async (text) => (await trySignIn(app, user.account.email, text)).status === 200,
    'as a refresh token': async (text) =>
      (await app.call('POST', '/auth/token/refresh', { json: { refreshToken: text } })).status === 200,
  };
  const good: string[] = [];
  for (const [place, isGood] of Object.entries(places)) {
    for (const [kind, text] of Object.entries(credentials)) {
      // Failures would make the right one wait.
      app.clock.advance({ seconds: 20 });
      if (await isGood(text)) good.push(`${kind} ${place}`);
    }
  }
  assert.deepEqual(good, [
    'access token as the Bearer of an account',
    'access token as the Bearer of a service’s caller',
    'API key as the Bearer of a service’s caller',
    'API key as X-API-Key',
    'access token as what is verified',
    'API key as what is verified',
    'password as the password',
    'recovery code as the code of the second factor',
    'refresh token as a refresh token',
  ]);
});
