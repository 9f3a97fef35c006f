/** Verification of the short-lived secrets of public-key keys. */
import assert from 'node:assert/strict';
import { limits, type CreatedKey, type KeyDetails, type VerifyResult } from '@keyreeve/contract';
import { test, testOnBoth } from '../../../../test-kit/app-on-each-database.ts';
import { countDatabaseReads } from '../../../../test-kit/database-reads.ts';
import { bearer, newApp, operator } from '../../../../test-kit/new-app.ts';
import {
  exchange,
  newAssertion,
  newKeyPair,
  newPublicKeyKey,
  newShortLived,
} from '../../../../test-kit/public-key-client.ts';
import { deleteOldShortLived } from '../../short-lived-secrets/store.ts';

const form = { 'content-type': 'application/x-www-form-urlencoded' };
const instant = (ms: number): string => new Date(ms).toISOString();
const refused = (code: string): object => ({ valid: false, code });

async function fixture(creation: object = {}, environment: Readonly<Record<string, string>> = {}) {
  const app = await newApp({ environment: { KEYREEVE_TRUSTED_PROXIES: '127.0.0.1/32', ...environment } });
  const service = bearer(await app.serviceKey());
  const { account, accessToken } = await app.signIn();
  const headers = bearer(accessToken);
  const pair = newKeyPair();
  const keyId = await newPublicKeyKey(app, accessToken, pair, { nickname: 'a', ...creation });
  const secret = await newShortLived(app, pair, keyId);
  const call = async (method: string, path = '', json?: object): Promise<unknown> => {
    const answer = await app.call(method, `/auth/api-keys/${keyId}${path}`, { headers, ...(json ? { json } : {}) });
    assert.equal(answer.status, 200, answer.text);
    return answer.json;
  };
  const verify = async (credential = secret, more: object = {}): Promise<VerifyResult> => {
    const answer = await app.call('POST', '/auth/verify', { headers: service, json: { credential, ...more } });
    assert.equal(answer.status, 200, answer.text);
    return answer.json as VerifyResult;
  };
  const outcome = async (credential = secret, more: object = {}): Promise<string> => {
    const result = await verify(credential, more);
    return result.valid ? 'valid' : result.code;
  };
  const introspect = async (token: string): Promise<unknown> =>
    (await app.call('POST', '/auth/introspect', { headers: { ...service, ...form }, body: `token=${token}` })).json;
  const batch = async (credentials: readonly string[]): Promise<unknown> =>
    (await app.call('POST', '/auth/verify/batch', { headers: service, json: { credentials } })).json;
  const forward = (credential = secret, query = '') =>
    app.call('GET', `/auth/forward${query}`, { headers: bearer(credential) });
  const details = async (): Promise<KeyDetails> => {
    await app.service.services.uses.flush();
    return (await call('GET')) as KeyDetails;
  };
  const at = { app, service, account, headers, pair, keyId, secret, call, verify, outcome, introspect, batch, forward };
  return { ...at, details, [Symbol.asyncDispose]: () => app[Symbol.asyncDispose]() };
}

test('a short-lived secret has the identity, scopes and metadata of its key in every result', async () => {
  await using at = await fixture({ scopes: ['orders:read'], metadata: { customer: 'cus_1' } });
  const end = at.app.clock.now() + limits.shortLivedSecretSeconds * 1_000;
  const accepted = {
    valid: true,
    type: 'api_key',
    accountId: at.account.id,
    keyId: at.keyId,
    nickname: 'a',
    scopes: ['orders:read'],
    expiresAt: instant(end),
    metadata: { customer: 'cus_1' },
  };
  assert.deepEqual(await at.verify(), accepted);
  assert.deepEqual(await at.batch([at.secret, 'x']), { results: [accepted, refused('malformed')] });
  const issuedAt = at.app.clock.now() / 1_000;
  assert.deepEqual(await at.introspect(at.secret), {
    active: true,
    sub: at.account.id,
    scope: 'orders:read',
    exp: end / 1_000,
    iat: issuedAt,
    token_type: 'api_key',
  });
  const { status, headers } = await at.forward();
  assert.equal(status, 200);
  assert.equal(headers.get('x-keyreeve-key-id'), String(at.keyId));
  assert.equal(headers.get('x-keyreeve-account'), at.account.id);
  assert.equal(headers.get('x-keyreeve-scopes'), 'orders:read');
});

test('a short-lived secret ends after ten minutes, or with its key', async () => {
  await using at = await fixture();
  at.app.clock.advance({ seconds: 599 });
  assert.equal(await at.outcome(), 'valid');
  at.app.clock.advance({ seconds: 1 });
  assert.deepEqual(await at.verify(), refused('expired'));
  assert.deepEqual(await at.introspect(at.secret), { active: false });
  assert.equal((await at.forward()).status, 401);
  const next = await newShortLived(at.app, at.pair, at.keyId);
  const { service } = at.app;
  const expiresAt = at.app.clock.now() + 20_000;
  await service.services.keyChanges.change(operator, at.account.id, at.keyId, { expiresAt });
  const result = await at.verify(next);
  assert.equal(result.valid && result.expiresAt, instant(expiresAt));
  at.app.clock.advance({ seconds: 20 });
  assert.deepEqual(await at.verify(next), refused('expired'));
});

test('every restriction of the key applies to its short-lived secrets at once', async () => {
  await using at = await fixture({ scopes: ['a', 'b'] });
  await at.call('PATCH', '', { scopes: ['a'] });
  assert.equal(await at.outcome(at.secret, { scopes: ['b'] }), 'insufficient_scope');
  assert.equal(await at.outcome(at.secret, { scopes: ['a'] }), 'valid');
  assert.equal((await at.forward(at.secret, '?scope=b')).status, 403);
  await at.call('PATCH', '', { addresses: ['203.0.113.0/24'] });
  assert.equal(await at.outcome(), 'address_required');
  assert.equal(await at.outcome(at.secret, { address: '192.0.2.1' }), 'address_not_allowed');
  assert.equal(await at.outcome(at.secret, { address: '203.0.113.9' }), 'valid');
  await at.call('PATCH', '', { addresses: null, limits: { quota: { limit: 2, per: 'day' } } });
  assert.deepEqual([await at.outcome(), await at.outcome(), await at.outcome()], ['valid', 'valid', 'quota_exceeded']);
  const other = await newShortLived(at.app, at.pair, at.keyId);
  assert.equal(await at.outcome(other), 'quota_exceeded', 'the secrets of a key share its limits');
  await at.call('PATCH', '', { limits: null, disabled: true });
  assert.equal(await at.outcome(), 'disabled');
  assert.equal((await at.forward()).status, 401);
  await at.call('PATCH', '', { disabled: false });
  assert.equal(await at.outcome(), 'valid');
  await at.app.service.services.accounts.disable(operator, at.account.id);
  assert.equal(await at.outcome(), 'disabled');
});

testOnBoth('a deletion ends all short-lived secrets of the key at once, and no other', async () => {
  await using at = await fixture();
  const secrets = [at.secret, await newShortLived(at.app, at.pair, at.keyId)];
  const pair = newKeyPair('ES256');
  const accessToken = at.headers.authorization.slice('Bearer '.length);
  const other = await newShortLived(at.app, pair, await newPublicKeyKey(at.app, accessToken, pair));
  await at.call('DELETE');
  for (const secret of secrets) {
    assert.equal((await at.forward(secret)).status, 401);
    assert.deepEqual(await at.verify(secret), refused('not_found'));
  }
  assert.equal(await at.outcome(other), 'valid');
});

test('a short-lived secret ends with the overlap of the public key that issued it', async () => {
  await using at = await fixture();
  const next = newKeyPair('ES256');
  const rotated = await at.call('POST', '/rotate', { publicKey: next.publicKey, overlapSeconds: 60 });
  assert.equal('key' in (rotated as object), false);
  const end = at.app.clock.now() + 60_000;
  const ofPrevious = await newShortLived(at.app, at.pair, at.keyId);
  const ofCurrent = await newShortLived(at.app, next, at.keyId);
  for (const secret of [at.secret, ofPrevious]) {
    const result = await at.verify(secret);
    assert.equal(result.valid && result.expiresAt, instant(end));
  }
  assert.equal(await at.outcome(ofCurrent), 'valid');
  at.app.clock.advance({ seconds: 60 });
  assert.deepEqual(await at.verify(at.secret), refused('expired'));
  assert.deepEqual(await at.verify(ofPrevious), refused('expired'));
  assert.equal((await exchange(at.app, newAssertion(at.app, at.pair, at.keyId))).status, 400);
  assert.equal(await at.outcome(ofCurrent), 'valid');
});

test('the early end of an overlap ends the short-lived secrets of the previous public key at once', async () => {
  await using at = await fixture();
  const [second, third, fourth] = [newKeyPair(), newKeyPair('ES256'), newKeyPair()];
  await at.call('POST', '/rotate', { publicKey: second.publicKey });
  const ofSecond = await newShortLived(at.app, second, at.keyId);
  assert.equal(await at.outcome(), 'valid');
  await at.call('DELETE', '/previous');
  assert.deepEqual(await at.verify(), refused('not_found'));
  assert.equal((await at.forward()).status, 401);
  assert.equal(await at.outcome(ofSecond), 'valid');
  assert.equal((await exchange(at.app, newAssertion(at.app, at.pair, at.keyId))).status, 400);

  await at.call('POST', '/rotate', { publicKey: third.publicKey, overlapSeconds: 0 });
  assert.deepEqual(await at.verify(ofSecond), refused('not_found'), 'a rotation without overlap');
  const ofThird = await newShortLived(at.app, third, at.keyId);
  await at.call('POST', '/rotate', { publicKey: fourth.publicKey });
  const ofFourth = await newShortLived(at.app, fourth, at.keyId);
  await at.call('POST', '/rotate', { publicKey: second.publicKey, endCurrent: true });
  assert.deepEqual(await at.verify(ofFourth), refused('not_found'), 'the end of the current public key');
  assert.equal(await at.outcome(ofThird), 'valid', 'its overlap continues');
});

test('a leaked short-lived secret ends alone, and its assertion stays used', async () => {
  await using at = await fixture();
  const assertion = newAssertion(at.app, at.pair, at.keyId);
  const { json } = await exchange(at.app, assertion);
  const { access_token: other } = json as { access_token: string };
  const { leaks } = at.app.service.services;
  assert.deepEqual(await leaks.report(operator, [{ text: other }]), ['short_lived']);
  assert.deepEqual(await at.verify(other), refused('expired'));
  assert.equal((await at.forward(other)).status, 401);
  assert.equal(await at.outcome(), 'valid');
  assert.equal((await exchange(at.app, assertion)).status, 400);
});

test('the use of a short-lived secret is a use of its key, and of the public key that issued it', async () => {
  await using at = await fixture();
  await at.forward();
  const { lastUsedAt, previous } = await at.details();
  assert.equal(lastUsedAt, instant(at.app.clock.now()));
  assert.equal(previous, null);
  const next = newKeyPair();
  await at.call('POST', '/rotate', { publicKey: next.publicKey });
  at.app.clock.advance({ seconds: limits.lastUsedResolutionSeconds });
  await at.forward();
  const used = await at.details();
  assert.equal(used.previous?.lastUsedAt, instant(at.app.clock.now()));
  assert.equal(used.lastUsedAt, instant(at.app.clock.now()));
  const usage = (await at.call('GET', '/usage')) as { usage: readonly { accepted: number }[] };
  assert.equal(
    usage.usage.reduce((sum, { accepted }) => sum + accepted, 0),
    2,
  );
});

test('a text with the prefix but a wrong checksum costs no read, and a verification one', async () => {
  await using at = await fixture();
  const { verifier } = at.app.service.services;
  const wrong = `${at.secret.slice(0, -1)}${at.secret.endsWith('0') ? '1' : '0'}`;
  const created = await at.app.call('POST', '/auth/api-keys', { headers: at.headers, json: { nickname: 'other' } });
  using reads = countDatabaseReads();
  const readsOf = async (text: string): Promise<readonly [string, number]> => {
    const before = reads.count();
    const result = await verifier.verify(text);
    return [result.valid ? 'valid' : result.code, reads.count() - before];
  };
  assert.deepEqual(await readsOf(wrong), ['malformed', 0]);
  assert.deepEqual(await readsOf(at.secret), ['valid', 1]);
  assert.deepEqual(await readsOf((created.json as CreatedKey).key), ['valid', 1]);
});

testOnBoth('an ended secret is refused as expired for 15 minutes after its issue, then it is not found', async () => {
  await using at = await fixture();
  at.app.clock.advance({ seconds: limits.shortLivedSecretKeptSeconds });
  assert.equal(await deleteOldShortLived(at.app.db, at.app.clock, 10), 0);
  assert.deepEqual(await at.verify(), refused('expired'));
  at.app.clock.advance({ seconds: 0.001 });
  assert.equal(await deleteOldShortLived(at.app.db, at.app.clock, 10), 1);
  assert.deepEqual(await at.verify(), refused('not_found'));
});

for (const [name, more] of [
  ['environments', {}],
  ['environments and a scope catalogue', { KEYREEVE_SCOPES: 'catalogue' }],
] as const)
  test(`with ${name}, a short-lived secret has the environment of its key`, async () => {
    const environment = { KEYREEVE_ENVIRONMENTS: 'live:acme_live,test:acme_test', ...more };
    await using at = await fixture({ environment: 'test' }, environment);
    assert.equal(await at.outcome(), 'wrong_environment');
    const result = await at.verify(at.secret, { environments: ['live', 'test'] });
    assert.equal(result.valid && result.environment, 'test');
    assert.equal((await at.forward()).status, 403);
    const pair = newKeyPair('ES256');
    const accessToken = at.headers.authorization.slice('Bearer '.length);
    const live = await newShortLived(at.app, pair, await newPublicKeyKey(at.app, accessToken, pair));
    assert.equal(await at.outcome(live), 'valid');
  });
