/** Sign-in with a passkey, as the only factor and after the password (WebAuthn Level 3, section 7.2). */
import assert from 'node:assert/strict';
import { limits, type Problem } from '@keyreeve/contract';
import { assertRejected } from '../../../../test-kit/account-client.ts';
import { test, testOnBoth } from '../../../../test-kit/app-on-each-database.ts';
import { listAuditEvents } from '../../../../test-kit/audit-log.ts';
import { as, enrol, trySignIn } from '../../../../test-kit/authenticator.ts';
import { goodPassword, newApp, operator, type SignedIn } from '../../../../test-kit/new-app.ts';
import {
  addPasskey,
  creationOptions,
  listPasskeys,
  originOf,
  secondFactorOptions,
  sendPasskey,
  signInOptions,
  tryPasskey,
} from '../../../../test-kit/passkeys.ts';
import { SoftwarePasskey } from '../../../../test-kit/software-passkey.ts';
import { whenAvailable } from '../../../../test-kit/when-available.ts';

const rivals = 16;

test('a passkey signs in without a name, a password or a code, with each algorithm', async () => {
  await using app = await newApp();
  for (const algorithm of ['ES256', 'EdDSA', 'RS256'] as const) {
    const user = await app.signIn();
    const { passkey, authenticator } = await addPasskey(app, user, algorithm);
    const options = await signInOptions(app);
    const { challenge, ...others } = options;
    assert.match(challenge, /^[\w-]{72}$/);
    assert.deepEqual(others, {
      timeout: limits.passkeyChallengeSeconds * 1000,
      rpId: 'localhost',
      allowCredentials: [],
      userVerification: 'required',
    });
    app.clock.advance({ seconds: 10 });
    const answer = await sendPasskey(app, authenticator.get(options));
    assert.equal(answer.status, 200, answer.text);
    const signedIn = answer.json as SignedIn;
    assert.deepEqual(Object.keys(signedIn).toSorted(), ['accessToken', 'refreshToken']);
    const [listed] = (await listPasskeys(app, signedIn)).passkeys;
    assert.deepEqual(listed, { ...passkey, lastUsedAt: new Date(app.clock.now()).toISOString() });
    const created = (await listAuditEvents(app.db)).findLast(({ action }) => action === 'session.created');
    assert.deepEqual(JSON.parse(created?.details ?? ''), { passkey: passkey.id });
  }
});

test('after a password, a passkey is a second factor, with or without user verification', async () => {
  await using app = await newApp();
  const user = await app.signIn('ada@example.com');
  const { passkey, authenticator } = await addPasskey(app, user);
  const rejected = (await trySignIn(app, 'ada@example.com')).json as Problem;
  assert.deepEqual([rejected.code, rejected.methods], ['second_factor_required', ['recovery_code', 'passkey']]);
  for (const isUserVerified of [true, false]) {
    const options = await secondFactorOptions(app, 'ada@example.com');
    assert.deepEqual(options.allowCredentials, [
      { type: 'public-key', id: authenticator.id, transports: ['hybrid', 'internal'] },
    ]);
    assert.equal(options.userVerification, 'preferred');
    const factor = authenticator.get(options, { isUserVerified });
    const email = 'ada@example.com';
    assertRejected(await sendPasskey(app, factor, { email, password: 'a wrong password' }), 'invalid_credentials');
    const answer = await sendPasskey(app, factor, { email, password: goodPassword });
    assert.equal(answer.status, 200, answer.text);
  }
  const created = (await listAuditEvents(app.db)).findLast(({ action }) => action === 'session.created');
  assert.deepEqual(JSON.parse(created?.details ?? ''), { secondFactor: 'passkey', passkey: passkey.id });
});

test('the second factors that a sign-in accepts are named only after a right password', async () => {
  await using app = await newApp();
  const user = await app.signIn('ada@example.com');
  await enrol(app, user);
  const methods = async (): Promise<unknown> => ((await trySignIn(app, 'ada@example.com')).json as Problem).methods;
  assert.deepEqual(await methods(), ['code', 'recovery_code']);
  await addPasskey(app, user);
  assert.deepEqual(await methods(), ['code', 'recovery_code', 'passkey']);
  const wrong = (await trySignIn(app, 'ada@example.com', undefined, 'a wrong password of some length')).json as Problem;
  assert.deepEqual(Object.keys(wrong).toSorted(), ['code', 'detail', 'requestId', 'status', 'title', 'type']);
});

test('a response that deviates in one member is rejected, always in the same way', async () => {
  // More attempts than the limits allow.
  await using app = await newApp({ environment: { KEYREEVE_THROTTLE: 'off' } });
  const ada = await app.signIn('ada@example.com');
  const bob = await app.signIn('bob@example.com');
  const { authenticator } = await addPasskey(app, ada, 'ES256', 7);
  const { authenticator: bobs } = await addPasskey(app, bob);
  const stranger = new SoftwarePasskey(originOf(app));
  const creation = await creationOptions(app, ada);
  const bobsHandle = (await listPasskeys(app, bob)).userHandle;
  const expired = await signInOptions(app);
  const forSecondFactor = await secondFactorOptions(app, 'ada@example.com');
  app.clock.advance({ seconds: 301 });
  const used = await signInOptions(app);
  authenticator.counter = 8;
  assert.equal((await sendPasskey(app, authenticator.get(used))).status, 200);
  authenticator.counter = 9;
  const fresh = await signInOptions(app);
  const forged = `${fresh.challenge.slice(0, -1)}${fresh.challenge.endsWith('A') ? 'B' : 'A'}`;
  const cases = {
    'another origin': authenticator.get(fresh, { origin: 'https://evil.example' }),
    'a sibling origin': authenticator.get(fresh, { origin: originOf(app).replace('//', '//evil.') }),
    'another rp id': authenticator.get(fresh, { rpId: 'evil.example' }),
    'an embedded page': authenticator.get(fresh, { isCrossOrigin: true }),
    'no user verification': authenticator.get(fresh, { isUserVerified: false }),
    'no user presence': authenticator.get(fresh, { isUserPresent: false }),
    'a used challenge': authenticator.get(used),
    'an expired challenge': authenticator.get(expired),
    'a forged challenge': authenticator.get(fresh, { challenge: forged }),
    'an own challenge': authenticator.get(fresh, { challenge: Buffer.alloc(54).toString('base64url') }),
    'the challenge of a registration': authenticator.get({ ...fresh, challenge: creation.challenge }),
    'the challenge of a second factor': authenticator.get(forSecondFactor),
    'a tampered message': authenticator.get(fresh, { isTampered: true }),
    'another type': authenticator.get(fresh, { type: 'webauthn.create' }),
    'an unknown passkey': stranger.get(fresh, { userHandle: bobsHandle }),
    'the id of another passkey': authenticator.get(fresh, { id: bobs.id }),
    'the user of another account': authenticator.get(fresh, { userHandle: bobsHandle }),
    'no user': authenticator.get(fresh, { userHandle: '' }),
  };
  const responses = new Set<string>();
  for (const [what, response] of Object.entries(cases)) {
    const answer = await sendPasskey(app, response);
    assertRejected(answer, 'passkey_rejected', what);
    const headers = [...answer.headers].filter(([name]) => name !== 'date');
    responses.add(JSON.stringify([headers, { ...(answer.json as object), requestId: '' }]));
  }
  assert.equal(responses.size, 1);
  assert.equal((await tryPasskey(app, authenticator)).status, 200, 'the unchanged response is accepted');
});

test('a second factor is only a passkey of the same account, with its own challenge', async () => {
  await using app = await newApp();
  const ada = await app.signIn('ada@example.com');
  const bob = await app.signIn('bob@example.com');
  const { authenticator } = await addPasskey(app, ada);
  const { authenticator: bobs } = await addPasskey(app, bob);
  const options = await secondFactorOptions(app, 'ada@example.com');
  const cases = {
    'of another account': bobs.get(options),
    'with the challenge of another account': authenticator.get(await secondFactorOptions(app, 'bob@example.com')),
    'with the challenge of a sign-in': authenticator.get(await signInOptions(app)),
    tampered: authenticator.get(options, { isTampered: true }),
  };
  for (const [what, response] of Object.entries(cases)) {
    const first = { email: 'ada@example.com', password: goodPassword };
    assertRejected(await sendPasskey(app, response, first), 'passkey_rejected', what);
  }
  assertRejected(await sendPasskey(app, authenticator.get(options), { email: 'ada@example.com' }), 'invalid_request');
});

testOnBoth('of many concurrent sign-ins with one response, one succeeds', async () => {
  await using app = await newApp();
  const { authenticator } = await addPasskey(app, await app.signIn());
  const response = authenticator.get(await signInOptions(app));
  const answers = await Promise.all(
    Array.from({ length: rivals }, () => whenAvailable(() => sendPasskey(app, response))),
  );
  const counts = Map.groupBy(answers, ({ status }) => status);
  assert.equal(counts.get(200)?.length, 1, answers.map(({ text }) => text).join('\n'));
  assert.equal((await listAuditEvents(app.db)).filter(({ action }) => action === 'session.created').length, 2);
});

test('a counter that does not increase is rejected and recorded once for each response', async () => {
  await using app = await newApp();
  const { passkey, authenticator } = await addPasskey(app, await app.signIn(), 'ES256', 5);
  authenticator.counter = 6;
  assert.equal((await tryPasskey(app, authenticator)).status, 200);
  const copies = async () =>
    (await listAuditEvents(app.db)).filter(({ action }) => action === 'passkey.counter_regressed');
  for (const counter of [6, 3]) {
    const response = authenticator.get(await signInOptions(app), { counter });
    assertRejected(await sendPasskey(app, response), 'passkey_rejected', String(counter));
    assertRejected(await sendPasskey(app, response), 'passkey_rejected', `${counter} again`);
  }
  const found = await copies();
  assert.deepEqual(
    found.map(({ actor, target, details }) => [actor, target, details]),
    Array.from({ length: 2 }, () => ['system', passkey.id, '{"name":"laptop"}']),
  );
  const unsigned = authenticator.get(await signInOptions(app), { counter: 4, isTampered: true });
  assertRejected(await sendPasskey(app, unsigned), 'passkey_rejected');
  assert.equal((await copies()).length, 2, 'a response without a valid signature is no sign of a copy');
});

test('a disabled account cannot sign in with a passkey', async () => {
  await using app = await newApp();
  const user = await app.signIn();
  const { authenticator } = await addPasskey(app, user);
  const { accounts } = app.service.services;
  await accounts.disable(operator, user.account.id);
  assertRejected(await tryPasskey(app, authenticator), 'passkey_rejected');
  await accounts.enable(operator, user.account.id);
  assert.equal((await tryPasskey(app, authenticator)).status, 200);
});

test('attempts with unknown passkeys are limited per client IP range', async () => {
  await using app = await newApp();
  const codes = new Set<string>();
  for (let attempt = 0; attempt < limits.signInRangeFailuresMax + 2; attempt++) {
    const stranger = new SoftwarePasskey(originOf(app), 'EdDSA');
    codes.add(((await tryPasskey(app, stranger)).json as Problem).code);
  }
  assert.deepEqual([...codes], ['passkey_rejected', 'too_many_attempts']);
});

test('a passkey satisfies the requirement of a second factor', async () => {
  await using app = await newApp();
  const user = await app.signIn();
  await app.service.services.accounts.requireSecondFactor(operator, user.account.id, true);
  assertRejected(await as(app, user, 'GET', '/auth/account/activity'), 'second_factor_enrolment_required');
  const { authenticator } = await addPasskey(app, user);
  assert.equal((await as(app, user, 'GET', '/auth/account/activity')).status, 200);
  const signedIn = (await tryPasskey(app, authenticator)).json as SignedIn;
  assert.equal((await as(app, signedIn, 'GET', '/auth/account/activity')).status, 200);
});
