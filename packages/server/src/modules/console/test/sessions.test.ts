/** Sessions of the console: sign-in, the view, sign-out, and everything that ends them. */
import assert from 'node:assert/strict';
import type { SessionView } from '@keyreeve/contract';
import { newAdministrator, problemCode } from '../../../../test-kit/administrators.ts';
import { listAuditEvents } from '../../../../test-kit/audit-log.ts';
import { test } from '../../../../test-kit/app-on-each-database.ts';
import { codeAt, newEnrolledAccount, nextStep, wrongCode } from '../../../../test-kit/authenticator.ts';
import { ConsoleClient } from '../../../../test-kit/console-client.ts';
import { Secret } from '../../../foundation/crypto/secret.ts';
import { bearer, goodPassword, newApp, operator, type TestApp } from '../../../../test-kit/new-app.ts';

const otherPassword = 'a quiet harbour under seven moons';

async function newClient(app: TestApp, email: string): Promise<ConsoleClient> {
  const client = new ConsoleClient(app);
  await client.signIn(email);
  return client;
}

test('a sign-in starts a session that the cookie alone proves', async () => {
  await using app = await newApp();
  const { id, email } = await app.createAccount();
  const client = new ConsoleClient(app);
  const view = await client.signIn(email);
  const now = app.clock.now();
  const at = (ms: number): string => new Date(now + ms).toISOString();
  const expected: SessionView = {
    account: { id, email, role: 'user', language: null, secondFactor: false, mustEnrol: false },
    session: {
      id: view.session.id,
      createdAt: at(0),
      authenticatedAt: at(0),
      idleExpiresAt: at(12 * 3_600_000),
      expiresAt: at(7 * 86_400_000),
    },
    now: at(0),
  };
  assert.deepEqual(view, expected);
  assert.deepEqual(await client.session(), expected);
  const account = await client.call('GET', '/api/auth/account');
  assert.equal((account.json as { email: string }).email, email);
});

test('a sign-in to the console has the audit event of sign-ins, with its kind', { tags: ['asvs:16.3.1'] }, async () => {
  await using app = await newApp();
  const { account, secret } = await newEnrolledAccount(app);
  const { session } = await new ConsoleClient(app).signIn(account.email, codeAt(secret, app.clock.now()));
  const event = (await listAuditEvents(app.db)).findLast(({ action }) => action === 'session.created');
  assert.equal(event?.target, session.id);
  assert.deepEqual(JSON.parse(event?.details ?? ''), { kind: 'console', secondFactor: 'totp' });
});

test('a second factor is needed after a right password, and the problem names what the account has', async () => {
  await using app = await newApp();
  const { account, secret, recoveryCodes } = await newEnrolledAccount(app);
  const client = new ConsoleClient(app);
  const missing = await client.trySignIn(account.email);
  assert.equal(problemCode(missing), 'second_factor_required');
  assert.deepEqual((missing.json as { methods: string[] }).methods, ['code', 'recovery_code']);
  const code = wrongCode(secret, app.clock.now());
  assert.equal(problemCode(await client.trySignIn(account.email, { code })), 'second_factor_invalid');
  const password = 'velvet orbit wombat 24';
  assert.equal(problemCode(await client.trySignIn(account.email, { password, code })), 'invalid_credentials');
  assert.equal(client.cookie, undefined);
  nextStep(app);
  assert.ok((await client.signIn(account.email, recoveryCodes[0])).account.secondFactor);
});

test('sign-ins to the console and with POST /auth/token share their limits', { tags: ['asvs:6.3.1'] }, async () => {
  await using app = await newApp();
  const { email } = await app.createAccount();
  const client = new ConsoleClient(app);
  const password = 'velvet orbit wombat 24';
  const codes = new Set<string | undefined>();
  for (let attempt = 0; attempt < 20 && !codes.has('too_many_attempts'); attempt++) {
    const headers = { authorization: `Basic ${Buffer.from(`${email}:${password}`).toString('base64')}` };
    const isConsole = attempt % 2 === 0;
    codes.add(
      problemCode(
        await (isConsole ? client.trySignIn(email, { password }) : app.call('POST', '/auth/token', { headers })),
      ),
    );
  }
  assert.deepEqual([...codes], ['invalid_credentials', 'too_many_attempts']);
  const refused = await client.trySignIn(email);
  assert.equal(problemCode(refused), 'too_many_attempts');
  assert.ok(refused.headers.has('retry-after'));
});

test('a sign-in ends the session that the browser had', { tags: ['asvs:7.2.4'] }, async () => {
  await using app = await newApp();
  const { email } = await app.createAccount();
  const client = await newClient(app, email);
  const before = client.copy();
  await client.signIn(email);
  assert.notEqual(client.cookie, before.cookie);
  assert.deepEqual([await before.isSignedIn(), await client.isSignedIn()], [false, true]);
});

test('the list of sessions shows the session of the console as the current one', async () => {
  await using app = await newApp();
  const { account, accessToken } = await app.signIn();
  const client = await newClient(app, account.email);
  const { session } = await client.session();
  const listOf = (json: unknown) => (json as { sessions: { id: string; current: boolean }[] }).sessions;
  const own = listOf((await client.call('GET', '/api/auth/sessions')).json);
  assert.deepEqual(
    own.filter(({ current }) => current).map(({ id }) => id),
    [session.id],
  );
  const other = listOf((await app.call('GET', '/auth/sessions', { headers: bearer(accessToken) })).json);
  assert.deepEqual(
    new Map(other.map(({ id, current }) => [id === session.id, current])),
    new Map([
      [true, false],
      [false, true],
    ]),
  );
});

/** What ends every session of the account, or this one. */
const endings: Readonly<Record<string, (app: TestApp, id: string, client: ConsoleClient) => Promise<unknown>>> = {
  'a sign-out': (_, __, client) => client.copy().call('DELETE', '/session'),
  'the end of the session in the list': async (app, id, client) => {
    const { session } = await client.session();
    const { email } = await app.service.services.accounts.find(id);
    const other = await newClient(app, email);
    const ended = await other.call('DELETE', `/api/auth/sessions/${session.id}`);
    assert.equal(ended.status, 204, ended.text);
  },
  'the end of all other sessions': async (app, id) => {
    const { email } = await app.service.services.accounts.find(id);
    await (await newClient(app, email)).call('DELETE', '/api/auth/sessions');
  },
  'a password that another session changed': async (app, id) => {
    const { email } = await app.service.services.accounts.find(id);
    const json = { currentPassword: goodPassword, newPassword: otherPassword };
    const changed = await (await newClient(app, email)).call('PUT', '/api/auth/account/password', { json });
    assert.equal(changed.status, 200, changed.text);
  },
  'a password that an operator set': (app, id) =>
    app.service.services.accounts.setPassword(operator, id, new Secret(otherPassword)),
  'the end of all sessions by an operator': (app, id) => app.service.services.accounts.endSessions(operator, id),
  'disabling the account': (app, id) => app.service.services.accounts.disable(operator, id),
  'deleting the account': (app, id) => app.service.services.accounts.delete(operator, id),
};

test('all that ends sessions ends that of the console, on every instance', { tags: ['asvs:7.4.1'] }, async () => {
  await using app = await newApp();
  await using second = await newApp({ place: app.place, clock: app.clock });
  for (const [name, end] of Object.entries(endings)) {
    const { id, email } = await app.createAccount();
    const client = await newClient(app, email);
    const elsewhere = new ConsoleClient(second, client.cookie);
    assert.deepEqual([await client.isSignedIn(), await elsewhere.isSignedIn()], [true, true], name);
    await end(app, id, client);
    for (const one of [client, elsewhere]) {
      assert.equal(await one.isSignedIn(), false, name);
      for (const path of ['/api/auth/account', '/api/auth/api-keys'])
        assert.equal(problemCode(await one.poll(path)), 'console_session_required', `${name} ${path}`);
    }
  }
});

test('the session that changes its own password stays signed in', async () => {
  await using app = await newApp();
  const client = await newClient(app, (await app.createAccount()).email);
  const json = { currentPassword: goodPassword, newPassword: otherPassword };
  assert.equal((await client.call('PUT', '/api/auth/account/password', { json })).status, 200);
  assert.ok(await client.isSignedIn());
});

test('sessions of the console count towards the sessions of an account', async () => {
  await using app = await newApp({ environment: { KEYREEVE_SESSIONS_PER_ACCOUNT_MAX: '2' } });
  const { account } = await app.signIn();
  const clients: ConsoleClient[] = [];
  for (let n = 0; n < 3; n++) {
    app.clock.advance({ seconds: 1 });
    clients.push(await newClient(app, account.email));
  }
  const valid = await Promise.all(clients.map((client) => client.isSignedIn()));
  assert.deepEqual(valid, [false, true, true]);
});

test('while an account is administrator, its session is shorter', { tags: ['asvs:7.3.1', 'asvs:7.3.2'] }, async () => {
  await using app = await newApp();
  await newAdministrator(app);
  const { account } = await newAdministrator(app);
  const { session, now } = await new ConsoleClient(app).signIn(account.email);
  assert.equal(Date.parse(session.idleExpiresAt) - Date.parse(now), 3_600_000);
  assert.equal(Date.parse(session.expiresAt) - Date.parse(now), 86_400_000);
  const { id, email } = await app.createAccount();
  const promoted = await newClient(app, email);
  await app.service.services.accounts.setRole(operator, id, 'admin');
  assert.equal(Date.parse((await promoted.session()).session.idleExpiresAt) - app.clock.now(), 3_600_000);
  app.clock.advance({ seconds: 3_601 });
  assert.equal(await promoted.isSignedIn(), false);
});
