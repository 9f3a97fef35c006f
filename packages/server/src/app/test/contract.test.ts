/** The fixed contract: exact statuses, and exact members of each body. */
import assert from 'node:assert/strict';
import { basic, bearer, goodPassword, newApp } from '../../../test-kit/new-app.ts';
import { testOnBoth } from '../../../test-kit/app-on-each-database.ts';

testOnBoth('the fixed contract holds: sign in, create, list, use and delete a key', async () => {
  await using app = await newApp();
  const account = await app.createAccount('you@example.com');

  const tokens = await app.call('POST', '/auth/token', { headers: basic('you@example.com', goodPassword) });
  assert.equal(tokens.status, 200);
  const { accessToken, refreshToken, ...moreTokens } = tokens.json as Record<string, string>;
  assert.deepEqual(moreTokens, {});
  assert.match(accessToken ?? '', /^eyJ[\w-]+\.[\w-]+\.[\w-]+$/);
  assert.match(refreshToken ?? '', /^krvr_[0-9A-Za-z]{98}$/);
  const headers = bearer(accessToken ?? '');

  const created = await app.call('POST', '/auth/api-keys', { headers, json: { nickname: 'first' } });
  assert.equal(created.status, 201);
  const { id, key, ...moreCreated } = created.json as { id: number; key: string };
  const now = new Date(app.clock.now()).toISOString();
  assert.deepEqual(moreCreated, { nickname: 'first', createdAt: now, updatedAt: now });
  assert.ok(Number.isSafeInteger(id) && id > 0);
  assert.match(key, /^krv_[0-9A-Za-z]{49}$/);
  assert.equal(created.headers.get('location'), `/auth/api-keys/${id}`);
  assert.equal(created.headers.get('cache-control'), 'no-store');

  const listed = await app.call('GET', '/auth/api-keys', { headers });
  assert.equal(listed.status, 200);
  assert.deepEqual(listed.json, { apiKeys: [{ id, nickname: 'first', createdAt: now, updatedAt: now }] });

  const used = await app.call('GET', '/auth/forward', { headers: bearer(key) });
  assert.equal(used.status, 200);
  assert.equal(used.text, '');
  assert.equal(used.headers.get('x-keyreeve-account'), account.id);
  assert.equal(used.headers.get('x-keyreeve-credential'), 'api_key');
  assert.equal(used.headers.get('x-keyreeve-key-id'), String(id));
  assert.equal(used.headers.get('x-keyreeve-nickname'), 'first');
  assert.equal(used.headers.get('x-keyreeve-scopes'), '');

  const deleted = await app.call('DELETE', `/auth/api-keys/${id}`, { headers });
  assert.equal(deleted.status, 200);
  assert.deepEqual(Object.keys(deleted.json as object), ['message']);
  assert.equal((await app.call('GET', '/auth/forward', { headers: bearer(key) })).status, 401);
  assert.equal((await app.call('DELETE', `/auth/api-keys/${id}`, { headers })).status, 404);
});
