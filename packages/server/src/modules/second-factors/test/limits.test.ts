/** Limits on wrong second-factor codes, required second factors, and credentials in use of another kind. */
import assert from 'node:assert/strict';
import { limits, type CreatedKey, type ListedSession } from '@keyreeve/contract';
import { Secret } from '../../../foundation/crypto/secret.ts';
import { basic, bearer, goodPassword, newApp, operator, type Answered } from '../../../../test-kit/new-app.ts';
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
  otpHeader,
  signInWith,
  trySignIn,
  wrongCode,
} from '../../../../test-kit/authenticator.ts';
import { addServiceAccount } from '../../../../test-kit/rows.ts';
import { whenAvailable } from '../../../../test-kit/when-available.ts';

const codeOf = ({ status, json }: Answered): string => (status === 200 ? 'ok' : (json as { code: string }).code);
const tally = (answers: readonly Answered[]): Record<string, number> =>
  Object.fromEntries([...Map.groupBy(answers, codeOf)].map(([code, same]) => [code, same.length]));
/** Each request has its own client IP range, so that only the limit of the account applies. */
const behindProxy = { KEYREEVE_TRUSTED_PROXIES: '127.0.0.1/32' };

testOnBoth(
  'five of many concurrent wrong codes are verified, from any number of client IPs',
  { tags: ['asvs:2.4.1', 'asvs:6.6.3'] },
  async () => {
    await using app = await newApp({ environment: behindProxy });
    const { account, secret, recoveryCodes } = await newEnrolledAccount(app);
    const guess = (code: string, n: number): Promise<Answered> =>
      app.call('POST', '/auth/token', {
        headers: { ...basic(account.email, goodPassword), [otpHeader]: code, 'x-forwarded-for': `198.51.100.${n}` },
      });
    const wrong = wrongCode(secret, app.clock.now());
    // Two at a time: more would reach the limit of sign-ins in progress for one email address.
    const answers: Answered[] = [];
    for (let n = 0; n < 20; n += 2) answers.push(...(await Promise.all([guess(wrong, n), guess(wrong, n + 1)])));
    assert.deepEqual(tally(answers), { second_factor_invalid: 5, too_many_attempts: 15 });
    const late = await guess(codeAt(secret, app.clock.now()), 100);
    assertRejected(late, 'too_many_attempts', 'the correct code has to wait as well');
    assert.equal(late.headers.get('retry-after'), '1');
    assert.equal((await guess(recoveryCodes[0] ?? '', 101)).status, 200, 'a recovery code is not delayed');
  },
);

test(
  'delays after wrong codes grow, a hundred wrong codes in a row block, and a recovery code resets the count',
  { tags: ['asvs:6.6.3'] },
  async () => {
    await using app = await newApp({ environment: behindProxy });
    const { account, secret, recoveryCodes } = await newEnrolledAccount(app);
    let guesses = 0;
    let verified = 0;
    const guess = (code: string): Promise<Answered> =>
      app.call('POST', '/auth/token', {
        headers: {
          ...basic(account.email, goodPassword),
          [otpHeader]: code,
          'x-forwarded-for': `203.0.113.${guesses++ % 250}`,
        },
      });
    for (let n = 0; n < limits.secondFactorFailuresMax + 5; n++) {
      app.clock.advance({ seconds: 901 });
      if (codeOf(await guess(wrongCode(secret, app.clock.now()))) === 'second_factor_invalid') verified++;
    }
    // The limit of failures for the email address from untrusted ranges is reached at the same number.
    assert.equal(verified, limits.secondFactorFailuresMax);
    app.clock.advance({ days: 1 });
    assertRejected(await guess(codeAt(secret, app.clock.now())), 'too_many_attempts');
    const fromTrustedRange = (code: string): Promise<Answered> => trySignIn(app, account.email, code);
    assertRejected(
      await fromTrustedRange(codeAt(secret, app.clock.now())),
      'too_many_attempts',
      'from a trusted range as well',
    );
    assert.equal((await fromTrustedRange(recoveryCodes[0] ?? '')).status, 200);
    assert.equal((await fromTrustedRange(codeAt(secret, app.clock.now()))).status, 200);
  },
);

test('a sign-in without a code neither counts as a failure nor resets the count', async () => {
  await using app = await newApp({ environment: behindProxy });
  const { account, secret } = await newEnrolledAccount(app);
  const from = (password: string, code?: string): Promise<Answered> =>
    app.call('POST', '/auth/token', {
      headers: {
        ...basic(account.email, password),
        'x-forwarded-for': '198.51.100.7',
        ...(code === undefined ? {} : { [otpHeader]: code }),
      },
    });
  for (let n = 0; n < 20; n++) assertRejected(await from(goodPassword), 'second_factor_required');
  for (let n = 0; n < limits.signInPairFreeFailures; n++) {
    assertRejected(await from('a wrong password of some length'), 'invalid_credentials');
    app.clock.advance({ seconds: 2 });
    if (n < limits.signInPairFreeFailures - 1) assertRejected(await from(goodPassword), 'second_factor_required');
  }
  assertRejected(await from('a wrong password of some length'), 'invalid_credentials');
  assertRejected(await from(goodPassword), 'too_many_attempts', 'the delays continue');
  app.clock.advance({ seconds: 60 });
  assert.equal((await from(goodPassword, codeAt(secret, app.clock.now()))).status, 200);
});

test('wrong codes count as failed sign-ins of the client IP range', async () => {
  await using app = await newApp({ environment: behindProxy });
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
  assert.equal(hashes() - before, limits.signInPairFreeFailures, 'then not even the password is verified at');
});

test('wrong current passwords and wrong codes are limited per session', async () => {
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
  assertRejected(ofOther, 'second_factor_wrong', 'the owner’s other session');
  app.clock.advance({ seconds: 61 });
  const wrong = wrongCode(user.secret, app.clock.now());
  const codes: Answered[] = [];
  for (let n = 0; n < 8; n++) codes.push(await replace(goodPassword, wrong));
  assert.deepEqual(tally(codes), { second_factor_wrong: 5, too_many_attempts: 3 });
});

test('wrong codes that confirm an enrolment are limited', async () => {
  await using app = await newApp();
  const user = await app.signIn();
  const secret = await beginEnrolment(app, user);
  const confirm = (code: string): Promise<Answered> => as(app, user, 'POST', `${factorPath}/confirm`, { code });
  const wrong = wrongCode(secret, app.clock.now());
  const answers = await Promise.all(Array.from({ length: 16 }, () => confirm(wrong)));
  assert.deepEqual(tally(answers), { second_factor_wrong: 5, too_many_attempts: 11 });
});

testOnBoth('one of sixteen concurrent confirmations succeeds, and its ten recovery codes work', async () => {
  await using app = await newApp({ environment: { KEYREEVE_THROTTLE: 'off' }, areRequestsLimited: false });
  const user = await app.signIn();
  const secret = await beginEnrolment(app, user);
  const code = codeAt(secret, app.clock.now());
  const answers = await Promise.all(
    Array.from({ length: 16 }, () => whenAvailable(() => as(app, user, 'POST', `${factorPath}/confirm`, { code }))),
  );
  assert.deepEqual(tally(answers), { ok: 1, second_factor_not_enrolled: 15 });
  const [winner] = answers.filter(({ status }) => status === 200);
  assert.ok(winner);
  const { recoveryCodes } = winner.json as { recoveryCodes: string[] };
  for (const recoveryCode of recoveryCodes) await signInWith(app, user.account.email, recoveryCode);
});

test(
  'a session of an account that must enrol a second factor can only enrol it, sign out, and end keys and sessions',
  { tags: ['asvs:6.3.3'] },
  async () => {
    await using app = await newApp();
    const { accounts } = app.service.services;
    const account = await app.createAccount('ada@example.com');
    await accounts.requireSecondFactor(operator, account.id, true);
    const user = { ...(await signInWith(app, 'ada@example.com')), account };
    const closed: readonly (readonly [string, string, unknown?])[] = [
      ['POST', '/auth/api-keys', { nickname: 'mine' }],
      ['GET', '/auth/api-keys/1'],
      ['PATCH', '/auth/api-keys/1', { disabled: false }],
      ['POST', '/auth/api-keys/1/rotate', {}],
      ['POST', '/auth/service-accounts', { name: 'mine' }],
      ['POST', `/auth/service-accounts/${account.id}/api-keys`, { nickname: 'mine' }],
      ['GET', '/auth/account/activity'],
      ['DELETE', factorPath, { currentPassword: goodPassword, code: '000000' }],
      ['POST', '/auth/account/recovery-codes', { currentPassword: goodPassword, code: '000000' }],
    ];
    for (const [method, path, json] of closed)
      assertRejected(await as(app, user, method, path, json), 'second_factor_enrolment_required', `${method} ${path}`);
    assertRejected(await app.call('GET', '/auth/forward', { headers: bearer(user.accessToken) }), 'invalid_credential');
    const verification = await app.call('POST', '/auth/verify', {
      headers: bearer(await app.serviceKey()),
      json: { credential: user.accessToken },
    });
    assert.deepEqual(verification.json, { valid: false, code: 'enrolment_required' });
    const refresh = await app.call('POST', '/auth/token/refresh', { json: { refreshToken: user.refreshToken } });
    const refreshed = refresh.json as typeof user;
    const creation = await as(app, refreshed, 'POST', '/auth/api-keys', { nickname: 'mine' });
    assertRejected(creation, 'second_factor_enrolment_required', 'refreshed');

    const { secret } = await enrol(app, { ...user, ...refreshed });
    assert.equal((await as(app, refreshed, 'POST', '/auth/api-keys', { nickname: 'mine' })).status, 201);
    nextStep(app);
    assertRejected(await trySignIn(app, 'ada@example.com'), 'second_factor_required');
    const proof = { currentPassword: goodPassword, code: codeAt(secret, app.clock.now()) };
    assertRejected(await as(app, refreshed, 'DELETE', factorPath, proof), 'second_factor_required_by_policy');
    await accounts.requireSecondFactor(operator, account.id, false);
    assert.equal((await as(app, refreshed, 'DELETE', factorPath, proof)).status, 204, 'the code was not used up');
    await signInWith(app, 'ada@example.com');
  },
);

testOnBoth('an account that must enrol a second factor can end every credential that may be stolen', async () => {
  await using app = await newApp();
  const { services } = app.service;
  const owner = await app.signIn('ada@example.com');
  const thief = await signInWith(app, 'ada@example.com');
  const { json: key } = await as(app, owner, 'POST', '/auth/api-keys', { nickname: 'deleted' });
  const { json: rotated } = await as(app, owner, 'POST', '/auth/api-keys', { nickname: 'rotated' });
  const { id: keyId, key: secret } = key as CreatedKey;
  const { id: rotatedId, key: previous } = rotated as CreatedKey;
  assert.equal((await as(app, owner, 'POST', `/auth/api-keys/${rotatedId}/rotate`, {})).status, 200);
  const serviceId = await addServiceAccount(app.db, [owner.account.id]);
  const ofService = `/auth/service-accounts/${serviceId}/api-keys`;
  const { json: ofServiceKey } = await as(app, owner, 'POST', ofService, { nickname: 'service' });
  const { id: serviceKeyId, key: serviceSecret } = ofServiceKey as CreatedKey;
  await services.accounts.requireSecondFactor(operator, owner.account.id, true);

  for (const path of ['/auth/api-keys', '/auth/sessions', '/auth/service-accounts', ofService])
    assert.equal((await as(app, owner, 'GET', path)).status, 200, path);
  assert.equal((await as(app, owner, 'DELETE', `/auth/api-keys/${keyId}`)).status, 200);
  assert.equal((await as(app, owner, 'DELETE', `/auth/api-keys/${rotatedId}/previous`)).status, 200);
  assert.equal((await as(app, owner, 'DELETE', `${ofService}/${serviceKeyId}`)).status, 200);
  for (const ended of [secret, previous, serviceSecret])
    assertRejected(await app.call('GET', '/auth/forward', { headers: bearer(ended) }), 'invalid_credential');
  const { json: list } = await as(app, owner, 'GET', '/auth/sessions');
  const other = (list as { sessions: readonly ListedSession[] }).sessions.find(({ current }) => !current);
  assert.equal((await as(app, owner, 'DELETE', `/auth/sessions/${other?.id}`)).status, 204);
  assertRejected(await as(app, thief, 'GET', '/auth/account'), 'invalid_access_token');
  const third = await signInWith(app, 'ada@example.com');
  assert.deepEqual((await as(app, owner, 'DELETE', '/auth/sessions')).json, { ended: 1 });
  assertRejected(await as(app, third, 'GET', '/auth/account'), 'invalid_access_token');
});

test(
  'removing a lost second factor ends all sessions; a required one must be enrolled again first',
  { tags: ['asvs:6.4.4'] },
  async () => {
    await using app = await newApp();
    const { accounts, administration } = app.service.services;
    const user = await newEnrolledAccount(app, 'ada@example.com');
    await accounts.requireSecondFactor(operator, user.account.id, true);
    await administration.removeSecondFactor(operator, user.account.id, '192.0.2.1');
    assertRejected(await as(app, user, 'GET', '/auth/sessions'), 'invalid_access_token');
    const again = await signInWith(app, 'ada@example.com');
    assertRejected(await as(app, again, 'GET', '/auth/account/activity'), 'second_factor_enrolment_required');
    await beginEnrolment(app, again);
    const removing = administration.removeSecondFactor(operator, user.account.id, '192.0.2.1');
    await assert.rejects(removing, { code: 'second_factor_not_enrolled' }, 'an unconfirmed factor is not enrolled');
  },
);

test('a sign-in to a disabled account does not show its second factor, and a new password keeps the factor', async () => {
  await using app = await newApp();
  const { accounts } = app.service.services;
  const { account, secret } = await newEnrolledAccount(app);
  await accounts.disable(operator, account.id);
  for (const code of [undefined, codeAt(secret, app.clock.now())])
    assertRejected(await trySignIn(app, account.email, code), 'invalid_credentials');
  await accounts.enable(operator, account.id);
  const password = 'another wombat orbits velvet';
  await accounts.setPassword(operator, account.id, new Secret(password));
  assertRejected(await trySignIn(app, account.email, undefined, password), 'second_factor_required');
  assert.equal((await trySignIn(app, account.email, codeAt(secret, app.clock.now()), password)).status, 200);
});

test('every kind of credential works only for its own purpose', { tags: ['asvs:6.3.4'] }, async () => {
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
  const uses: Readonly<Record<string, (credential: string) => Promise<boolean>>> = {
    'as a bearer credential of the account API': async (text) =>
      (await app.call('GET', '/auth/api-keys', { headers: bearer(text) })).status === 200,
    'as a bearer credential at a proxy': async (text) =>
      (await app.call('GET', '/auth/forward', { headers: bearer(text) })).status === 200,
    'as X-API-Key': async (text) =>
      (await app.call('GET', '/auth/forward', { headers: { 'x-api-key': text } })).status === 200,
    'as a credential to verify': async (text) => {
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
  const accepted: string[] = [];
  for (const [use, isAccepted] of Object.entries(uses)) {
    for (const [kind, text] of Object.entries(credentials)) {
      // Failures would delay the valid credential.
      app.clock.advance({ seconds: 20 });
      if (await isAccepted(text)) accepted.push(`${kind} ${use}`);
    }
  }
  assert.deepEqual(accepted, [
    'access token as a bearer credential of the account API',
    'access token as a bearer credential at a proxy',
    'API key as a bearer credential at a proxy',
    'API key as X-API-Key',
    'access token as a credential to verify',
    'API key as a credential to verify',
    'password as the password',
    'recovery code as the code of the second factor',
    'refresh token as a refresh token',
  ]);
});
