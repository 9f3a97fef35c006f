/** Who may read and change a key, and how often. */
import assert from 'node:assert/strict';
import type { CreatedKey, ErrorCode } from '@keyreeve/contract';
import { basic, bearer, goodPassword, newApp, operator } from '../../../../test-kit/new-app.ts';
import { listAuditEvents } from '../../../../test-kit/audit-log.ts';
import { assertRejected, newKeyClient, type KeyClient } from '../../../../test-kit/key-client.ts';
import { test } from '../../../../test-kit/app-on-each-database.ts';

/** Requests to the paths below a key. */
const requests: readonly (readonly [method: string, path: string, json?: unknown])[] = [
  ['GET', ''],
  ['PATCH', '', { disabled: true }],
  ['POST', '/rotate', { overlapSeconds: 0 }],
  ['DELETE', '/previous'],
];

/** Sends every request with these headers. Each must be rejected with the code. */
async function assertAllRejected(
  { app, id }: Pick<KeyClient, 'app'> & { readonly id: number | string },
  headers: Readonly<Record<string, string>>,
  code: ErrorCode,
  what: string,
): Promise<void> {
  for (const [method, path, json] of requests) {
    const options = json === undefined ? { headers } : { headers, json };
    const answer = await app.call(method, `/auth/api-keys/${id}${path}`, options);
    assertRejected(answer, code, `${what}: ${method} ${path}`);
    assert.ok(!answer.text.includes('worker'));
  }
}

test(
  'another account’s key is 401, and an unknown or deleted key 404',
  { tags: ['asvs:8.2.2', 'asvs:8.3.1'] },
  async () => {
    await using client = await newKeyClient();
    const other = bearer((await client.app.signIn()).accessToken);
    const own = bearer(client.user.accessToken);
    const events = await listAuditEvents(client.app.db);
    await assertAllRejected(client, other, 'not_key_owner', 'another account');
    for (const id of ['1', '0', '-1', '1.0', 'abc', '9007199254740992', `0${client.id}`, `${client.id}%20`])
      await assertAllRejected({ app: client.app, id }, own, 'key_not_found', id);
    assert.deepEqual(await listAuditEvents(client.app.db), events);
    assert.equal(await client.statusOf(client.key), 200);
    await client.send('DELETE');
    await assertAllRejected(client, own, 'key_not_found', 'a deleted key');
    await assertAllRejected(client, other, 'key_not_found', 'a deleted key of another account');
  },
);

test('only valid access tokens of active accounts change keys', { tags: ['asvs:7.2.2', 'asvs:8.3.1'] }, async () => {
  await using client = await newKeyClient();
  const { app, key, user } = client;
  const { account, accessToken, refreshToken } = user;
  const credentials: Readonly<Record<string, readonly [headers: Readonly<Record<string, string>>, code: ErrorCode]>> = {
    nothing: [{}, 'missing_access_token'],
    'the key itself': [bearer(key), 'invalid_access_token'],
    'the key as X-API-Key': [{ 'x-api-key': key }, 'invalid_access_token'],
    'a service’s key': [bearer(await app.serviceKey()), 'invalid_access_token'],
    'a refresh token': [bearer(refreshToken), 'invalid_access_token'],
    'email and password': [basic(account.email, goodPassword), 'invalid_access_token'],
    'an access token beside the key': [{ ...bearer(accessToken), 'x-api-key': key }, 'ambiguous_credentials'],
  };
  for (const [what, [headers, code]] of Object.entries(credentials))
    await assertAllRejected(client, headers, code, what);
  const before = await client.read();
  await app.service.services.accounts.disable(operator, account.id);
  await assertAllRejected(client, bearer(accessToken), 'invalid_access_token', 'a disabled account');
  await app.service.services.accounts.enable(operator, account.id);
  await client.advance(1);
  assert.deepEqual(await client.read(), before);
});

test(
  'at most three hundred changes and rotations a minute apply per account, and the key can be disabled all the same',
  { tags: ['asvs:2.3.2'] },
  async () => {
    await using client = await newKeyClient();
    const { app } = client;
    const { keyChanges } = app.service.services;
    const { account, accessToken } = client.user;
    const [, claims = ''] = accessToken.split('.');
    const { sid: sessionId } = JSON.parse(Buffer.from(claims, 'base64url').toString()) as { sid: string };
    const principal = { kind: 'account', accountId: account.id, sessionId } as const;
    for (let count = 0; count < 298; count++)
      await keyChanges.change(principal, account.id, client.id, { metadata: { count } });
    // What changes nothing or is rejected does not count.
    await client.change({ metadata: { count: 297 } });
    assertRejected(await client.send('DELETE', '/previous'), 'no_previous_secret');
    const { key } = await client.rotate();
    await client.change({ nickname: 'the last' });
    // What stops a thief of the access token is not limited.
    assert.equal((await client.send('DELETE', '/previous')).status, 200);
    await client.change({ disabled: true });

    const before = await client.read();
    for (const [method, path, json] of [
      ['PATCH', '', { disabled: false }],
      ['PATCH', '', { disabled: true, nickname: 'more' }],
      ['POST', '/rotate'],
    ] as const) {
      const answer = await client.send(method, path, json);
      assertRejected(answer, 'too_many_changes', path);
      const rate = ['retry-after', 'ratelimit-policy', 'ratelimit'].map((name) => answer.headers.get(name));
      assert.deepEqual(rate, ['60', '"changes";q=300;w=60', '"changes";r=0;t=60']);
    }
    assert.deepEqual(await client.read(), before);
    // Another account, an operator and a deletion are not limited.
    const headers = bearer((await app.signIn()).accessToken);
    const { json } = await app.call('POST', '/auth/api-keys', { headers, json: { nickname: 'a' } });
    const other = await app.call('POST', `/auth/api-keys/${(json as CreatedKey).id}/rotate`, { headers });
    assert.equal(other.status, 200, other.text);
    await keyChanges.change(operator, account.id, client.id, { addresses: ['192.0.2.1'] });
    await client.advance(60);
    await client.change({ disabled: false, addresses: null });
    assert.equal(await client.statusOf(key), 200);
    assert.equal((await client.send('DELETE')).status, 200);
  },
);

test('a rotation counts as a creation of a key', { tags: ['asvs:2.3.2'] }, async () => {
  await using client = await newKeyClient({ environment: { KEYREEVE_CREATIONS_PER_MINUTE_MAX: '3' } });
  await client.rotate({ overlapSeconds: 0 });
  const { key } = await client.rotate({ overlapSeconds: 0 });
  assertRejected(await client.send('POST', '/rotate', { overlapSeconds: 0 }), 'too_many_creations');
  assert.equal(await client.statusOf(key), 200);
  await client.change({ nickname: 'not a creation' });
});

test('rotations add no keys to the account', async () => {
  await using client = await newKeyClient({ environment: { KEYREEVE_KEYS_PER_ACCOUNT_MAX: '1' } });
  await client.rotate();
  const headers = bearer(client.user.accessToken);
  const more = () => client.app.call('POST', '/auth/api-keys', { headers, json: { nickname: 'more' } });
  assertRejected(await more(), 'key_limit_reached');
  await client.send('DELETE');
  assert.equal((await more()).status, 201);
});

test('with KEYREEVE_THROTTLE=off, changes are not limited', async () => {
  await using app = await newApp({ environment: { KEYREEVE_THROTTLE: 'off', KEYREEVE_CREATIONS_PER_MINUTE_MAX: '1' } });
  const headers = bearer((await app.signIn()).accessToken);
  const { json } = await app.call('POST', '/auth/api-keys', { headers, json: { nickname: 'a' } });
  for (let count = 0; count < 3; count++) {
    const path = `/auth/api-keys/${(json as CreatedKey).id}/rotate`;
    assert.equal((await app.call('POST', path, { headers, json: { endPrevious: true } })).status, 200);
  }
});
