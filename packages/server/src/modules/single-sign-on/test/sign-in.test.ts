/** Single sign-on of administrators: accounts, roles, sessions, and what ends them. */
import assert from 'node:assert/strict';
import type { ConsoleConfig, SessionView } from '@keyreeve/contract';
import { test, testOnBoth } from '../../../../test-kit/app-on-each-database.ts';
import { newAdministrator, problemCode } from '../../../../test-kit/administrators.ts';
import { listAuditEvents } from '../../../../test-kit/audit-log.ts';
import { AccountClient } from '../../../../test-kit/account-client.ts';
import { ConsoleClient } from '../../../../test-kit/console-client.ts';
import { Mailbox } from '../../../../test-kit/mailbox.ts';
import { basic, newApp, operator, type TestApp } from '../../../../test-kit/new-app.ts';
import { ada } from '../../../../test-kit/openid-provider.ts';
import { newAppWithProvider, SingleSignOnClient } from '../../../../test-kit/single-sign-on.ts';
import { whenAvailable } from '../../../../test-kit/when-available.ts';

const titleOf = (text: string): string => /<h1>([^<]*)<\/h1>/.exec(text)?.[1] ?? '';
const actions = async (app: TestApp): Promise<string[]> => (await listAuditEvents(app.db)).map(({ action }) => action);
const roleOf = async (app: TestApp, email: string) => (await app.service.services.accounts.find(email)).role;

test('without settings, there is no single sign-on', async () => {
  await using app = await newApp();
  const client = new ConsoleClient(app);
  const { features } = (await client.call('GET', '/config')).json as ConsoleConfig;
  assert.equal(features.singleSignOn, null);
  for (const [method, path] of [
    ['POST', '/sso/start'],
    ['GET', '/sso/callback'],
    ['POST', '/sso/logout'],
  ] as const)
    assert.equal(problemCode(await client.call(method, path)), 'not_found', path);
});

test('the first single sign-on of an administrator creates an account with a session of administrators', async () => {
  await using both = await newAppWithProvider();
  const { app } = both;
  const client = new SingleSignOnClient(both);
  const { features, needsAdministrator } = (await client.call('GET', '/config')).json as ConsoleConfig;
  assert.deepEqual([features.singleSignOn, needsAdministrator], ['Example ID', true]);
  const answer = await client.singleSignOn({ returnTo: '/console/keys' });
  assert.deepEqual([answer.status, answer.headers.get('location')], [303, '/console/keys'], answer.text);
  const { account, session, now } = await client.session();
  assert.deepEqual([account.email, account.role, account.secondFactor], ['ada@example.com', 'admin', false]);
  assert.equal(Date.parse(session.idleExpiresAt) - Date.parse(now), 3_600_000);
  assert.equal(Date.parse(session.expiresAt) - Date.parse(now), 86_400_000);
  const events = (await listAuditEvents(app.db)).slice(-3);
  assert.deepEqual(
    events.map(({ action, actor }) => `${actor} ${action}`),
    ['system account.created', 'system identity.linked', `account:${account.id} session.created`],
  );
  const [, link, created] = events;
  assert.deepEqual(JSON.parse(created?.details ?? ''), { kind: 'console', identity: link?.target });
  assert.deepEqual(JSON.parse(link?.details ?? ''), { issuer: both.provider.issuer, created: true });
  // A recent sign-in: a change of administrators succeeds.
  const invited = await client.call('POST', '/api/admin/accounts', { json: { email: 'new@example.com' } });
  assert.notEqual(problemCode(invited), 'reauth_required');
});

test('a second single sign-on uses the same account, also after its email address at the provider changed', async () => {
  await using both = await newAppWithProvider();
  const client = new SingleSignOnClient(both);
  await client.singleSignOn();
  const { account } = await client.session();
  both.provider.person = { ...ada, email: 'countess@example.com' };
  const other = new SingleSignOnClient(both);
  assert.equal((await other.singleSignOn()).status, 303);
  assert.deepEqual((await other.session()).account, account);
});

test('a single sign-on ends the session that the browser had', { tags: ['asvs:7.2.4'] }, async () => {
  await using both = await newAppWithProvider();
  const client = new SingleSignOnClient(both);
  await client.singleSignOn();
  const before = client.copy();
  await client.singleSignOn({ isConfirmation: false });
  assert.deepEqual([await before.isSignedIn(), await client.isSignedIn()], [false, true]);
});

test(
  'an identity is never linked by its email address, and an operator can link it',
  { tags: ['asvs:6.8.1', 'asvs:10.5.2'] },
  async () => {
    await using both = await newAppWithProvider();
    const { app, provider } = both;
    const { account } = await newAdministrator(app, 'ada@example.com');
    const client = new SingleSignOnClient(both);
    const refused = await client.singleSignOn();
    assert.deepEqual([refused.status, titleOf(refused.text)], [403, 'No account is linked to your identity']);
    assert.match(refused.text, /keyreeve account link-sso &lt;email&gt; person-1</);
    assert.equal(client.cookie, undefined);
    const identities = app.service.services.singleSignOn?.identities;
    assert.equal(await identities?.link(operator, account.id, ada.sub), true);
    assert.equal(await identities?.link(operator, account.id, 'person-2'), false);
    assert.equal((await client.singleSignOn()).status, 303);
    assert.equal((await client.session()).account.id, account.id);
    provider.person = { ...ada, sub: 'person-2', email: 'bob@example.com' };
    const bob = new SingleSignOnClient(both);
    assert.equal((await bob.singleSignOn()).status, 303);
    assert.equal(await identities?.unlink(operator, account.id), true);
    assert.deepEqual([await client.isSignedIn(), await bob.isSignedIn()], [false, true]);
    assert.equal(await identities?.unlink(operator, account.id), false);
    assert.deepEqual((await actions(app)).slice(-2), ['identity.unlinked', 'account.sessions_ended']);
  },
);

test('no account is created without a verified email address', async () => {
  await using both = await newAppWithProvider();
  const { app, provider } = both;
  for (const person of [
    { ...ada, email_verified: false },
    { ...ada, email_verified: 'false' },
    { ...ada, email_verified: undefined },
    { ...ada, email: undefined },
    { ...ada, email: 'not an address' },
  ]) {
    provider.person = person;
    const refused = await new SingleSignOnClient(both).singleSignOn();
    assert.deepEqual([refused.status, titleOf(refused.text)], [403, 'No account is linked to your identity']);
  }
  assert.equal((await actions(app)).includes('account.created'), false);
});

test('a person without the role cannot sign in, and a created account loses the role and its sessions', async () => {
  await using both = await newAppWithProvider();
  const { app, provider } = both;
  const client = new SingleSignOnClient(both);
  await client.singleSignOn();
  const claims: readonly unknown[] = [
    undefined,
    'staff',
    ['staff'],
    [],
    { 'keyreeve-admins': true },
    [['keyreeve-admins']],
  ];
  for (const groups of claims) {
    provider.person = { ...ada, groups };
    const refused = await new SingleSignOnClient(both).singleSignOn();
    assert.deepEqual([refused.status, titleOf(refused.text)], [403, 'You are not an administrator'], String(groups));
  }
  assert.equal(await client.isSignedIn(), false);
  assert.equal(await roleOf(app, 'ada@example.com'), 'user');
  assert.deepEqual((await actions(app)).slice(-1), ['account.role_changed']);
  // The claim may also be one text.
  provider.person = { ...ada, groups: 'keyreeve-admins' };
  assert.equal((await client.singleSignOn()).status, 303);
  assert.equal((await client.session()).account.role, 'admin');
});

test('an account that single sign-on did not create keeps its role without the claim', async () => {
  await using both = await newAppWithProvider();
  const { app, provider } = both;
  const { account } = await newAdministrator(app, 'grace@example.com');
  await app.service.services.singleSignOn?.identities.link(operator, account.id, ada.sub);
  provider.person = { ...ada, groups: [] };
  assert.equal((await new SingleSignOnClient(both).singleSignOn()).status, 403);
  assert.equal(await roleOf(app, 'grace@example.com'), 'admin');
});

test('an account that gets the role loses the sessions that began without it', async () => {
  await using both = await newAppWithProvider();
  const { app } = both;
  const { account } = await app.signIn('grace@example.com');
  const earlier = new ConsoleClient(app);
  await earlier.signIn(account.email);
  await app.service.services.singleSignOn?.identities.link(operator, account.id, ada.sub);
  const client = new SingleSignOnClient(both);
  assert.equal((await client.singleSignOn()).status, 303);
  assert.equal((await client.session()).account.role, 'admin');
  assert.equal(await earlier.isSignedIn(), false);
});

test('a disabled account cannot sign in', async () => {
  await using both = await newAppWithProvider();
  const { app } = both;
  const client = new SingleSignOnClient(both);
  await client.singleSignOn();
  const { account } = await client.session();
  await app.service.services.accounts.disable(operator, account.id);
  const refused = await client.singleSignOn();
  assert.deepEqual([refused.status, titleOf(refused.text)], [403, 'Your account is disabled']);
});

test('a linked account with an unverified email address gets no role, and the page states the reason', async () => {
  await using mailbox = await Mailbox.start();
  await using both = await newAppWithProvider({ environment: { ...mailbox.environment, KEYREEVE_SIGNUP: 'open' } });
  const { app } = both;
  const signUp = new AccountClient(app, mailbox);
  await signUp.signUp('grace@example.com');
  // The mail of the job that creates the account.
  const code = await signUp.verificationCode('grace@example.com');
  const { id } = await app.service.services.accounts.find('grace@example.com');
  await app.service.services.singleSignOn?.identities.link(operator, id, ada.sub);
  const client = new SingleSignOnClient(both);
  const refused = await client.singleSignOn();
  assert.deepEqual([refused.status, client.cookie], [403, undefined]);
  assert.equal(titleOf(refused.text), 'The email address of your account is not verified');
  const started = await client.start();
  const german = await client.return(both.provider.authorize(started.location), started, 'de');
  assert.equal(titleOf(german.text), 'Die E-Mail-Adresse Ihres Kontos ist nicht bestätigt');
  assert.equal(await roleOf(app, 'grace@example.com'), 'user');
  assert.equal((await signUp.verifyEmail(code)).status, 200);
  assert.equal((await client.singleSignOn()).status, 303);
  assert.equal((await client.session()).account.role, 'admin');
});

test('the last administrator who can sign in also loses the role with the claim, and gets the page', async () => {
  await using both = await newAppWithProvider();
  const { app, provider } = both;
  const client = new SingleSignOnClient(both);
  await client.singleSignOn();
  provider.person = { ...ada, groups: [] };
  const refused = await client.singleSignOn();
  assert.deepEqual([refused.status, titleOf(refused.text)], [403, 'You are not an administrator']);
  assert.equal(await roleOf(app, 'ada@example.com'), 'user');
  assert.equal(await client.isSignedIn(), false);
});

testOnBoth('of 16 concurrent first sign-ins of one person, all use one account', async () => {
  await using both = await newAppWithProvider();
  const clients = Array.from({ length: 16 }, () => new SingleSignOnClient(both));
  const answers = await Promise.all(clients.map((client) => whenAvailable(() => client.singleSignOn())));
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([303]));
  assert.equal((await actions(both.app)).filter((action) => action === 'account.created').length, 1);
});

test(
  'with KEYREEVE_ADMIN_PASSWORDS=off, only single sign-on signs administrators in',
  { tags: ['asvs:6.3.4'] },
  async () => {
    await using both = await newAppWithProvider({ environment: { KEYREEVE_ADMIN_PASSWORDS: 'off' } });
    const { app } = both;
    const { accounts } = app.service.services;
    const { account: user } = await app.signIn('user@example.com');
    const { account } = await app.signIn('grace@example.com');
    await accounts.setRole(operator, account.id, 'admin');
    const right = await app.call('POST', '/auth/token', { headers: basic(account.email, 'wombat orbit velvet 42') });
    const wrong = await app.call('POST', '/auth/token', { headers: basic(account.email, 'wombat orbit velvet 43') });
    const stable = ({ json }: { json: unknown }) => ({ ...(json as object), requestId: '' });
    assert.deepEqual([right.status, stable(right)], [401, stable(wrong)]);
    const client = new ConsoleClient(app);
    assert.equal(problemCode(await client.trySignIn(account.email)), 'invalid_credentials');
    assert.equal((await client.trySignIn(user.email)).status, 200);
    await app.service.services.singleSignOn?.identities.link(operator, account.id, ada.sub);
    const admin = new SingleSignOnClient(both);
    assert.equal((await admin.singleSignOn()).status, 303);
    assert.equal(problemCode(await admin.confirm()), 'password_wrong');
    assert.equal((await admin.session()).account.id, account.id);
  },
);

test('with KEYREEVE_ADMIN_PASSWORDS=off, a session that began with a password gets no role of administrators', async () => {
  await using both = await newAppWithProvider({ environment: { KEYREEVE_ADMIN_PASSWORDS: 'off' } });
  const { app } = both;
  const { account, accessToken } = await app.signIn('grace@example.com');
  const client = new ConsoleClient(app);
  await client.signIn(account.email);
  await app.service.services.accounts.setRole(operator, account.id, 'admin');
  assert.equal(await client.isSignedIn(), false);
  const headers = { authorization: `Bearer ${accessToken}` };
  const used = await app.call('GET', '/admin/accounts', { headers });
  assert.equal(problemCode(used), 'invalid_access_token');
});

test(
  'a confirmation requires a new sign-in at the provider, and the session is recent then',
  { tags: ['asvs:6.8.4'] },
  async () => {
    await using both = await newAppWithProvider();
    const { app, provider } = both;
    const now = () => Math.floor(Date.now() / 1000);
    const client = new SingleSignOnClient(both);
    // Before the test's clock.
    provider.person = { ...ada, auth_time: Math.floor(app.clock.now() / 1000) - 3_600 };
    await client.singleSignOn();
    const { session } = await client.session();
    assert.equal(Date.parse(session.authenticatedAt), (Math.floor(app.clock.now() / 1000) - 3_600) * 1000);
    const { location } = await client.start({ isConfirmation: true });
    const query = new URL(location).searchParams;
    assert.deepEqual([query.get('prompt'), query.get('max_age')], ['login', '300']);
    for (const auth_time of [undefined, now() - 400]) {
      provider.person = { ...ada, auth_time };
      assert.equal((await client.singleSignOn({ isConfirmation: true })).status, 401);
    }
    provider.person = { ...ada, auth_time: now() };
    const before = client.copy();
    assert.equal((await client.singleSignOn({ isConfirmation: true })).status, 303);
    const confirmed: SessionView = await client.session();
    assert.equal(Date.parse(confirmed.session.authenticatedAt), app.clock.now());
    assert.equal(await before.isSignedIn(), false);
  },
);
