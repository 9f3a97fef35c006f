/**
 * Every route on PostgreSQL over pools of one connection. All statements of the program then meet on one connection, so
 * two that share a prepared name reject each other, and a request that waits for a second connection never gets one.
 */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { Pool } from 'pg';
import { publicKeyExample, type RouteContract } from '@keyreeve/contract';
import { sql } from '../../foundation/database/sql.ts';
import { canaryRequests } from './canary-requests.ts';
import { consoleRequests } from './console-requests.ts';
import { approvalRequests } from './approval-requests.ts';
import { issuerRequests } from './issuer-requests.ts';
import { passkeyRequests } from './passkey-requests.ts';
import { portalRequests } from './portal-requests.ts';
import { scopeRequests } from './scope-requests.ts';
import { webhookRequests } from './webhook-requests.ts';
import { read, requestsWithoutCredential } from './requests-without-credential.ts';
import { basic, bearer, goodPassword, operator, type Answered, type SignedIn } from '../../../test-kit/new-app.ts';
import { currentKind } from '../../../test-kit/new-db.ts';
import { newReceiver, type Receiver } from '../../../test-kit/webhook-receiver.ts';
import { administer, newAdministrator, newTarget, type Target } from '../../../test-kit/administrators.ts';
import { newBackend } from '../../../test-kit/service-accounts.ts';
import { githubSettings, GithubSigner } from '../../../test-kit/github.ts';
import { optionalRoutes } from '../../../test-kit/optional-routes.ts';
import { newOpenIdProvider, type OpenIdProvider } from '../../../test-kit/openid-provider.ts';
import { newTempFolder } from '../../../test-kit/temp-folder.ts';
import { newAccountClient, otherPassword, type AccountClient } from '../../../test-kit/account-client.ts';
import {
  as,
  beginEnrolment,
  codeAt,
  enrol,
  factorPath,
  nextStep,
  signInWith,
} from '../../../test-kit/authenticator.ts';

interface Stage {
  readonly client: AccountClient;
  readonly receiver: Receiver;
}
/** Prepares what the route needs and sends a request that succeeds. */
type Send = (stage: Stage) => Promise<Answered>;

const github = new GithubSigner();
let emails = 0;
const newEmail = (): string => `one${++emails}@example.com`;
const password = goodPassword;

const demoteAll = sql('test_demote_all', `update accounts set role = 'user'`);

/** A request of a new account about itself. */
const own =
  (method: string, path: (user: Target) => string, json?: object): Send =>
  async ({ client: { app } }) => {
    const user = await newTarget(app, newEmail());
    return as(app, user, method, path(user), json);
  };

/** A request of a new administrator about a new account. */
const administered =
  (method: string, path: (target: Target) => string, json?: object | ((target: Target) => object)): Send =>
  async ({ client: { app } }) => {
    const target = await newTarget(app, newEmail());
    const body = typeof json === 'function' ? json(target) : json;
    return administer(app, await newAdministrator(app, newEmail()), method, path(target), body);
  };
const change = (name: string): Send => administered('POST', ({ account }) => `accounts/${account.id}/${name}`);

/** A request with the code of a new account's second factor. */
const withFactor =
  (send: (stage: Stage, user: SignedIn, code: string) => Promise<Answered>): Send =>
  async (stage) => {
    const { app } = stage.client;
    const user = await enrol(app, await app.signIn(newEmail()));
    nextStep(app);
    return send(stage, user, codeAt(user.secret, app.clock.now()));
  };

/** A request about the key of a new account, with a key that may verify. */
const verifying =
  (path: string, body: (key: string) => { json: unknown } | { body: string }): Send =>
  async ({ client: { app } }) => {
    const { key } = await newTarget(app, newEmail());
    const request = body(key);
    const type = 'json' in request ? 'application/json' : 'application/x-www-form-urlencoded';
    const headers = { ...bearer(await app.serviceKey()), 'content-type': type };
    return app.call('POST', path, { ...request, headers });
  };

/** A request of a new account about a service account that it manages, and about a key of that service account. */
const managed =
  (method: string, path: (of: { service: string; key: string; manager: string }) => string, json?: object): Send =>
  async ({ client: { app } }) => {
    const user = await newTarget(app, newEmail());
    const created = await as(app, user, 'POST', '/auth/service-accounts', { name: 'backend' });
    const service = `/auth/service-accounts/${(created.json as { id: string }).id}`;
    const key = await as(app, user, 'POST', `${service}/api-keys`, { nickname: 'first' });
    assert.equal(key.status, 201, key.text);
    const { account: manager } = await newTarget(app, newEmail());
    assert.equal((await as(app, user, 'PUT', `${service}/managers/${manager.id}`)).status, 200);
    const of = { service, key: `${service}/api-keys/${(key.json as { id: number }).id}`, manager: manager.id };
    // The key has a previous secret.
    assert.equal((await as(app, user, 'POST', `${of.key}/rotate`)).status, 200);
    return as(app, user, method, path(of), json);
  };

/** A request with a management key about a service account that its account manages. */
const byManagementKey =
  (name: string, json: object): Send =>
  async ({ client: { app } }) => {
    const { path, headers } = await newBackend(app, {}, newEmail());
    return app.call('PUT', `${path}/${name}`, { headers, json });
  };

/** A request of a new administrator about a new service account and a manager of it. */
const ofManagers =
  (method: string, path: (manager: string) => string): Send =>
  async ({ client: { app } }) => {
    const { accountId, serviceId } = await newBackend(app, {}, newEmail());
    const administrator = await newAdministrator(app, newEmail());
    return administer(app, administrator, method, `accounts/${serviceId}/managers${path(accountId)}`);
  };

/** One for each route, by its id. */
const requestsWith = (provider: OpenIdProvider): Readonly<Record<string, Send>> => ({
  issueTokens: async ({ client: { app } }) => {
    const { email } = await app.createAccount(newEmail());
    return app.call('POST', '/auth/token', { headers: basic(email, password) });
  },
  refreshTokens: async ({ client }) => {
    const { refreshToken } = await client.app.signIn(newEmail());
    return client.post('/auth/token/refresh', { refreshToken });
  },
  revokeTokens: async ({ client }) => {
    const { refreshToken } = await client.app.signIn(newEmail());
    return client.post('/auth/token/revoke', { refreshToken });
  },
  createKey: own('POST', () => '/auth/api-keys', { nickname: 'second' }),
  registerPublicKey: own('POST', () => '/auth/api-keys/public', { nickname: 'second', publicKey: publicKeyExample }),
  listKeys: own('GET', () => '/auth/api-keys'),
  getKeyTokens: own('GET', ({ keyId }) => `/auth/api-keys/${keyId}/tokens`),
  getKeyUsage: own('GET', ({ keyId }) => `/auth/api-keys/${keyId}/usage?step=day`),
  getKey: own('GET', ({ keyId }) => `/auth/api-keys/${keyId}`),
  changeKey: own('PATCH', ({ keyId }) => `/auth/api-keys/${keyId}`, { nickname: 'renamed', disabled: true }),
  rotateKey: own('POST', ({ keyId }) => `/auth/api-keys/${keyId}/rotate`),
  endPreviousSecret: async ({ client: { app } }) => {
    const user = await newTarget(app, newEmail());
    const path = `/auth/api-keys/${user.keyId}`;
    assert.equal((await as(app, user, 'POST', `${path}/rotate`)).status, 200);
    return as(app, user, 'DELETE', `${path}/previous`);
  },
  deleteKey: own('DELETE', ({ keyId }) => `/auth/api-keys/${keyId}`),
  listGrantableScopes: own('GET', () => '/auth/scopes'),
  createServiceAccount: own('POST', () => '/auth/service-accounts', { name: 'backend' }),
  listServiceAccounts: managed('GET', () => '/auth/service-accounts'),
  getServiceAccount: managed('GET', ({ service }) => service),
  changeServiceAccount: managed('PATCH', ({ service }) => service, { externalId: 'tenant-1' }),
  deleteServiceAccount: managed('DELETE', ({ service }) => service),
  listManagers: managed('GET', ({ service }) => `${service}/managers`),
  addManager: managed('PUT', ({ service, manager }) => `${service}/managers/${manager}`),
  removeManager: managed('DELETE', ({ service, manager }) => `${service}/managers/${manager}`),
  createServiceAccountKey: managed('POST', ({ service }) => `${service}/api-keys`, { nickname: 'second' }),
  registerServiceAccountPublicKey: managed('POST', ({ service }) => `${service}/api-keys/public`, {
    nickname: 'second',
    publicKey: publicKeyExample,
  }),
  listServiceAccountKeys: managed('GET', ({ service }) => `${service}/api-keys`),
  getServiceAccountKey: managed('GET', ({ key }) => key),
  getServiceAccountKeyUsage: managed('GET', ({ key }) => `${key}/usage`),
  getServiceAccountKeyTokens: managed('GET', ({ key }) => `${key}/tokens`),
  changeServiceAccountKey: managed('PATCH', ({ key }) => key, { disabled: true }),
  rotateServiceAccountKey: managed('POST', ({ key }) => `${key}/rotate`, { endPrevious: true }),
  endServiceAccountPreviousSecret: managed('DELETE', ({ key }) => `${key}/previous`),
  deleteServiceAccountKey: managed('DELETE', ({ key }) => key),
  setServiceAccountLimits: byManagementKey('limits', { rate: { limit: 10, windowSeconds: 1 } }),
  setServiceAccountEntitlements: byManagementKey('entitlements', { entitlements: [] }),
  listSessions: own('GET', () => '/auth/sessions'),
  endSession: own('DELETE', ({ sessionId }) => `/auth/sessions/${sessionId}`),
  endOtherSessions: own('DELETE', () => '/auth/sessions'),
  beginSecondFactor: own('POST', () => factorPath, { currentPassword: password }),
  confirmSecondFactor: async ({ client: { app } }) => {
    const user = await app.signIn(newEmail());
    const code = codeAt(await beginEnrolment(app, user), app.clock.now());
    return as(app, user, 'POST', `${factorPath}/confirm`, { code });
  },
  removeSecondFactor: withFactor(({ client: { app } }, user, code) =>
    as(app, user, 'DELETE', factorPath, { currentPassword: password, code }),
  ),
  replaceRecoveryCodes: withFactor(({ client: { app } }, user, code) =>
    as(app, user, 'POST', '/auth/account/recovery-codes', { currentPassword: password, code }),
  ),
  signUp: ({ client }) => client.post('/auth/accounts', { email: newEmail(), password }),
  verifyAccount: async ({ client }) => {
    const email = newEmail();
    await client.signUp(email);
    return client.verifyEmail(await client.verificationCode(email));
  },
  resendVerification: async ({ client }) => {
    const email = newEmail();
    await client.signUp(email);
    return client.post('/auth/accounts/verify/resend', { email });
  },
  requestPasswordReset: async ({ client }) => {
    const { email } = await client.app.createAccount(newEmail());
    return client.post('/auth/password-resets', { email });
  },
  confirmPasswordReset: async ({ client }) => {
    const { account } = await newTarget(client.app, newEmail());
    return client.confirmReset(await client.resetCode(account.email), otherPassword, { revokeKeys: true });
  },
  acceptInvitation: async ({ client }) => {
    const email = newEmail();
    await administer(client.app, await newAdministrator(client.app, newEmail()), 'POST', 'accounts', { email });
    const code = await client.nextCode(email, /invited/);
    return client.post('/auth/accounts/accept-invitation', { code, password });
  },
  changePassword: own('PUT', () => '/auth/account/password', {
    currentPassword: password,
    newPassword: otherPassword,
    revokeKeys: true,
  }),
  changeEmail: own('PUT', () => '/auth/account/email', { email: 'changed@example.com', currentPassword: password }),
  confirmEmailChange: async ({ client }) => {
    const email = newEmail();
    const user = await client.app.signIn(newEmail());
    await as(client.app, user, 'PUT', '/auth/account/email', { email, currentPassword: password });
    return client.post('/auth/account/email/confirm', { code: await client.nextCode(email, /Confirm/), password });
  },
  undoEmailChange: async ({ client }) => {
    const [before, after] = [newEmail(), newEmail()];
    const user = await client.app.signIn(before);
    await as(client.app, user, 'PUT', '/auth/account/email', { email: after, currentPassword: password });
    await client.post('/auth/account/email/confirm', { code: await client.nextCode(after, /Confirm/), password });
    return client.post('/auth/account/email/undo', {
      code: await client.nextCode(before, /was changed/),
      email: before,
    });
  },
  acceptEmail: async ({ client }) => {
    const [{ id }, email] = [await client.app.createAccount(newEmail()), newEmail()];
    await client.app.service.services.emailSetting.request(operator, id, email);
    return client.post('/auth/account/email/accept', { code: await client.nextCode(email, /Confirm/), email });
  },
  changeLanguage: own('PUT', () => '/auth/account/language', { language: 'de' }),
  deleteAccount: own('DELETE', () => '/auth/account', { currentPassword: password }),
  adminListAccounts: administered('GET', ({ account }) => `accounts?query=${account.id}`),
  adminInviteAccount: async ({ client: { app } }) =>
    administer(app, await newAdministrator(app, newEmail()), 'POST', 'accounts', { email: newEmail() }),
  adminGetAccount: administered('GET', ({ account }) => `accounts/${account.id}`),
  adminDeleteAccount: administered('DELETE', ({ account }) => `accounts/${account.id}`),
  adminSetRole: administered('PUT', ({ account }) => `accounts/${account.id}/role`, { role: 'admin' }),
  adminSetLimits: administered('PUT', ({ account }) => `accounts/${account.id}/limits`, {
    rate: { limit: 10, windowSeconds: 1 },
  }),
  adminSetEntitlements: administered('PUT', ({ account }) => `accounts/${account.id}/entitlements`, {
    entitlements: [],
  }),
  ...scopeRequests(newEmail),
  adminListManagers: ofManagers('GET', () => ''),
  adminAddManager: ofManagers('PUT', (manager) => `/${manager}`),
  adminRemoveManager: ofManagers('DELETE', (manager) => `/${manager}`),
  adminInviteAgain: async ({ client: { app } }) => {
    const administrator = await newAdministrator(app, newEmail());
    const invited = await administer(app, administrator, 'POST', 'accounts', { email: newEmail() });
    return administer(app, administrator, 'POST', `accounts/${(invited.json as { id: string }).id}/invite`);
  },
  adminDisableAccount: change('disable'),
  adminEnableAccount: change('enable'),
  adminEndSessions: change('end-sessions'),
  adminRevokeKeys: change('revoke-keys'),
  adminResetPassword: change('reset-password'),
  adminReportCompromised: change('compromised'),
  adminSetEmail: async ({ client: { app } }) => {
    const administrator = await newAdministrator(app, newEmail());
    const { secret } = await enrol(app, administrator);
    nextStep(app);
    const session = await signInWith(app, administrator.account.email, codeAt(secret, app.clock.now()));
    const { id } = await app.createAccount(newEmail());
    return administer(app, session, 'PUT', `accounts/${id}/email`, { email: newEmail() });
  },
  adminRequireSecondFactor: change('require-second-factor'),
  adminWaiveSecondFactor: change('waive-second-factor'),
  adminRemoveSecondFactor: withFactor(async ({ client: { app } }, { account }) => {
    const administrator = await newAdministrator(app, newEmail());
    return administer(app, administrator, 'POST', `accounts/${account.id}/remove-second-factor`);
  }),
  adminCreateManagementKey: withFactor(async ({ client: { app } }, user, code) => {
    await app.service.services.accounts.setRole(operator, user.account.id, 'admin');
    const proof = { currentPassword: password, code };
    const bounds = { addresses: ['127.0.0.1'], expiresAt: new Date(app.clock.now() + 86_400_000).toISOString() };
    return administer(app, user, 'POST', 'management-keys', {
      name: 'backend',
      nickname: 'first',
      ...bounds,
      ...proof,
    });
  }),
  adminCreateKey: administered('POST', ({ serviceId }) => `accounts/${serviceId}/api-keys`, { nickname: 'second' }),
  adminListKeys: administered('GET', ({ account }) => `accounts/${account.id}/api-keys`),
  adminGetKeyUsage: administered('GET', ({ account, keyId }) => `accounts/${account.id}/api-keys/${keyId}/usage`),
  adminGetKeyTokens: administered('GET', ({ account, keyId }) => `accounts/${account.id}/api-keys/${keyId}/tokens`),
  adminGetKey: administered('GET', ({ account, keyId }) => `accounts/${account.id}/api-keys/${keyId}`),
  adminChangeKey: administered('PATCH', ({ account, keyId }) => `accounts/${account.id}/api-keys/${keyId}`, {
    disabled: true,
  }),
  adminDeleteKey: administered('DELETE', ({ account, keyId }) => `accounts/${account.id}/api-keys/${keyId}`),
  adminListSessions: administered('GET', ({ account }) => `accounts/${account.id}/sessions`),
  adminEndSession: administered('DELETE', ({ account, sessionId }) => `accounts/${account.id}/sessions/${sessionId}`),
  createFirstAdministrator: async ({ client }) => {
    const { app } = client;
    // The route creates an administrator only if there is none.
    await app.db.transaction((tx) => tx.run(demoteAll));
    let code = '';
    await app.service.services.firstAdministrator.createCode((text) => (code = text.reveal()));
    return client.post('/auth/first-administrator', { code, email: newEmail(), password });
  },
  ...webhookRequests(newEmail),
  ...issuerRequests(newEmail),
  ...approvalRequests(newEmail),
  ...canaryRequests,
  forward: async ({ client: { app } }) => {
    const { key } = await newTarget(app, newEmail());
    return app.call('GET', '/auth/forward', { headers: bearer(key) });
  },
  verify: verifying('/auth/verify', (credential) => ({ json: { credential } })),
  verifyBatch: verifying('/auth/verify/batch', (credential) => ({ json: { credentials: [credential] } })),
  introspect: verifying('/auth/introspect', (token) => ({ body: new URLSearchParams({ token }).toString() })),
  ...requestsWithoutCredential(github, provider),
  ...consoleRequests(own, administered),
  ...passkeyRequests(newEmail),
  ...portalRequests,
  getJwks: read('/.well-known/jwks.json'),
  getMetadata: read('/.well-known/oauth-authorization-server'),
  getRoot: read('/'),
  live: read('/health/live'),
  ready: read('/health/ready'),
  getOpenApi: read('/openapi.json'),
  getProblem: read('/problems/not_found'),
});

/** Limits every pool to one connection from now on. */
function limitPools({ mock }: TestContext): void {
  const connect = Reflect.get(Pool.prototype, 'connect') as (...args: unknown[]) => unknown;
  mock.method(Pool.prototype, 'connect', function (this: Pool, ...args: unknown[]): unknown {
    this.options.max = 1;
    return Reflect.apply(connect, this, args);
  });
}

async function sendAll(routes: readonly RouteContract[]): Promise<void> {
  await using receiver = await newReceiver();
  await using provider = await newOpenIdProvider();
  using folder = newTempFolder();
  await using client = await newAccountClient({
    KEYREEVE_THROTTLE: 'on',
    KEYREEVE_WEBHOOK_TARGETS: '127.0.0.0/8',
    ...optionalRoutes,
    ...provider.environment,
    ...githubSettings(folder.path, github),
  });
  const requests = requestsWith(provider);
  for (const { id } of routes) {
    const send = requests[id];
    assert.ok(send, `${id}: a request is missing in one-connection.ts`);
    const { status, text } = await send({ client, receiver });
    assert.ok(status >= 200 && status < 400, `${id}: ${status} ${text}`);
  }
  await client.untilOutboxEmpty();
  const failed = client.app.logLines.filter((line) =>
    /"status":50[03]|"event":"outbox_(?:failed|given_up)"/.test(line),
  );
  assert.deepEqual(failed, []);
}

/** @param order of the routes, for the name */
export function testRoutes(order: string, routes: readonly RouteContract[]): void {
  test(`every route works over pools of one connection, ${order} (postgres)`, async (t) => {
    limitPools(t);
    await currentKind.run('postgres', () => sendAll(routes));
  });
}
