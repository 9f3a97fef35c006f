/** Sign-in and confirmation of the console with a passkey. */
import assert from 'node:assert/strict';
import { limits, type ConsoleConfig, type Problem, type SessionView } from '@keyreeve/contract';
import { test } from '../../../../test-kit/app-on-each-database.ts';
import { ConsoleClient } from '../../../../test-kit/console-client.ts';
import { countDatabaseReads } from '../../../../test-kit/database-reads.ts';
import { goodPassword, newApp, type Answered } from '../../../../test-kit/new-app.ts';
import { addPasskey, secondFactorOptions, signInOptions } from '../../../../test-kit/passkeys.ts';

const path = '/session/passkey';

/** Without the challenge of RFC 9110, which the console leaves out. */
const assertCode = (answer: Answered, code: string, what = ''): void =>
  assert.equal((answer.json as Problem).code, code, `${what} ${answer.text}`);

test('a passkey signs in to the console, alone and after the password', async () => {
  await using app = await newApp();
  const { email, id } = (await app.signIn('ada@example.com')).account;
  const user = await app.signIn('bob@example.com');
  const { authenticator } = await addPasskey(app, user);
  const client = new ConsoleClient(app);
  const answer = await client.call('POST', path, { json: { passkey: authenticator.get(await signInOptions(app)) } });
  assert.equal(answer.status, 200, answer.text);
  const { account } = answer.json as SessionView;
  assert.deepEqual([account.id, account.secondFactor], [user.account.id, true]);
  assert.ok(await client.isSignedIn());
  const first = { email: 'bob@example.com', password: goodPassword };
  const passkey = authenticator.get(await secondFactorOptions(app, 'bob@example.com'), { isUserVerified: false });
  const second = new ConsoleClient(app);
  assert.equal((await second.call('POST', path, { json: { passkey, ...first } })).status, 200);
  assertCode(await second.call('POST', path, { json: { passkey } }), 'passkey_rejected');
  assert.notEqual(id, user.account.id);
  assert.ok(email);
  const config = (await client.call('GET', '/config')).json as ConsoleConfig;
  assert.equal(config.features.passkeys, true);
});

test('a passkey of the account confirms the session, and no other one does', async () => {
  await using app = await newApp();
  const user = await app.signIn('bob@example.com');
  const { authenticator } = await addPasskey(app, user);
  const { authenticator: foreign } = await addPasskey(app, await app.signIn());
  const client = new ConsoleClient(app);
  await client.call('POST', path, { json: { passkey: authenticator.get(await signInOptions(app)) } });
  app.clock.advance({ seconds: 600 });
  const { cookie } = client;
  const confirm = (json: object) => client.call('POST', '/session/confirm', { json });
  const missing = (await confirm({ password: goodPassword })).json as Problem;
  assert.deepEqual([missing.code, missing.methods], ['second_factor_required', ['recovery_code', 'passkey']]);
  const response = authenticator.get(await signInOptions(app));
  assertCode(await confirm({ passkey: foreign.get(await signInOptions(app)) }), 'passkey_rejected');
  assertCode(
    await confirm({ passkey: authenticator.get(await signInOptions(app), { isUserVerified: false }) }),
    'passkey_rejected',
  );
  for (const json of [{}, { passkey: response, password: goodPassword }, { passkey: response, code: '123456' }])
    assertCode(await confirm(json), 'invalid_request');
  const confirmed = await confirm({ passkey: response });
  assert.equal(confirmed.status, 200, confirmed.text);
  const { session } = confirmed.json as SessionView;
  assert.equal(session.authenticatedAt, new Date(app.clock.now()).toISOString());
  assert.notEqual(client.cookie, cookie);
  assertCode(await confirm({ passkey: response }), 'passkey_rejected', 'again');
});

test('an account without passkeys cannot cause the verification of one, and an account with passkeys only of a few', async () => {
  await using app = await newApp();
  const { authenticator: foreign } = await addPasskey(app, await app.signIn());
  await app.createAccount('ada@example.com');
  const bob = await addPasskey(app, await app.signIn('bob@example.com'));
  const [ada, other] = [new ConsoleClient(app), new ConsoleClient(app)];
  await ada.signIn('ada@example.com');
  await other.call('POST', path, { json: { passkey: bob.authenticator.get(await signInOptions(app)) } });
  const options = await signInOptions(app);
  const confirm = (client: ConsoleClient) =>
    client.call('POST', '/session/confirm', { json: { passkey: foreign.get(options) } });
  using reads = countDatabaseReads();
  const verifications = (): number => reads.names().filter((name) => name === 'select_passkey_by_credential').length;
  assertCode(await confirm(ada), 'passkey_rejected');
  assert.equal(verifications(), 0);
  for (let count = 0; count < limits.secondFactorFreeFailures; count++)
    assertCode(await confirm(other), 'passkey_rejected');
  assertCode(await confirm(other), 'too_many_attempts');
  assert.equal(verifications(), limits.secondFactorFreeFailures);
});

test('authenticator data and signatures of unusual sizes are not parsed', async () => {
  await using app = await newApp();
  const { authenticator } = await addPasskey(app, await app.signIn());
  const passkey = authenticator.get(await signInOptions(app));
  const send = (response: object) =>
    new ConsoleClient(app).call('POST', path, {
      json: { passkey: { ...passkey, response: { ...passkey.response, ...response } } },
    });
  const authenticatorData = 'A'.repeat(limits.passkeyAuthenticatorDataCharsMax);
  const signature = 'A'.repeat(limits.passkeySignatureCharsMax);
  assertCode(await send({ authenticatorData, signature }), 'passkey_rejected');
  for (const long of [{ authenticatorData: `${authenticatorData}A` }, { signature: `${signature}A` }])
    assertCode(await send(long), 'invalid_request');
});
