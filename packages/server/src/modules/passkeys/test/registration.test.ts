/** Registration, list, change of the name and removal of passkeys (WebAuthn Level 3, section 7.1). */
import assert from 'node:assert/strict';
import { limits } from '@keyreeve/contract';
import { assertRejected } from '../../../../test-kit/account-client.ts';
import { test } from '../../../../test-kit/app-on-each-database.ts';
import { listAuditEvents } from '../../../../test-kit/audit-log.ts';
import {
  as,
  beginEnrolment,
  codeAt,
  enrol,
  factorPath,
  nextStep,
  signInWith,
  trySignIn,
} from '../../../../test-kit/authenticator.ts';
import { goodPassword, newApp, operator, type SignedIn, type TestApp } from '../../../../test-kit/new-app.ts';
import {
  addPasskey,
  creationOptions,
  listPasskeys,
  originOf,
  passkeysPath,
  signInOptions,
  tryPasskey,
  tryToAdd,
} from '../../../../test-kit/passkeys.ts';
import { SoftwarePasskey, type Deviations } from '../../../../test-kit/software-passkey.ts';

const actions = async (app: TestApp): Promise<string[]> => (await listAuditEvents(app.db)).map(({ action }) => action);
const own = async (app: TestApp, user: Pick<SignedIn, 'accessToken'>) => {
  const { secondFactor, authenticator, passkeys } = (await as(app, user, 'GET', '/auth/account')).json as Record<
    string,
    unknown
  >;
  return { secondFactor, authenticator, passkeys };
};

test('the first passkey comes with recovery codes, ends other sessions and makes a second factor necessary', async () => {
  await using app = await newApp();
  const user = await app.signIn('ada@example.com');
  const other = await signInWith(app, 'ada@example.com');
  const { passkey, recoveryCodes, authenticator } = await addPasskey(app, user);
  const { id, ...shown } = passkey;
  assert.match(id, /^pas_\w{22}$/);
  assert.deepEqual(shown, {
    name: 'laptop',
    createdAt: new Date(app.clock.now()).toISOString(),
    lastUsedAt: null,
    synced: true,
    usable: true,
    credentialId: authenticator.id,
  });
  assert.equal(new Set(recoveryCodes).size, 10);
  assert.equal((await as(app, other, 'GET', '/auth/account')).status, 401);
  assert.deepEqual((await actions(app)).slice(-3), ['passkey.added', 'second_factor.added', 'session.ended']);
  assert.deepEqual(await own(app, user), { secondFactor: true, authenticator: false, passkeys: 1 });
  assertRejected(await trySignIn(app, 'ada@example.com'), 'second_factor_required');
  assertRejected(await trySignIn(app, 'ada@example.com', '123456'), 'second_factor_invalid');
  assert.equal((await trySignIn(app, 'ada@example.com', recoveryCodes[0])).status, 200);
  const second = await addPasskey(app, user, 'EdDSA');
  assert.deepEqual(second.recoveryCodes, []);
});

test('the options require a resident passkey with user verification, and name those that exist', async () => {
  await using app = await newApp();
  const user = await app.signIn('ada@example.com');
  const { authenticator } = await addPasskey(app, user);
  const { challenge, user: entity, ...options } = await creationOptions(app, user);
  assert.match(challenge, /^[\w-]{72}$/);
  assert.match(entity.id, /^[\w-]{43}$/);
  assert.deepEqual(options, {
    rp: { id: 'localhost', name: 'localhost' },
    pubKeyCredParams: [-8, -7, -257].map((alg) => ({ type: 'public-key', alg })),
    timeout: limits.passkeyChallengeSeconds * 1000,
    excludeCredentials: [{ type: 'public-key', id: authenticator.id, transports: ['hybrid', 'internal'] }],
    authenticatorSelection: { residentKey: 'required', requireResidentKey: true, userVerification: 'required' },
    attestation: 'none',
  });
  const another = await creationOptions(app, await app.signIn());
  assert.notEqual(another.user.id, entity.id);
});

test('a response that deviates from the options of this session is rejected', async () => {
  await using app = await newApp();
  const user = await app.signIn('ada@example.com');
  const other = await app.signIn('bob@example.com');
  const cases: Readonly<Record<string, Deviations>> = {
    'another origin': { origin: 'https://evil.example' },
    'another rp id': { rpId: 'evil.example' },
    'no user verification': { isUserVerified: false },
    'no user presence': { isUserPresent: false },
    'an embedded page': { isCrossOrigin: true },
    'another type': { type: 'webauthn.get' },
    'another id': { id: 'AAAA' },
    'an unknown attestation': { format: 'tpm' },
    'the challenge of another account': { challenge: (await creationOptions(app, other)).challenge },
    'the challenge of a sign-in': { challenge: (await signInOptions(app)).challenge },
  };
  for (const [what, deviations] of Object.entries(cases))
    assertRejected(await tryToAdd(app, user, new SoftwarePasskey(originOf(app)), deviations), 'passkey_invalid', what);
  const options = await creationOptions(app, user);
  const first = new SoftwarePasskey(originOf(app)).create(options);
  assert.equal((await as(app, user, 'POST', passkeysPath, { name: 'one', response: first })).status, 201);
  const again = new SoftwarePasskey(originOf(app)).create(options);
  assertRejected(await as(app, user, 'POST', passkeysPath, { name: 'two', response: again }), 'passkey_invalid');
  const late = new SoftwarePasskey(originOf(app)).create(await creationOptions(app, user));
  app.clock.advance({ seconds: limits.passkeyChallengeSeconds + 1 });
  assertRejected(await as(app, user, 'POST', passkeysPath, { name: 'late', response: late }), 'reauth_required');
  assertRejected(await as(app, user, 'POST', `${passkeysPath}/options`), 'reauth_required');
});

test('responses that are not valid count as changes too, before they are verified', async () => {
  await using app = await newApp();
  const user = await app.signIn('ada@example.com');
  const options = await creationOptions(app, user);
  const add = (deviations: Deviations) => {
    const response = new SoftwarePasskey(originOf(app)).create(options, deviations);
    return as(app, user, 'POST', passkeysPath, { name: 'laptop', response });
  };
  for (let count = 0; count < limits.passkeyChangesPerHourMax; count++)
    assertRejected(await add({ isUserPresent: false }), 'passkey_invalid');
  assertRejected(await add({ isUserPresent: false }), 'too_many_requests');
  assertRejected(await add({}), 'too_many_requests');
});

test('an attestation of any passkey that the server supports fits, and a longer one is not parsed', async () => {
  await using app = await newApp();
  const user = await app.signIn('ada@example.com');
  const authenticator = new SoftwarePasskey(originOf(app), 'RS256', { idBytes: 1_023, modulusBits: 4_096 });
  const { status, text } = await tryToAdd(app, user, authenticator);
  assert.equal(status, 201, text);
  assert.equal((await tryPasskey(app, authenticator)).status, 200);
  const response = authenticator.create(await creationOptions(app, user));
  const attestationObject = 'A'.repeat(limits.passkeyAttestationCharsMax + 1);
  const long = { ...response, response: { ...response.response, attestationObject } };
  assertRejected(await as(app, user, 'POST', passkeysPath, { name: 'laptop', response: long }), 'invalid_request');
});

test('a passkey belongs to one account, and an account has a bounded number with valid names', async () => {
  await using app = await newApp();
  const user = await app.signIn();
  const { authenticator } = await addPasskey(app, user);
  assertRejected(await tryToAdd(app, await app.signIn(), authenticator), 'passkey_exists');
  const response = new SoftwarePasskey(originOf(app)).create(await creationOptions(app, user));
  for (const name of [' a', '\u202Ea', 'x\u0000'])
    assertRejected(await as(app, user, 'POST', passkeysPath, { name, response }), 'nickname_invalid');
  const last = new SoftwarePasskey(originOf(app)).create(await creationOptions(app, user));
  for (let count = 1; count < limits.passkeysPerAccountMax; count++) await addPasskey(app, user);
  assertRejected(await as(app, user, 'POST', `${passkeysPath}/options`), 'passkey_limit_reached');
  assertRejected(
    await as(app, user, 'POST', passkeysPath, { name: 'one more', response: last }),
    'passkey_limit_reached',
  );
});

test('a passkey can be renamed and removed by its account alone', async () => {
  await using app = await newApp();
  const user = await app.signIn('ada@example.com');
  const { passkey, authenticator } = await addPasskey(app, user);
  const { passkey: kept } = await addPasskey(app, user);
  const other = await app.signIn();
  const path = `${passkeysPath}/${passkey.id}`;
  for (const call of [
    as(app, other, 'PATCH', path, { name: 'stolen' }),
    as(app, other, 'DELETE', path),
    as(app, user, 'PATCH', `${passkeysPath}/pas_unknown`, { name: 'x' }),
    as(app, user, 'DELETE', `${passkeysPath}/%00`),
  ])
    assertRejected(await call, 'passkey_not_found');
  assert.equal((await as(app, user, 'PATCH', path, { name: 'phone' })).status, 204);
  const names = (await listPasskeys(app, user)).passkeys.map(({ id, name }) => [id, name] as const);
  assert.deepEqual(Object.fromEntries(names), { [passkey.id]: 'phone', [kept.id]: 'laptop' });
  assert.equal((await as(app, user, 'DELETE', path)).status, 204);
  assertRejected(await tryPasskey(app, authenticator), 'passkey_rejected');
  assert.equal((await as(app, user, 'DELETE', `${passkeysPath}/${kept.id}`)).status, 204);
  assert.deepEqual((await actions(app)).slice(-2), ['passkey.removed', 'second_factor.removed']);
  assert.deepEqual(await own(app, user), { secondFactor: false, authenticator: false, passkeys: 0 });
  assert.equal((await trySignIn(app, 'ada@example.com')).status, 200);
});

test('the last second factor cannot be removed while one is required', async () => {
  await using app = await newApp();
  const user = await app.signIn();
  const { passkey } = await addPasskey(app, user);
  await app.service.services.accounts.requireSecondFactor(operator, user.account.id, true);
  const remove = () => as(app, user, 'DELETE', `${passkeysPath}/${passkey.id}`);
  assertRejected(await remove(), 'second_factor_required_by_policy');
  await enrol(app, user);
  assert.equal((await remove()).status, 204);
});

test('an authenticator app is added and removed beside passkeys, which keep the recovery codes', async () => {
  await using app = await newApp();
  const user = await app.signIn('ada@example.com');
  const { recoveryCodes } = await addPasskey(app, user);
  const secret = await beginEnrolment(app, user);
  assert.deepEqual(await own(app, user), { secondFactor: true, authenticator: false, passkeys: 1 });
  assertRejected(await trySignIn(app, 'ada@example.com', codeAt(secret, app.clock.now())), 'second_factor_invalid');
  const confirmed = await as(app, user, 'POST', `${factorPath}/confirm`, { code: codeAt(secret, app.clock.now()) });
  assert.deepEqual([confirmed.status, confirmed.json], [200, { recoveryCodes: [] }]);
  assert.deepEqual(await own(app, user), { secondFactor: true, authenticator: true, passkeys: 1 });
  assertRejected(await as(app, user, 'POST', factorPath, { currentPassword: goodPassword }), 'second_factor_exists');
  nextStep(app);
  const code = codeAt(secret, app.clock.now());
  const proof = { currentPassword: goodPassword, code };
  await app.service.services.accounts.requireSecondFactor(operator, user.account.id, true);
  assert.equal((await as(app, user, 'DELETE', factorPath, proof)).status, 204);
  assert.equal((await actions(app)).at(-1), 'authenticator.removed');
  assert.deepEqual(await own(app, user), { secondFactor: true, authenticator: false, passkeys: 1 });
  nextStep(app);
  assertRejected(await trySignIn(app, 'ada@example.com', codeAt(secret, app.clock.now())), 'second_factor_invalid');
  const again = { currentPassword: goodPassword, code: recoveryCodes[1] };
  assertRejected(await as(app, user, 'DELETE', factorPath, again), 'second_factor_not_enrolled');
  assert.equal((await trySignIn(app, 'ada@example.com', recoveryCodes[0])).status, 200);
});

test('the removal of the second factor by an administrator removes the passkeys', async () => {
  await using app = await newApp();
  const user = await app.signIn('ada@example.com');
  const { authenticator } = await addPasskey(app, user);
  const { administration } = app.service.services;
  await administration.removeSecondFactor(operator, user.account.id, '192.0.2.1');
  assertRejected(await tryPasskey(app, authenticator), 'passkey_rejected');
  assert.equal((await trySignIn(app, 'ada@example.com')).status, 200);
});

test('an installation whose console has an IP address has no passkeys', async () => {
  await using app = await newApp({ environment: { KEYREEVE_PUBLIC_URL: 'https://192.0.2.1' } });
  const user = await app.signIn();
  assertRejected(await as(app, user, 'POST', `${passkeysPath}/options`), 'passkeys_unavailable');
  assertRejected(await app.call('POST', `${passkeysPath}/sign-in/options`), 'passkeys_unavailable');
  const { rpId, passkeys } = await listPasskeys(app, user);
  assert.deepEqual([rpId, passkeys], [null, []]);
});
