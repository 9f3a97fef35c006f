/** Sign-outs and changes of an account that end its sessions immediately. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { Secret } from '../../../foundation/crypto/secret.ts';
import { basic, bearer, goodPassword, newApp, operator, type TestApp } from '../../../../test-kit/new-app.ts';
import { test } from '../../../../test-kit/app-on-each-database.ts';
import { assertRejected, list, refresh, rotated, signInAgain, signOut, token } from './refreshes.ts';

/** Asserts that every route rejects the access token. @param code of its verification */
async function assertRejectedEverywhere(app: TestApp, accessToken: string, code: string): Promise<void> {
  const headers = bearer(accessToken);
  const asService = bearer(await app.serviceKey());
  assertRejected(
    await app.call('POST', '/auth/api-keys', { headers, json: { nickname: 'x' } }),
    'invalid_access_token',
  );
  assertRejected(await app.call('GET', '/auth/api-keys', { headers }), 'invalid_access_token');
  assertRejected(await app.call('DELETE', '/auth/api-keys/1', { headers }), 'invalid_access_token');
  assertRejected(await app.call('GET', '/auth/forward', { headers }), 'invalid_credential');
  const verified = await app.call('POST', '/auth/verify', { headers: asService, json: { credential: accessToken } });
  assert.deepEqual(verified.json, { valid: false, code });
  const introspected = await app.call('POST', '/auth/introspect', {
    headers: { ...asService, 'content-type': 'application/x-www-form-urlencoded' },
    body: `token=${accessToken}`,
  });
  assert.deepEqual(introspected.json, { active: false });
}

test(
  'a sign-out invalidates the access token and leaves other sessions unchanged',
  { tags: ['asvs:7.2.1', 'asvs:7.4.1'] },
  async () => {
    await using app = await newApp();
    const { account, accessToken, refreshToken } = await app.signIn();
    const other = await signInAgain(app, account.email);
    const answer = await signOut(app, refreshToken);
    assert.equal(answer.status, 204);
    assert.equal(answer.text, '');
    await assertRejectedEverywhere(app, accessToken, 'not_found');
    assertRejected(await refresh(app, refreshToken), 'invalid_refresh_token');
    assert.equal((await list(app, other.accessToken)).status, 200);
  },
);

test(
  'a sign-out returns the same response for a current, replaced, revoked or unknown token',
  { tags: ['asvs:10.4.9'] },
  async () => {
    await using app = await newApp();
    const { refreshToken } = await app.signIn();
    const next = await rotated(app, refreshToken);
    const expected = [204, '', 'no-store'];
    for (const text of [refreshToken, refreshToken, next.refreshToken, 'krvr_unknown', token(randomBytes(68))]) {
      const answer = await signOut(app, text);
      assert.deepEqual([answer.status, answer.text, answer.headers.get('cache-control')], expected);
    }
    assertRejected(await list(app, next.accessToken), 'invalid_access_token');
  },
);

test('a new password ends all sessions immediately and replaces the old password', async () => {
  await using app = await newApp();
  const { account, accessToken, refreshToken } = await app.signIn();
  const other = await signInAgain(app, account.email);
  const newPassword = 'another velvet wombat 7';
  await app.service.services.accounts.setPassword(operator, account.id, new Secret(newPassword));
  await assertRejectedEverywhere(app, accessToken, 'not_found');
  assertRejected(await list(app, other.accessToken), 'invalid_access_token');
  assertRejected(await refresh(app, refreshToken), 'invalid_refresh_token');
  const signIn = (password: string) => app.call('POST', '/auth/token', { headers: basic(account.email, password) });
  assert.equal((await signIn(goodPassword)).status, 401);
  assert.equal((await signIn(newPassword)).status, 200);
});

test(
  'disabling an account ends its sessions immediately, and enabling it restores none',
  { tags: ['asvs:7.4.2'] },
  async () => {
    await using app = await newApp();
    const { account, accessToken, refreshToken } = await app.signIn();
    const { accounts } = app.service.services;
    await accounts.disable(operator, account.id);
    await assertRejectedEverywhere(app, accessToken, 'disabled');
    assertRejected(await refresh(app, refreshToken), 'invalid_refresh_token');
    await accounts.enable(operator, account.id);
    await assertRejectedEverywhere(app, accessToken, 'not_found');
    assertRejected(await refresh(app, refreshToken), 'invalid_refresh_token');
    await signInAgain(app, account.email);
  },
);

test('deleting an account ends its sessions immediately', { tags: ['asvs:7.4.2'] }, async () => {
  await using app = await newApp();
  const { account, accessToken, refreshToken } = await app.signIn();
  await app.service.services.accounts.delete(operator, account.id);
  await assertRejectedEverywhere(app, accessToken, 'not_found');
  assertRejected(await refresh(app, refreshToken), 'invalid_refresh_token');
});
