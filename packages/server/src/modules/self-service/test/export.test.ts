/** The export of an account's own data: everything of the account, no secret, bounded. */
import assert from 'node:assert/strict';
import type { AccountExport, CreatedKey } from '@keyreeve/contract';
import { test } from '../../../../test-kit/app-on-each-database.ts';
import { assertProblem, fromFetch } from '../../../../test-kit/assert-problem.ts';
import { insertEvents, insertKeys } from '../../../../test-kit/many-rows.ts';
import { bearer, newApp } from '../../../../test-kit/new-app.ts';
import { addPasskey } from '../../../../test-kit/passkeys.ts';

const path = '/auth/account/export';

test('an export has account, sessions, passkeys, service accounts, keys and activity, and no secret', async () => {
  await using app = await newApp();
  const { account, accessToken, refreshToken } = await app.signIn();
  const other = await app.signIn();
  const headers = bearer(accessToken);
  const key = (await app.call('POST', '/auth/api-keys', { headers, json: { nickname: 'k' } })).json as CreatedKey;
  await app.call('POST', '/auth/api-keys', { headers: bearer(other.accessToken), json: { nickname: 'of other' } });
  await app.call('POST', '/auth/service-accounts', { headers, json: { name: 'nightly' } });
  const { status, json, text, headers: received } = await app.call('GET', path, { headers });
  assert.equal(status, 200, text);
  const exported = json as AccountExport;
  assert.deepEqual(
    [exported.account.email, exported.sessions.map(({ current }) => current), exported.isActivityComplete],
    [account.email, [true], true],
  );
  assert.deepEqual(
    [exported.serviceAccounts.map(({ name }) => name), exported.apiKeys.map(({ nickname }) => nickname)],
    [['nightly'], ['k']],
  );
  assert.deepEqual(
    exported.activity.map(({ action }) => action),
    ['api_key.created', 'session.created', 'account.created'],
  );
  assert.equal(received.get('content-disposition'), 'attachment; filename="account.json"');
  for (const secret of [key.key, accessToken, refreshToken, 'of other', other.account.id])
    assert.ok(!text.includes(secret));
});

test('an export lists the passkeys of the account alone, without recovery codes', async () => {
  await using app = await newApp();
  const user = await app.signIn();
  const { passkey, recoveryCodes } = await addPasskey(app, user);
  const other = await app.signIn();
  await addPasskey(app, other);
  const { json, text } = await app.call('GET', path, { headers: bearer(user.accessToken) });
  const exported = json as AccountExport;
  assert.deepEqual(exported.passkeys, [passkey]);
  for (const code of recoveryCodes) assert.ok(!text.includes(code));
});

test('an export of 10,000 keys and 20,000 events contains each of them once', async () => {
  await using app = await newApp();
  const { account, accessToken } = await app.signIn();
  const now = app.clock.now();
  const keys = Array.from({ length: 10_000 }, (_, n) => ({ id: n + 1, nickname: `k${n}`, createdAt: now - (n % 7) }));
  await insertKeys(app.db, account.id, keys);
  const events = Array.from({ length: 20_000 }, (_, n) => ({ at: now, accountId: account.id, target: `t${n}` }));
  await insertEvents(app.db, events);
  const exported = (await app.call('GET', path, { headers: bearer(accessToken) })).json as AccountExport;
  assert.equal(new Set(exported.apiKeys.map(({ id }) => id)).size, 10_000);
  assert.equal(exported.apiKeys.length, 10_000);
  assert.equal(new Set(exported.activity.map(({ target }) => target)).size, 20_000 + 2);
  assert.equal(exported.activity.length, 20_000 + 2);
});

test('an account exports its data six times an hour', async () => {
  await using app = await newApp({ environment: { KEYREEVE_THROTTLE: 'on' } });
  const headers = bearer((await app.signIn()).accessToken);
  for (let n = 0; n < 6; n++) assert.equal((await app.call('GET', path, { headers })).status, 200);
  assertProblem(fromFetch(await app.call('GET', path, { headers })), 'too_many_requests');
  assertProblem(fromFetch(await app.call('GET', path)), 'missing_access_token');
});
