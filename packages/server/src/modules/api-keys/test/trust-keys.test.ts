/** API keys with a trust: creation, views, changes and rotations. */
import assert from 'node:assert/strict';
import { issuerPresets, limits, type KeyDetails, type ListedKey, type ListedKeyFull } from '@keyreeve/contract';
import { test, testOnBoth } from '../../../../test-kit/app-on-each-database.ts';
import { listAuditEvents } from '../../../../test-kit/audit-log.ts';
import { addIssuer } from '../../../../test-kit/issuers.ts';
import { assertRejected } from '../../../../test-kit/key-client.ts';
import { bearer, newApp, operator, type Answered, type TestApp } from '../../../../test-kit/new-app.ts';
import { newBackend } from '../../../../test-kit/service-accounts.ts';
import { rulesOf } from '../../../foundation/database/key-rules.ts';
import { sql } from '../../../foundation/database/sql.ts';
import { removeIssuerTx } from '../../issuers/store.ts';

const path = '/auth/api-keys';
const github = issuerPresets.github.url;

async function newClient(options: object = {}) {
  const app = await newApp(options);
  const user = await app.signIn();
  const send = (method: string, at: string, json?: unknown): Promise<Answered> => {
    const headers = bearer(user.accessToken);
    return app.call(method, at, json === undefined ? { headers } : { headers, json });
  };
  const register = async (trust: object, others: object = {}): Promise<ListedKey> => {
    const answer = await send('POST', `${path}/public`, { nickname: 'deploy', trust, ...others });
    assert.equal(answer.status, 201, answer.text);
    return answer.json as ListedKey;
  };
  const read = async (id: number): Promise<KeyDetails> => (await send('GET', `${path}/${id}`)).json as KeyDetails;
  return { app, user, send, register, read, [Symbol.asyncDispose]: () => app[Symbol.asyncDispose]() };
}

const eventOf = async (app: TestApp, action: string): Promise<Record<string, unknown>> => {
  const event = (await listAuditEvents(app.db)).findLast((one) => one.action === action);
  return JSON.parse(String(event?.details)) as Record<string, unknown>;
};

const selectRows = sql<{ rules: number; trust: string | null; issuerId: number | null }>(
  'test_stored_trusts',
  `select rules, trust, issuer_id as "issuerId" from api_keys
   union all select 0, trust, issuer_id from api_key_secrets`,
);

testOnBoth('a key with a trust is created without a secret, and shows the trust wherever a key is shown', async () => {
  await using client = await newClient();
  const { app } = client;
  const issuerId = await addIssuer(app.db, { url: github, preset: 'github' });
  const publicUrl = app.service.publicUrl;
  const claims = { ref: 'refs/heads/main', repository_id: '4711' };
  const answer = await client.send('POST', `${path}/public`, {
    nickname: 'deploy',
    trust: { issuer: github, claims },
    scopes: ['orders:read'],
  });
  assert.equal(answer.status, 201, answer.text);
  const { id, ...created } = answer.json as ListedKey;
  const now = new Date(app.clock.now()).toISOString();
  assert.deepEqual(created, { nickname: 'deploy', createdAt: now, updatedAt: now });
  const shown = {
    issuer: github,
    claims: { '/ref': 'refs/heads/main', '/repository_id': '4711' },
    audience: publicUrl,
    issuerState: 'declared',
  };
  const details = await client.read(id);
  assert.deepEqual([details.trust, details.publicKey, details.hint], [shown, null, null]);
  const full = ((await client.send('GET', `${path}?view=full`)).json as { apiKeys: ListedKeyFull[] }).apiKeys[0];
  assert.deepEqual(full?.trust, shown);
  const event = await eventOf(app, 'api_key.created');
  assert.deepEqual(event['trust'], { issuer: github, claims: shown.claims, audience: publicUrl });
  // Programs of earlier releases reject the key.
  const rows = await app.db.all(selectRows);
  assert.deepEqual(
    rows.map((row) => ({ ...row })),
    [
      {
        rules: rulesOf.trust,
        trust: JSON.stringify({ issuer: github, audience: publicUrl, claims: shown.claims }),
        issuerId,
      },
    ],
  );
  await app.db.transaction((tx) => removeIssuerTx(tx, issuerId));
  assert.deepEqual((await client.read(id)).trust, { ...shown, issuerState: 'removed' });
});

test('a trust is rejected at the member that is wrong, and no key is created', { tags: ['asvs:2.2.1'] }, async () => {
  await using client = await newClient({ environment: { KEYREEVE_EXCHANGE_AUDIENCES: 'api' } });
  await addIssuer(client.app.db, { url: github, preset: 'github' });
  const id = { repository_id: '4711' };
  const many = Object.fromEntries(Array.from({ length: limits.trustClaimsMax }, (_, index) => [`claim${index}`, 'a']));
  const publicKey = { kty: 'OKP', crv: 'Ed25519', x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo' };
  for (const [body, pointer] of [
    [{}, '/publicKey'],
    [{ trust: null }, '/trust'],
    [{ trust: { issuer: github, claims: id }, publicKey }, '/trust'],
    [{ trust: { claims: id } }, '/trust/issuer'],
    [{ trust: { issuer: github } }, '/trust/claims'],
    [{ trust: { issuer: `${github}/`, claims: id } }, '/trust/issuer'],
    [{ trust: { issuer: github, claims: {} } }, '/trust/claims'],
    [{ trust: { issuer: github, claims: { ...id, ...many } } }, '/trust/claims'],
    [{ trust: { issuer: github, claims: { ref: 'refs/heads/main' } } }, '/trust/claims'],
    [{ trust: { issuer: github, claims: { sub: 'repo:octo/app:ref:refs/heads/main' } } }, '/trust/claims'],
    [{ trust: { issuer: github, claims: { ...id, '/repository_id': '4712' } } }, '/trust/claims'],
    [{ trust: { issuer: github, claims: { ...id, ref: null } } }, '/trust/claims/ref'],
    [{ trust: { issuer: github, claims: { ...id, ref: '' } } }, '/trust/claims/ref'],
    [{ trust: { issuer: github, claims: { ...id, ref: ['a'] } } }, '/trust/claims/ref'],
    [{ trust: { issuer: github, claims: { ...id, run: 1.5 } } }, '/trust/claims/run'],
    [{ trust: { issuer: github, claims: { ...id, run: 2 ** 53 } } }, '/trust/claims/run'],
    [{ trust: { issuer: github, claims: { ...id, ref: 'a'.repeat(513) } } }, '/trust/claims/ref'],
    [{ trust: { issuer: github, claims: { ...id, '': 'a' } } }, '/trust/claims/'],
    [{ trust: { issuer: github, claims: { ...id, '/a//b': 'a' } } }, '/trust/claims/~1a~1~1b'],
    [{ trust: { issuer: github, claims: { ...id, '/a~2': 'a' } } }, '/trust/claims/~1a~02'],
    [{ trust: { issuer: github, claims: { ...id, aud: 'a' } } }, '/trust/claims/aud'],
    [{ trust: { issuer: github, claims: { ...id, '/jti': 'a' } } }, '/trust/claims/~1jti'],
    [{ trust: { issuer: github, claims: id, audience: 'https://example.com' } }, '/trust/audience'],
    [{ trust: { issuer: github, claims: id, subject: 'a' } }, '/trust/subject'],
    [{ trust: { issuer: github, claims: id }, sha256: '0'.repeat(64) }, '/sha256'],
  ] as const) {
    const answer = await client.send('POST', `${path}/public`, { nickname: 'a', ...body });
    assert.deepEqual(assertRejected(answer, 'invalid_request'), [pointer], JSON.stringify(body));
  }
  const unsafe = { trust: { issuer: github, claims: { ref: 'refs/heads/main' } }, nickname: 'a' };
  const { text } = await client.send('POST', `${path}/public`, unsafe);
  assert.match(text, /Name repository_id or repository_owner_id/, 'the error names the better claims');
  assert.deepEqual((await client.send('GET', path)).json, { apiKeys: [] });
  await client.register({ issuer: github, claims: id, audience: 'api' });
});

test('a key trusts the issuer of its own service account before the common one, and no other account’s', async () => {
  await using app = await newApp();
  const { headers, path: service, serviceId } = await newBackend(app);
  const url = 'https://oidc.example.com';
  const trust = { issuer: url, claims: { sub: 'deploy' } };
  const create = (nickname: string) =>
    app.call('POST', `${service}/api-keys/public`, { headers, json: { nickname, trust } });
  const other = await app.createAccount();
  await addIssuer(app.db, { url, accountId: other.id });
  assert.deepEqual(assertRejected(await create('a'), 'invalid_request'), ['/trust/issuer']);
  const common = await addIssuer(app.db, { url });
  assert.equal((await create('b')).status, 201);
  const own = await addIssuer(app.db, { url, accountId: serviceId });
  assert.equal((await create('c')).status, 201);
  const rows = await app.db.all(selectRows);
  assert.deepEqual(new Set(rows.flatMap(({ issuerId }) => issuerId ?? [])), new Set([common, own]));
});

test('a key with a trust has no reserved scope', async () => {
  await using client = await newClient();
  await addIssuer(client.app.db, { url: github, preset: 'github' });
  const { apiKeys, keyChanges } = client.app.service.services;
  const accountId = client.user.account.id;
  const trust = { issuer: github, claims: { repository_id: '1' } };
  const request = { nickname: 'service', scopes: ['keyreeve:verify'] };
  await assert.rejects(apiKeys.createWithIdentity(operator, accountId, request, { trust }), { code: 'reserved_scope' });
  const { id } = await apiKeys.createWithIdentity(operator, accountId, { nickname: 'a' }, { trust });
  const change = keyChanges.change(operator, accountId, id, { scopes: ['keyreeve:verify'] });
  await assert.rejects(change, { code: 'reserved_scope' });
});

test('a rotation replaces the trust, keeps the previous one for the overlap, and records both', async () => {
  await using client = await newClient();
  await addIssuer(client.app.db, { url: github, preset: 'github' });
  const trustOf = (ref: string) => ({ issuer: github, claims: { repository_id: '4711', ref } });
  const storedOf = (ref: string) => ({
    issuer: github,
    audience: client.app.service.publicUrl,
    claims: { '/ref': ref, '/repository_id': '4711' },
  });
  const { id, nickname } = await client.register(trustOf('a'));
  const rotate = (body: object) => client.send('POST', `${path}/${id}/rotate`, body);
  const stored = async () =>
    (await client.app.db.all(selectRows)).map(({ trust }) => JSON.parse(String(trust)) as object);
  const answer = await rotate({ trust: trustOf('b'), overlapSeconds: 600 });
  assert.equal(answer.status, 200, answer.text);
  assert.equal('key' in (answer.json as object), false);
  assert.deepEqual((await client.read(id)).trust, { ...storedOf('b'), issuerState: 'declared' });
  assert.deepEqual(await stored(), [storedOf('b'), storedOf('a')]);
  const event = await eventOf(client.app, 'api_key.rotated');
  assert.deepEqual(event, { nickname, overlapSeconds: 600, trustBefore: storedOf('a'), trust: storedOf('b') });
  for (const body of [{ trust: trustOf('b'), endPrevious: true }, { trust: trustOf('a'), endPrevious: true }, {}])
    assert.deepEqual(assertRejected(await rotate(body), 'invalid_request'), ['/trust']);
  assertRejected(await rotate({ trust: trustOf('c') }), 'overlap_in_progress');
  assert.equal((await rotate({ trust: trustOf('c'), endCurrent: true })).status, 200);
  assert.deepEqual(await stored(), [storedOf('c'), storedOf('a')], 'the previous one keeps its overlap');
  const ended = await client.send('DELETE', `${path}/${id}/previous`);
  assert.deepEqual(ended.json, { message: `The previous trust of API key ${id} has ended.` });
  assert.deepEqual(await stored(), [storedOf('c')]);
  assert.equal((await rotate({ trust: trustOf('a'), overlapSeconds: 0 })).status, 200);
  assert.deepEqual(await stored(), [storedOf('a')]);
});

test('a rotation must fit the kind of the key', async () => {
  await using client = await newClient();
  await addIssuer(client.app.db, { url: github, preset: 'github' });
  const trust = { issuer: github, claims: { repository_id: '1' } };
  const publicKey = { kty: 'OKP', crv: 'Ed25519', x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo' };
  const { id } = await client.register(trust);
  const { id: secretId } = (await client.send('POST', path, { nickname: 'secret' })).json as ListedKey;
  const ofPublicKey = { nickname: 'public', publicKey };
  const { id: publicId } = (await client.send('POST', `${path}/public`, ofPublicKey)).json as ListedKey;
  for (const [at, body, pointer] of [
    [id, { publicKey }, '/publicKey'],
    [publicId, { trust }, '/trust'],
    [secretId, { trust }, '/trust'],
    [id, { trust: { ...trust, publicKey } }, '/trust/publicKey'],
    [publicId, { trust, publicKey }, '/trust'],
  ] as const) {
    const answer = await client.send('POST', `${path}/${at}/rotate`, body);
    assert.deepEqual(assertRejected(answer, 'invalid_request'), [pointer], JSON.stringify(body));
  }
});

test('an issuer that was removed and added again is another one: only a rotation trusts it', async () => {
  await using client = await newClient();
  const trust = { issuer: github, claims: { repository_id: '1' } };
  const first = await addIssuer(client.app.db, { url: github, preset: 'github' });
  const { id } = await client.register(trust);
  await client.app.db.transaction((tx) => removeIssuerTx(tx, first));
  const second = await addIssuer(client.app.db, { url: github, preset: 'github' });
  assert.equal((await client.read(id)).trust?.issuerState, 'removed');
  const rotated = await client.send('POST', `${path}/${id}/rotate`, { trust, overlapSeconds: 0 });
  assert.equal(rotated.status, 200, rotated.text);
  assert.equal((await client.read(id)).trust?.issuerState, 'declared');
  assert.deepEqual(
    (await client.app.db.all(selectRows)).map(({ issuerId }) => issuerId),
    [second],
  );
});

test('the tokens of a key without any are empty lists', async () => {
  await using client = await newClient();
  const { id } = (await client.send('POST', path, { nickname: 'secret' })).json as ListedKey;
  assert.deepEqual((await client.send('GET', `${path}/${id}/tokens`)).json, { accepted: [], rejected: [] });
  assertRejected(await client.send('GET', `${path}/7/tokens`), 'key_not_found');
});
