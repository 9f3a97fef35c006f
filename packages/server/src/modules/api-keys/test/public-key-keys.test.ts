/** API keys with a public key: creation, views, changes and rotations. */
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import type { KeyDetails, ListedKey, ListedKeyFull, PublicKey, RotatedPublicKey } from '@keyreeve/contract';
import { test } from '../../../../test-kit/app-on-each-database.ts';
import { listAuditEvents } from '../../../../test-kit/audit-log.ts';
import { assertRejected } from '../../../../test-kit/key-client.ts';
import { bearer, newApp, operator, type Answered, type SignedIn, type TestApp } from '../../../../test-kit/new-app.ts';
import { sql } from '../../../foundation/database/sql.ts';
import { parsePublicKey, thumbprintOf, toPublicKey } from '../public-key.ts';

const newJwk = (): PublicKey =>
  toPublicKey(parsePublicKey(generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' })));
const newP256Jwk = (): PublicKey =>
  toPublicKey(parsePublicKey(generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'jwk' })));

const path = '/auth/api-keys';

/** An account, and requests with its access token. */
async function newClient(options = {}) {
  const app = await newApp(options);
  const user = await app.signIn();
  const send = (method: string, at: string, json?: unknown): Promise<Answered> => {
    const headers = bearer(user.accessToken);
    return app.call(method, at, json === undefined ? { headers } : { headers, json });
  };
  const register = async (publicKey: PublicKey, others: object = {}): Promise<ListedKey> => {
    const answer = await send('POST', `${path}/public`, { nickname: 'payroll', publicKey, ...others });
    assert.equal(answer.status, 201, answer.text);
    return answer.json as ListedKey;
  };
  const read = async (id: number): Promise<KeyDetails> => (await send('GET', `${path}/${id}`)).json as KeyDetails;
  return { app, user, send, register, read, [Symbol.asyncDispose]: () => app[Symbol.asyncDispose]() } satisfies {
    app: TestApp;
    user: SignedIn;
  } & Record<string | symbol, unknown>;
}

/** The details of the last event. */
const eventOf = async (app: TestApp, action: string): Promise<Record<string, unknown>> => {
  const event = (await listAuditEvents(app.db)).findLast((one) => one.action === action);
  return JSON.parse(String(event?.details)) as Record<string, unknown>;
};

const instantOf = (app: TestApp, seconds = 0): string => new Date(app.clock.now() + seconds * 1000).toISOString();

const selectStored = sql<{ hash: Uint8Array; publicKey: string | null; lookup: number }>(
  'test_stored_keys',
  `select lookup, key_hash as hash, public_key as "publicKey" from api_keys
   union all select lookup, key_hash, public_key from api_key_secrets`,
);

test('a key with a public key is created without a secret, and has the members of any other key', async () => {
  await using client = await newClient();
  const publicKey = newJwk();
  const others = {
    scopes: ['payments:write'],
    expiresAt: '2036-01-31T00:00:00.000Z',
    addresses: ['203.0.113.0/24'],
    metadata: { tenant: 7 },
    limits: { rate: { limit: 10, windowSeconds: 60 } },
  };
  const sent = { ...publicKey, kid: 'mine', use: 'sig', alg: 'EdDSA' };
  const answer = await client.send('POST', `${path}/public`, { nickname: 'payroll', publicKey: sent, ...others });
  assert.equal(answer.status, 201, answer.text);
  const { id, ...created } = answer.json as ListedKey;
  const now = instantOf(client.app);
  assert.deepEqual(created, { nickname: 'payroll', createdAt: now, updatedAt: now });
  assert.equal(answer.headers.get('location'), `${path}/${id}`);

  const details = await client.read(id);
  assert.deepEqual(details.publicKey, publicKey);
  assert.deepEqual([details.hint, details.previous, details.addresses], [null, null, others.addresses]);
  assert.deepEqual(
    [details.scopes, details.expiresAt, details.metadata],
    [others.scopes, others.expiresAt, others.metadata],
  );
  const full = ((await client.send('GET', `${path}?view=full`)).json as { apiKeys: ListedKeyFull[] }).apiKeys[0];
  assert.deepEqual([full?.publicKey, full?.hint], [publicKey, null]);
  assert.deepEqual((await client.send('GET', path)).json, { apiKeys: [{ id, ...created }] });

  const event = await eventOf(client.app, 'api_key.created');
  assert.equal(event['publicKey'], thumbprintOf(JSON.stringify(publicKey)));
});

test('the response of a key with a secret has no public key', async () => {
  await using client = await newClient();
  const { id } = (await client.send('POST', path, { nickname: 'secret' })).json as ListedKey;
  assert.equal((await client.read(id)).publicKey, null);
});

test('a registration with an invalid public key creates no key', { tags: ['asvs:2.2.1'] }, async () => {
  await using client = await newClient();
  const publicKey = newJwk();
  for (const [body, pointer] of [
    [{ nickname: 'a' }, '/publicKey'],
    [{ nickname: 'a', publicKey: null }, '/publicKey'],
    [{ nickname: 'a', publicKey: 'MCowBQYDK2Vw' }, '/publicKey'],
    [{ nickname: 'a', publicKey: [publicKey] }, '/publicKey'],
    [{ nickname: 'a', publicKey: { ...publicKey, d: 'nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A' } }, '/publicKey/d'],
    [{ nickname: 'a', publicKey: { ...publicKey, x: 'AAAA' } }, '/publicKey/x'],
    [{ nickname: 'a', publicKey, sha256: '0'.repeat(64) }, '/sha256'],
    [{ nickname: 'a', publicKey, key: 'krv_mine' }, '/key'],
  ] as const) {
    const answer = await client.send('POST', `${path}/public`, body);
    assert.deepEqual(assertRejected(answer, 'invalid_request'), [pointer], JSON.stringify(body));
    assert.ok(!answer.text.includes('nWGxne'), 'the response does not repeat a private key');
  }
  const duplicate = `{"nickname":"a","publicKey":{"kty":"OKP","kty":"EC","crv":"Ed25519","x":"${publicKey.x}"}}`;
  const headers = { ...bearer(client.user.accessToken), 'content-type': 'application/json' };
  assertRejected(await client.app.call('POST', `${path}/public`, { headers, body: duplicate }), 'malformed_json');
  assertRejected(await client.send('POST', path, { nickname: 'a', publicKey }), 'invalid_request');
  assert.deepEqual((await client.send('GET', path)).json, { apiKeys: [] });
});

test('a key with a public key has no reserved scope', async () => {
  await using client = await newClient();
  const { apiKeys, keyChanges } = client.app.service.services;
  const accountId = client.user.account.id;
  for (const scope of ['keyreeve:verify', 'keyreeve:keys']) {
    const request = { nickname: 'service', scopes: [scope] };
    await assert.rejects(apiKeys.createWithIdentity(operator, accountId, request, { publicKey: newJwk() }), {
      code: 'reserved_scope',
    });
    const { id } = await apiKeys.createWithIdentity(operator, accountId, { nickname: scope }, { publicKey: newJwk() });
    await assert.rejects(keyChanges.change(operator, accountId, id, { scopes: [scope] }), { code: 'reserved_scope' });
  }
});

test('a key with a public key can be renamed, disabled and deleted', async () => {
  await using client = await newClient();
  const publicKey = newP256Jwk();
  const { id } = await client.register(publicKey);
  const changed = await client.send('PATCH', `${path}/${id}`, {
    nickname: 'wages',
    disabled: true,
    addresses: ['10.0.0.1'],
  });
  assert.equal(changed.status, 200, changed.text);
  const { disabledReason, ...details } = changed.json as KeyDetails;
  assert.deepEqual([details.nickname, disabledReason, details.publicKey], ['wages', 'owner', publicKey]);
  assertRejected(await client.send('PATCH', `${path}/${id}`, { publicKey: newJwk() }), 'invalid_request');
  assert.equal((await client.send('DELETE', `${path}/${id}`)).status, 200);
  assertRejected(await client.send('GET', `${path}/${id}`), 'key_not_found');
});

test('a rotation replaces the public key, and the previous one is kept until the end of the overlap', async () => {
  await using client = await newClient();
  const [first, second, third] = [newJwk(), newP256Jwk(), newJwk()];
  const { id, ...created } = await client.register(first);
  const rotate = (body: object) => client.send('POST', `${path}/${id}/rotate`, body);
  const stored = async () => {
    const rows = await client.app.db.all(selectStored);
    return rows.map(({ publicKey }) => (publicKey === null ? null : toPublicKey(publicKey)));
  };
  const answer = await rotate({ publicKey: second, overlapSeconds: 600 });
  assert.equal(answer.status, 200, answer.text);
  const { updatedAt, ...rotated } = answer.json as RotatedPublicKey;
  const { nickname, createdAt } = created;
  assert.deepEqual(rotated, { id, nickname, createdAt, previousExpiresAt: instantOf(client.app, 600) });
  const details = await client.read(id);
  assert.deepEqual([details.publicKey, details.hint, details.updatedAt], [second, null, updatedAt]);
  assert.deepEqual(details.previous, { expiresAt: rotated.previousExpiresAt, lastUsedAt: null });
  assert.deepEqual(await stored(), [second, first]);
  const event = await eventOf(client.app, 'api_key.rotated');
  const publicKeyBefore = thumbprintOf(JSON.stringify(first));
  const expected = { nickname, overlapSeconds: 600, publicKeyBefore, publicKey: thumbprintOf(JSON.stringify(second)) };
  assert.deepEqual(event, expected);

  assertRejected(await rotate({ publicKey: third }), 'overlap_in_progress');
  for (const body of [
    { publicKey: second, endPrevious: true },
    { publicKey: first, endPrevious: true },
    { publicKey: first, endCurrent: true },
  ])
    assert.deepEqual(assertRejected(await rotate(body), 'invalid_request'), ['/publicKey']);
  assert.equal((await rotate({ publicKey: third, endCurrent: true })).status, 200);
  assert.deepEqual(await stored(), [third, first], 'the previous one keeps its overlap');
  const ended = await client.send('DELETE', `${path}/${id}/previous`);
  const message = `The previous public key of API key ${id} has ended.`;
  assert.deepEqual([ended.status, ended.json], [200, { message }]);
  assert.deepEqual(await stored(), [third]);
  assert.equal((await rotate({ publicKey: first, overlapSeconds: 0 })).status, 200);
  assert.deepEqual(await stored(), [first]);
});

test('a rotation must fit the kind of the key, and changes nothing otherwise', async () => {
  await using client = await newClient();
  const publicKey = newJwk();
  const { id } = await client.register(publicKey);
  const { id: secretId } = (await client.send('POST', path, { nickname: 'secret' })).json as ListedKey;
  const before = [await client.read(id), await client.read(secretId)];
  const { d, ...jwk } = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' });
  for (const [at, body, pointer] of [
    [id, {}, '/publicKey'],
    [id, { overlapSeconds: 0 }, '/publicKey'],
    [id, { publicKey: { ...jwk, d } }, '/publicKey/d'],
    [id, { publicKey: null }, '/publicKey'],
    [id, { publicKey }, '/publicKey'],
    [secretId, { publicKey: newJwk() }, '/publicKey'],
  ] as const) {
    const answer = await client.send('POST', `${path}/${at}/rotate`, body);
    assert.deepEqual(assertRejected(answer, 'invalid_request'), [pointer], JSON.stringify(body));
  }
  assertRejected(await client.send('POST', `${path}/7/rotate`, { publicKey: newJwk() }), 'key_not_found');
  assert.deepEqual([await client.read(id), await client.read(secretId)], before);
});

test('the stored hashes of public keys are random, also after a rotation to an earlier public key', async () => {
  await using client = await newClient();
  const [first, second] = [newJwk(), newJwk()];
  const { id } = await client.register(first);
  await client.register(first, { nickname: 'the same public key' });
  const rotate = (body: object) => client.send('POST', `${path}/${id}/rotate`, body);
  assert.equal((await rotate({ publicKey: second, overlapSeconds: 60 })).status, 200);
  client.app.clock.advance({ seconds: 60 });
  assert.equal((await rotate({ publicKey: first })).status, 200, 'the overlap has ended');
  const rows = await client.app.db.all(selectStored);
  assert.equal(rows.length, 3);
  assert.equal(new Set(rows.map(({ lookup }) => lookup)).size, 3);
  for (const { hash } of rows) assert.deepEqual([hash.length, hash[0]], [33, 1]);
});
