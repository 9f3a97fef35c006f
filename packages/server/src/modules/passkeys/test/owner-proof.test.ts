/** A passkey proves that the client is the account's owner when second factors change: the authenticator app may be a thief's. */
import assert from 'node:assert/strict';
import type { AuthenticationResponse } from '@keyreeve/contract';
import { assertRejected } from '../../../../test-kit/account-client.ts';
import { test, testOnBoth } from '../../../../test-kit/app-on-each-database.ts';
import { listAuditEvents } from '../../../../test-kit/audit-log.ts';
import { as, enrol, factorPath } from '../../../../test-kit/authenticator.ts';
import { goodPassword, newApp, type Answered, type SignedIn, type TestApp } from '../../../../test-kit/new-app.ts';
import { addPasskey, secondFactorOptions, signInOptions, type Added } from '../../../../test-kit/passkeys.ts';
import { whenAvailable } from '../../../../test-kit/when-available.ts';

const email = 'ada@example.com';
const codesPath = '/auth/account/recovery-codes';

/** An account with a passkey and an authenticator app. */
async function withBoth(app: TestApp, address = email): Promise<Added & { readonly user: SignedIn }> {
  const user = await app.signIn(address);
  const added = await addPasskey(app, user);
  await enrol(app, user);
  return { ...added, user };
}

const remove = (app: TestApp, user: SignedIn, proof: object): Promise<Answered> =>
  as(app, user, 'DELETE', factorPath, { currentPassword: goodPassword, ...proof });

test('a passkey proves the owner for the removal of the authenticator app and for new recovery codes', async () => {
  await using app = await newApp();
  const { user, authenticator } = await withBoth(app);
  const passkey = async (): Promise<AuthenticationResponse> => authenticator.get(await secondFactorOptions(app, email));
  const replaced = await as(app, user, 'POST', codesPath, { currentPassword: goodPassword, passkey: await passkey() });
  assert.deepEqual([replaced.status, (replaced.json as { recoveryCodes: string[] }).recoveryCodes.length], [200, 10]);
  assert.equal((await remove(app, user, { passkey: await passkey() })).status, 204);
  const { authenticator: hasApp, passkeys } = (await as(app, user, 'GET', '/auth/account')).json as Record<
    string,
    unknown
  >;
  assert.deepEqual([hasApp, passkeys], [false, 1]);
});

test('a passkey that proves nothing changes no second factor', async () => {
  await using app = await newApp();
  const { user, authenticator } = await withBoth(app);
  const other = await withBoth(app, 'bob@example.com');
  const right = authenticator.get(await secondFactorOptions(app, email));
  for (const [what, proof, code] of [
    ['nothing', {}, 'invalid_request'],
    ['both', { passkey: right, code: '123456' }, 'invalid_request'],
    [
      'another account’s',
      { passkey: other.authenticator.get(await secondFactorOptions(app, 'bob@example.com')) },
      'second_factor_wrong',
    ],
    ['the options of a sign-in', { passkey: authenticator.get(await signInOptions(app)) }, 'second_factor_wrong'],
  ] as const)
    assertRejected(await remove(app, user, proof), code, what);
  const wrongPassword = { currentPassword: 'not the right password', passkey: right };
  assertRejected(await as(app, user, 'DELETE', factorPath, wrongPassword), 'password_wrong');
  assert.equal((await remove(app, user, { passkey: right })).status, 204);
});

testOnBoth('of sixteen changes with one response of a passkey, one succeeds', async () => {
  await using app = await newApp({ environment: { KEYREEVE_THROTTLE: 'off' }, areRequestsLimited: false });
  const { user, authenticator } = await withBoth(app);
  const passkey = authenticator.get(await secondFactorOptions(app, email));
  const body = { currentPassword: goodPassword, passkey };
  const answers = await Promise.all(
    Array.from({ length: 16 }, () => whenAvailable(() => as(app, user, 'POST', codesPath, body))),
  );
  const rejected = answers.filter(({ status }) => status !== 200);
  assert.equal(rejected.length, 15);
  for (const answer of rejected) assertRejected(answer, 'second_factor_wrong');
});

test('a passkey whose counter does not increase is rejected and reported', async () => {
  await using app = await newApp();
  const user = await app.signIn(email);
  const { authenticator } = await addPasskey(app, user, 'ES256', 5);
  await enrol(app, user);
  const passkey = authenticator.get(await secondFactorOptions(app, email), { counter: 4 });
  assertRejected(await remove(app, user, { passkey }), 'second_factor_wrong');
  assert.equal((await listAuditEvents(app.db)).at(-1)?.action, 'passkey.counter_regressed');
});
