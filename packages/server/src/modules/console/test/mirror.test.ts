/** The mirror: which routes it has, and that they behave as the original ones. */
import assert from 'node:assert/strict';
import { allRoutes, limits } from '@keyreeve/contract';
import { newAdministrator, problemCode } from '../../../../test-kit/administrators.ts';
import { test } from '../../../../test-kit/app-on-each-database.ts';
import { ConsoleClient } from '../../../../test-kit/console-client.ts';
import { countDatabaseReads } from '../../../../test-kit/database-reads.ts';
import { bearer, newApp, operator, type TestApp } from '../../../../test-kit/new-app.ts';
import { DomainError } from '../../../foundation/errors.ts';
import { rejectSession } from '../mirror.ts';
import { optionalRoutes } from '../../../../test-kit/optional-routes.ts';

async function newClient(app: TestApp, email?: string): Promise<ConsoleClient> {
  const client = new ConsoleClient(app);
  await client.signIn(email ?? (await app.createAccount()).email);
  return client;
}

test(
  'every route of accounts, administrators and managers is mirrored, and no other',
  { tags: ['asvs:8.1.1'] },
  async () => {
    await using app = await newApp({ environment: optionalRoutes });
    const stranger = new ConsoleClient(app);
    for (const { method, path, auth } of allRoutes) {
      const isMirrored = ['access_token', 'administrator', 'manager'].includes(auth);
      const answer = await stranger.call(method, `/api${path.replaceAll(/:\w+/g, 'x')}`);
      const code = problemCode(answer);
      assert.equal(code === 'console_session_required', isMirrored, `${method} ${path} ${code}`);
      if (!isMirrored) assert.ok([404, 405].includes(answer.status), `${method} ${path} ${answer.status}`);
      assert.equal(answer.headers.get('www-authenticate'), null, path);
    }
  },
);

test('without the console, none of its paths exists', async () => {
  await using app = await newApp({ environment: { KEYREEVE_CONSOLE: 'off' } });
  const client = new ConsoleClient(app);
  for (const path of ['/config', '/session', '/session/confirm', '/api/auth/account', '/api/admin/accounts'])
    for (const method of ['GET', 'POST', 'DELETE'])
      assert.equal(problemCode(await client.call(method, path)), 'not_found', `${method} ${path}`);
});

test('a mirrored request does what the original does, with the same audit event', async () => {
  await using app = await newApp();
  const { account, accessToken } = await app.signIn();
  const client = await newClient(app, account.email);
  const created = await client.call('POST', '/api/auth/api-keys', { json: { nickname: 'from the console' } });
  assert.equal(created.status, 201, created.text);
  const { id, key } = created.json as { id: number; key: string };
  assert.equal((await app.call('GET', '/auth/forward', { headers: bearer(key) })).status, 200);
  const listed = await app.call('GET', '/auth/api-keys', { headers: bearer(accessToken) });
  assert.equal(listed.text, (await client.call('GET', '/api/auth/api-keys')).text);
  assert.equal((await client.call('DELETE', `/api/auth/api-keys/${id}`)).status, 200);
  assert.equal((await app.call('GET', '/auth/forward', { headers: bearer(key) })).status, 401);
});

test('a mirrored request reads the session and its account in one read', async () => {
  await using app = await newApp();
  const client = await newClient(app);
  using reads = countDatabaseReads();
  assert.equal((await client.poll('/api/auth/sessions')).status, 200);
  assert.deepEqual(reads.sharedLengths(), [1]);
  assert.deepEqual(reads.names(), ['list_account_sessions']);
});

test('a session that ends while its request is in progress is a missing session, not a bad token', () => {
  for (const code of ['invalid_access_token', 'console_session_required'] as const)
    assert.throws(() => rejectSession(new DomainError(code)), { code: 'console_session_required' });
  assert.throws(() => rejectSession(new DomainError('key_not_found')), { code: 'key_not_found' });
});

test('an operation that needs a recent sign-in needs a recent confirmation', { tags: ['asvs:7.5.1'] }, async () => {
  await using app = await newApp();
  const client = await newClient(app);
  const path = '/api/auth/account/second-factor';
  const begin = () => client.call('POST', path, { json: { currentPassword: 'wrong wombat orbit 42' } });
  assert.equal(problemCode(await begin()), 'password_wrong');
  app.clock.advance({ seconds: limits.recentSignInSeconds + 1 });
  assert.equal(problemCode(await begin()), 'reauth_required');
  assert.equal((await client.confirm()).status, 200);
  assert.equal(problemCode(await begin()), 'password_wrong');
});

test('an account that must enrol a second factor can only enrol it, and end keys and sessions', async () => {
  await using app = await newApp();
  const { id, email } = await app.createAccount();
  await app.service.services.accounts.requireSecondFactor(operator, id, true);
  const client = new ConsoleClient(app);
  const { account } = await client.signIn(email);
  assert.deepEqual([account.secondFactor, account.mustEnrol], [false, true]);
  const creation = await client.call('POST', '/api/auth/api-keys', { json: { nickname: 'mine' } });
  assert.equal(problemCode(creation), 'second_factor_enrolment_required');
  assert.equal((await client.call('GET', '/api/auth/api-keys')).status, 200);
  assert.equal((await client.call('DELETE', '/api/auth/sessions')).status, 200);
  assert.equal((await client.call('GET', '/api/auth/account')).status, 200);
  assert.equal((await client.confirm()).status, 200);
});

test('a role that is taken away ends the routes of administrators with the next request', async () => {
  await using app = await newApp();
  await newAdministrator(app);
  const { account } = await newAdministrator(app);
  const client = await newClient(app, account.email);
  assert.equal((await client.call('GET', '/api/admin/accounts')).status, 200);
  await app.service.services.accounts.setRole(operator, account.id, 'user');
  assert.equal(problemCode(await client.call('GET', '/api/admin/accounts')), 'administrator_required');
  assert.equal((await client.session()).account.role, 'user');
});

test('requests in progress are bounded per cookie, as per access token', { tags: ['asvs:15.2.2'] }, async () => {
  await using app = await newApp({ requestBounds: { credential: 0, account: 9, range: 9 } });
  const { email } = await app.createAccount();
  const client = new ConsoleClient(app);
  await client.signIn(email);
  const answer = await client.call('GET', '/api/auth/account');
  assert.equal(problemCode(answer), 'too_many_in_progress');
  assert.equal(problemCode(await client.call('GET', '/session')), 'too_many_in_progress');
});
