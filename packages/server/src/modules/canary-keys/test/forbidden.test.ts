/** What the credential of a revocation check from outside, and its canary keys, cannot do. */
import assert from 'node:assert/strict';
import { allRoutes, canaryKeyRoutes, exampleOf, type RouteContract } from '@keyreeve/contract';
import { createCanary, issueCredential, newCanaryApp } from '../../../../test-kit/canary-credentials.ts';
import { test } from '../../../../test-kit/app-on-each-database.ts';
import { assertRejected } from '../../../../test-kit/key-client.ts';
import { basic, bearer, operator } from '../../../../test-kit/new-app.ts';
import { newBackend } from '../../../../test-kit/service-accounts.ts';
import { canaryScope } from '../../api-keys/scopes.ts';

type Headers = Readonly<Record<string, string>>;

const forms: readonly ((key: string) => Headers)[] = [bearer, (key) => ({ 'x-api-key': key })];

/** Routes that read a credential, except those for canary keys and verification. */
const closed: readonly RouteContract[] = allRoutes.filter(
  ({ auth }) => auth !== 'none' && auth !== 'any_credential' && auth !== 'service_key' && auth !== 'canary_credential',
);

function targetOf({ path, params }: RouteContract, accountId: string, keyId: number): string {
  const examples = (params === undefined ? {} : exampleOf(params)) as Readonly<Record<string, unknown>>;
  const own: Readonly<Record<string, unknown>> = { ...examples, accountId, id: keyId };
  return path.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(String(own[name])));
}

const bodyOf = ({ body }: RouteContract): { json?: unknown } =>
  body?.type === 'json' ? { json: exampleOf(body.schema) } : {};

test(
  'all other routes answer a credential and a canary key as they answer an unknown key',
  { tags: ['asvs:8.2.1', 'asvs:8.3.1'] },
  async () => {
    await using app = await newCanaryApp();
    const credential = await issueCredential(app);
    const canary = await createCanary(app, credential);
    const unknown = await createCanary(app, credential);
    await app.call('DELETE', `/auth/canary-keys/${unknown.id}`, { headers: credential.headers });
    assert.ok(closed.length > 50);
    for (const contract of closed) {
      const target = targetOf(contract, credential.accountId, canary.id);
      const call = async (headers: Headers) => {
        const { status, json } = await app.call(contract.method, target, { headers, ...bodyOf(contract) });
        return [status, (json as { code?: string } | undefined)?.code];
      };
      for (const form of forms) {
        const expected = await call(form(unknown.key));
        assert.notEqual(expected[0], 200, `${contract.method} ${target}`);
        for (const key of [credential.secret, canary.key])
          assert.deepEqual(await call(form(key)), expected, `${contract.method} ${target}`);
      }
    }
  },
);

test('proxies and services accept neither a credential nor a canary key', { tags: ['asvs:8.2.2'] }, async () => {
  await using app = await newCanaryApp({ environment: { KEYREEVE_TRUSTED_PROXIES: '127.0.0.0/8, ::1' } });
  const credential = await issueCredential(app);
  const canary = await createCanary(app, credential);
  const service = bearer(await app.serviceKey());
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  for (const text of [credential.secret, canary.key]) {
    for (const client of ['203.0.113.7', '100::1', '100::', '::1', '0.0.0.0']) {
      const headers = { ...bearer(text), 'x-forwarded-for': client };
      assertRejected(await app.call('GET', '/auth/forward', { headers }), 'address_not_allowed');
      const json = { credential: text, address: client };
      const { json: result } = await app.call('POST', '/auth/verify', { headers: service, json });
      assert.deepEqual(result, { valid: false, code: 'address_not_allowed' });
    }
    const body = `token=${text}`;
    const introspected = await app.call('POST', '/auth/introspect', { headers: { ...service, ...form }, body });
    assert.deepEqual(introspected.json, { active: false });
    const { json: batch } = await app.call('POST', '/auth/verify/batch', {
      headers: service,
      json: { credentials: [text] },
    });
    assert.deepEqual(batch, { results: [{ valid: false, code: 'address_required' }] });
  }
});

test('a credential gets the same result for every credential that is not one of its canary keys', async () => {
  await using app = await newCanaryApp();
  const credential = await issueCredential(app);
  const other = await issueCredential(app);
  const { apiKeys, keyChanges } = app.service.services;
  const user = await app.signIn();
  const make = async (nickname: string, more: object = {}) => {
    const { id, secret } = await apiKeys.create(operator, user.account.id, { nickname, ...more });
    return { id, text: secret.reveal() };
  };
  const disabled = await make('disabled');
  await keyChanges.change(operator, user.account.id, disabled.id, { disabled: true });
  const deleted = await make('deleted');
  await apiKeys.delete(operator, user.account.id, deleted.id);
  const expired = await make('expired', { expiresAt: app.clock.now() + 1 });
  app.clock.advance({ seconds: 1 });
  const ownOther = await apiKeys.create(operator, credential.accountId, { nickname: 'of the account' });
  const texts = {
    'another account’s key': (await make('plain', { scopes: ['orders:read'] })).text,
    'a key with IP ranges': (await make('ranges', { addresses: ['192.0.2.1'] })).text,
    'a key with limits': (await make('limited', { limits: { quota: { limit: 1, per: 'ever' } } })).text,
    'a disabled key': disabled.text,
    'a deleted key': deleted.text,
    'an expired key': expired.text,
    'a service’s key': await app.serviceKey(),
    'a management key': (await newBackend(app)).key,
    'an access token': user.accessToken,
    'the credential itself': credential.secret,
    'another credential': other.secret,
    'another credential’s canary key': (await createCanary(app, other)).key,
    'a key that an operator added to the account': ownOther.secret.reveal(),
    'no credential': 'x',
  };
  const { headers } = credential;
  const form = { ...headers, 'content-type': 'application/x-www-form-urlencoded' };
  const rejected = { valid: false, code: 'not_found' };
  for (const [what, text] of Object.entries(texts)) {
    for (const json of [{ credential: text }, { credential: text, address: '192.0.2.1', scopes: ['orders:read'] }])
      assert.deepEqual((await app.call('POST', '/auth/verify', { headers, json })).json, rejected, what);
    const json = { credentials: [text] };
    const batch = await app.call('POST', '/auth/verify/batch', { headers, json });
    assert.deepEqual(batch.json, { results: [rejected] }, what);
    const introspected = await app.call('POST', '/auth/introspect', { headers: form, body: `token=${text}` });
    assert.deepEqual(introspected.json, { active: false }, what);
  }
});

test('a credential deletes no other key, and the response does not show whether one exists', async () => {
  await using app = await newCanaryApp();
  const credential = await issueCredential(app);
  const other = await issueCredential(app);
  const { account } = await app.signIn();
  const { apiKeys } = app.service.services;
  const foreign = await apiKeys.create(operator, account.id, { nickname: 'foreign' });
  const added = await apiKeys.create(operator, credential.accountId, { nickname: 'added' });
  const ids = {
    'another account’s key': foreign.id,
    'another credential': other.keyId,
    'another credential’s canary key': (await createCanary(app, other)).id,
    'the credential itself': credential.keyId,
    'a key that an operator added to the account': added.id,
    'no key': 1,
    'no id': 'x',
  };
  const { headers } = credential;
  const answers = new Set<string>();
  for (const [what, id] of Object.entries(ids)) {
    const answer = await app.call('DELETE', `/auth/canary-keys/${id}`, { headers });
    assertRejected(answer, 'key_not_found', what);
    const { requestId: _, ...rest } = answer.json as { requestId: string };
    answers.add(JSON.stringify(rest));
  }
  assert.equal(answers.size, 1);
  const { json } = await app.call('GET', '/auth/canary-keys', { headers });
  assert.deepEqual((json as { apiKeys: unknown[] }).apiKeys, []);
  for (const [id, accountId] of [
    [foreign.id, account.id],
    [other.keyId, other.accountId],
    [credential.keyId, credential.accountId],
  ] as const)
    assert.ok((await apiKeys.list(accountId)).some((key) => key.id === id));
});

test('other credentials are not accepted on the routes of canary keys', { tags: ['asvs:8.2.1'] }, async () => {
  await using app = await newCanaryApp();
  const credential = await issueCredential(app);
  const canary = await createCanary(app, credential);
  const user = await app.signIn();
  const { key: management } = await newBackend(app);
  const cases: Readonly<Record<string, Headers>> = {
    nothing: {},
    'an access token': bearer(user.accessToken),
    'a service’s key': bearer(await app.serviceKey()),
    'a management key': bearer(management),
    'a canary key': bearer(canary.key),
    'the credential with Basic': basic(String(credential.keyId), credential.secret),
    'a text that is no key': bearer('x'),
  };
  for (const [what, headers] of Object.entries(cases)) {
    for (const contract of canaryKeyRoutes) {
      const answer = await app.call(contract.method, targetOf(contract, '', canary.id), { headers });
      assertRejected(answer, 'invalid_service_key', `${what}: ${contract.id}`);
    }
  }
  const twice = { ...credential.headers, 'x-api-key': credential.secret };
  assertRejected(await app.call('GET', '/auth/canary-keys', { headers: twice }), 'ambiguous_credentials');
});

test('only the command for credentials grants their scope', { tags: ['asvs:8.2.1'] }, async () => {
  await using app = await newCanaryApp();
  const { id } = await app.createAccount();
  const { apiKeys, keyChanges } = app.service.services;
  const administrator = { kind: 'account', accountId: id, sessionId: '', role: 'admin', signedInAt: app.clock.now() };
  for (const principal of [operator, administrator as never]) {
    const request = { nickname: 'wrong', scopes: [canaryScope] };
    await assert.rejects(apiKeys.create(principal, id, request), { code: 'reserved_scope' });
  }
  const plain = await apiKeys.create(operator, id, { nickname: 'plain' });
  const added = keyChanges.change(operator, id, plain.id, { scopes: [canaryScope] });
  await assert.rejects(added, { code: 'reserved_scope' });
});
