/** Administrators, an account for them to change, and a valid request to each of their routes. */
import assert from 'node:assert/strict';
import { allRoutes, type AccountDetail, type RouteContract } from '@keyreeve/contract';
import { Secret } from '../src/foundation/crypto/secret.ts';
import { basic, bearer, goodPassword, operator, type Answered, type SignedIn, type TestApp } from './new-app.ts';

/** Every route that requires an administrator. */
export const administratorRoutes = allRoutes.filter(({ auth }) => auth === 'administrator');

export async function newAccessToken(app: TestApp, email: string, password = goodPassword): Promise<string> {
  const answer = await app.call('POST', '/auth/token', { headers: basic(email, password) });
  assert.equal(answer.status, 200, answer.text);
  return (answer.json as { accessToken: string }).accessToken;
}

let administrators = 0;

/** A new administrator with a session. */
export async function newAdministrator(app: TestApp, email?: string): Promise<SignedIn> {
  const { accounts } = app.service.services;
  const newEmail = email ?? `admin${++administrators}@example.com`;
  const account = await accounts.create(operator, newEmail, new Secret(goodPassword), 'admin');
  const pair = await app.call('POST', '/auth/token', { headers: basic(account.email, goodPassword) });
  return { account, ...(pair.json as { accessToken: string; refreshToken: string }) };
}

/** An account with a session, a key and a service account. The catalogue has the scope `reports`. */
export interface Target extends SignedIn {
  readonly keyId: number;
  readonly key: string;
  readonly sessionId: string;
  /** A service account that the account manages. */
  readonly serviceId: string;
}

export async function newTarget(app: TestApp, email?: string): Promise<Target> {
  const user = await app.signIn(email);
  const made = await app.call('POST', '/auth/api-keys', {
    headers: bearer(user.accessToken),
    json: { nickname: 'held' },
  });
  assert.equal(made.status, 201, made.text);
  const { id, key } = made.json as { id: number; key: string };
  await app.service.services.scopeCatalogue.set(operator, 'reports', { description: '', entitled: false });
  const [, claims = ''] = user.accessToken.split('.');
  const { sid } = JSON.parse(Buffer.from(claims, 'base64url').toString()) as { sid: string };
  const service = await app.service.services.serviceAccounts.create(operator, user.account.id, { name: 'held' });
  return { ...user, keyId: id, key, sessionId: sid, serviceId: service.id };
}

const webhook = { url: 'https://example.com/hook', events: ['account.created'] };
/** A body that each route accepts, by the id of the route. A test fails for a route without a body here. */
export const goodBodies: Readonly<Record<string, Record<string, unknown>>> = {
  adminInviteAccount: { email: 'invited@example.com' },
  adminReportCompromised: {},
  adminSetEmail: { email: 'set@example.com' },
  adminSetRole: { role: 'user' },
  adminSetLimits: { quota: { limit: 1000, per: 'day' } },
  adminChangeKey: { disabled: true },
  adminCreateKey: { nickname: 'made' },
  adminCreateManagementKey: {
    name: 'backend',
    nickname: 'backend',
    addresses: ['127.0.0.1'],
    expiresAt: '2027-02-27T00:00:00Z',
    currentPassword: goodPassword,
    code: '000000',
  },
  adminFindKey: { key: 'krv_unknown' },
  adminRotateSigningKeys: { immediately: false },
  adminAddIssuer: { url: 'https://issuer.example.com' },
  adminChangeIssuer: { lifetimeSeconds: 60 },
  adminSetScope: { description: '', entitled: false },
  adminSetEntitlements: { entitlements: [] },
  createWebhook: webhook,
  changeWebhook: webhook,
  replayFailedWebhookDeliveries: { since: '2026-11-20T00:00:00Z' },
};

/** A request that succeeds if an administrator sends it. */
export function goodRequest(
  { id, method, path, body }: RouteContract,
  target: Target,
): readonly [method: string, path: string, options: { json?: unknown }] {
  const filled = path
    .replace('/admin/webhooks/:id', '/admin/webhooks/whe_0000000000000000000000')
    .replace('/admin/issuers/:id', '/admin/issuers/4711')
    .replace(':delivery', 'msg_0000000000000000000000')
    .replace('/accounts/:id/managers', `/accounts/${target.serviceId}/managers`)
    .replace(':id', target.account.id)
    .replace(':accountId', target.account.id)
    .replace(':name', 'reports')
    .replace(':keyId', String(target.keyId))
    .replace(':sessionId', target.sessionId);
  assert.ok(!filled.includes(':'), `${id}: fill in ${filled}`);
  if (!body) return [method, filled, {}];
  assert.ok(goodBodies[id], `${id}: goodBodies has no body for this route`);
  return [method, filled, { json: goodBodies[id] }];
}

/** Sends an administrator's request to `/admin/${path}`. */
// oxlint-disable-next-line max-params -- a request in the order of HTTP; 140 tests send some
export const administer = (
  app: TestApp,
  { accessToken }: Pick<SignedIn, 'accessToken'>,
  method: string,
  path: string,
  json?: unknown,
): Promise<Answered> =>
  app.call(method, `/admin/${path}`, { headers: bearer(accessToken), ...(json === undefined ? {} : { json }) });

export async function detailOf(app: TestApp, administrator: SignedIn, id: string): Promise<AccountDetail> {
  const answer = await administer(app, administrator, 'GET', `accounts/${id}`);
  assert.equal(answer.status, 200, answer.text);
  return answer.json as AccountDetail;
}

export const problemCode = (answer: Answered): string | undefined =>
  (answer.json as { code?: string } | undefined)?.code;
