/** Which credentials authenticate the caller of routes for managers and for management keys. */
import assert from 'node:assert/strict';
import { allRoutes, exampleOf, type ErrorCode } from '@keyreeve/contract';
import { test } from '../../../test-kit/app-on-each-database.ts';
import { assertRejected } from '../../../test-kit/key-client.ts';
import { basic, bearer, goodPassword, newApp, operator } from '../../../test-kit/new-app.ts';
import { sql } from '../../foundation/database/sql.ts';
import { newBackend } from '../../../test-kit/service-accounts.ts';

const makeManagementKey = sql(
  'test_make_management_key',
  `update api_keys set scopes = 'keyreeve:keys' where nickname = $1`,
);

type Headers = Readonly<Record<string, string>>;
type Cases = Readonly<Record<string, readonly [headers: Headers, manager: ErrorCode, managementKey: ErrorCode]>>;

const of = (auth: string) => allRoutes.filter((route) => route.auth === auth);

test(
  'routes of service accounts accept an access token or one management key, and nothing else',
  { tags: ['asvs:8.2.1', 'asvs:8.3.1'] },
  async () => {
    await using app = await newApp();
    const user = await app.signIn();
    const backend = await newBackend(app);
    const { key, accountId } = backend;
    const { apiKeys, accounts } = app.service.services;
    const make = async (nickname: string, more: object = {}): Promise<string> => {
      const scopes = ['keyreeve:keys'];
      return (await apiKeys.create(operator, accountId, { nickname, scopes, ...more })).secret.reveal();
    };
    const invalid = 'invalid_management_key';
    const disabled = await newBackend(app);
    await accounts.disable(operator, disabled.accountId);
    const deleted = await newBackend(app);
    await accounts.delete(operator, deleted.accountId);
    const expired = await make('expired', { expiresAt: app.clock.now() + 1 });
    app.clock.advance({ seconds: 1 });
    const cases: Cases = {
      nothing: [{}, 'missing_credential', invalid],
      'a plain key': [
        bearer(await make('plain', { scopes: ['orders:read'] })),
        'insufficient_scope',
        'insufficient_scope',
      ],
      'a service’s key': [bearer(await app.serviceKey()), 'insufficient_scope', 'insufficient_scope'],
      'another scope with the same beginning': [
        bearer(await make('similar', { scopes: ['x:keyreeve:keys'] })),
        'insufficient_scope',
        'insufficient_scope',
      ],
      'an expired key': [bearer(expired), invalid, invalid],
      'a key for other IP addresses': [bearer(await make('elsewhere', { addresses: ['192.0.2.1'] })), invalid, invalid],
      'the key of a disabled account': [disabled.headers, invalid, invalid],
      'the key of a deleted account': [deleted.headers, invalid, invalid],
      'the key with a changed character': [
        bearer(`${key.slice(0, -1)}${key.endsWith('a') ? 'b' : 'a'}`),
        invalid,
        invalid,
      ],
      'the key with Basic': [basic(String(backend.keyId), key), invalid, invalid],
      'email and password': [basic(user.account.email, goodPassword), invalid, invalid],
      'the key as another scheme': [{ authorization: `Key ${key}` }, invalid, invalid],
      'a text like a JWT': [bearer('eyJhbGciOiJub25lIn0.e30.'), 'invalid_access_token', 'management_key_required'],
      'a key that begins like a JWT': [bearer(`eyJ${key}`), 'invalid_access_token', 'management_key_required'],
      'an access token as X-API-Key': [{ 'x-api-key': user.accessToken }, invalid, invalid],
      'a refresh token': [bearer(user.refreshToken), invalid, invalid],
      'two headers': [{ ...bearer(key), 'x-api-key': key }, 'ambiguous_credentials', 'ambiguous_credentials'],
      'two values': [{ 'x-api-key': `${key}, ${key}` }, 'ambiguous_credentials', 'ambiguous_credentials'],
    };
    const routes = [...of('manager'), ...of('management_key')];
    assert.ok(routes.length >= 10);
    for (const { method, path, params, body, auth } of routes) {
      const examples = (params === undefined ? {} : exampleOf(params)) as Readonly<Record<string, unknown>>;
      const target = path.replaceAll(/:(\w+)/g, (_, name: string) => String(examples[name]));
      const json = body && { json: exampleOf(body.schema) };
      for (const [what, [headers, manager, managementKey]] of Object.entries(cases)) {
        const answer = await app.call(method, target, { headers, ...json });
        assertRejected(answer, auth === 'manager' ? manager : managementKey, `${what}: ${method} ${target}`);
      }
      if (auth !== 'management_key') continue;
      const answer = await app.call(method, target, { headers: bearer(user.accessToken), ...json });
      assertRejected(answer, 'management_key_required', `an access token: ${method} ${target}`);
    }
    assert.equal((await app.call('GET', `${backend.path}/api-keys`, { headers: backend.headers })).status, 200);
  },
);

test('a management key of a further environment is not accepted', async () => {
  await using app = await newApp({ environment: { KEYREEVE_ENVIRONMENTS: 'live:krv_live,test:krv_test' } });
  const live = await newBackend(app);
  assert.equal((await app.call('GET', `${live.path}/api-keys`, { headers: live.headers })).status, 200);
  const request = { nickname: 'further', environment: 'test' };
  const { secret } = await app.service.services.apiKeys.create(operator, live.accountId, request);
  // No request makes such a key.
  await app.db.transaction((tx) => tx.run(makeManagementKey, [request.nickname]));
  const answer = await app.call('GET', `${live.path}/api-keys`, { headers: bearer(secret.reveal()) });
  assertRejected(answer, 'invalid_management_key');
});

test('limits of a management key and its account do not apply to its requests', async () => {
  await using app = await newApp();
  const { headers, path } = await newBackend(app, { limits: { quota: { limit: 1, per: 'ever' } } });
  for (let count = 0; count < 3; count++)
    assert.equal((await app.call('GET', `${path}/api-keys`, { headers })).status, 200);
});

test('a management key must use https where access tokens must', async () => {
  await using app = await newApp({
    environment: { KEYREEVE_PUBLIC_URL: 'https://auth.example.com', KEYREEVE_TRUSTED_PROXIES: '127.0.0.0/8, ::1' },
  });
  const { headers, path } = await newBackend(app);
  const plain = await app.call('GET', `${path}/api-keys`, { headers: { ...headers, 'x-forwarded-proto': 'http' } });
  assertRejected(plain, 'https_required');
});
