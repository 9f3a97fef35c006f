/** Administrators list and rotate the signing keys. */
import assert from 'node:assert/strict';
import type { SigningKey } from '@keyreeve/contract';
import { administer, newAdministrator, newAccessToken } from '../../../../test-kit/administrators.ts';
import { test } from '../../../../test-kit/app-on-each-database.ts';
import { assertProblem, fromFetch } from '../../../../test-kit/assert-problem.ts';
import { listAuditEvents } from '../../../../test-kit/audit-log.ts';
import { bearer, newApp, type TestApp } from '../../../../test-kit/new-app.ts';

const rotate = (app: TestApp, accessToken: string, json?: object) =>
  administer(app, { accessToken }, 'POST', 'signing-keys/rotate', json);

async function list(app: TestApp, accessToken: string): Promise<SigningKey[]> {
  const { status, json, text } = await administer(app, { accessToken }, 'GET', 'signing-keys');
  assert.equal(status, 200, text);
  return (json as { signingKeys: SigningKey[] }).signingKeys;
}

async function publishedKids(app: TestApp): Promise<string[]> {
  const { json } = await app.call('GET', '/.well-known/jwks.json');
  return (json as { keys: { kid: string }[] }).keys.map(({ kid }) => kid);
}

test('an administrator rotates the signing keys, and cannot rotate again before the new key signs', async () => {
  await using app = await newApp();
  const { account, accessToken } = await newAdministrator(app);
  const [first, ...others] = await list(app, accessToken);
  assert.ok(first);
  assert.deepEqual([first.alg, first.state, others], ['ES256', 'active', []]);
  const now = app.clock.now();
  const rotated = await rotate(app, accessToken);
  assert.equal(rotated.status, 201, rotated.text);
  const next = rotated.json as SigningKey;
  assert.deepEqual(next, {
    kid: next.kid,
    alg: 'ES256',
    state: 'next',
    createdAt: new Date(now).toISOString(),
    activatesAt: new Date(now + 600_000).toISOString(),
  });
  assert.deepEqual(await list(app, accessToken), [first, next]);
  assertProblem(fromFetch(await rotate(app, accessToken, { immediately: false })), 'signing_key_waiting');
  assert.deepEqual(await list(app, accessToken), [first, next], 'a rejected rotation changes nothing');
  app.clock.advance({ seconds: 600 });
  const later = await newAccessToken(app, account.email);
  assert.deepEqual(await list(app, later), [
    { ...first, state: 'retired' },
    { ...next, state: 'active' },
  ]);
  assert.equal((await rotate(app, later, {})).status, 201);
  const events = (await listAuditEvents(app.db)).filter(({ action }) => action.startsWith('signing_key.'));
  assert.deepEqual(
    events.slice(1).map(({ actor, action }) => [actor, action]),
    Array.from({ length: 2 }, () => [`account:${account.id}`, 'signing_key.created']),
  );
});

test('an immediate rotation by an administrator ends all access tokens and leaves one published key', async () => {
  await using app = await newApp();
  const [administrator, user] = [await newAdministrator(app), await app.signIn()];
  assert.equal((await rotate(app, administrator.accessToken)).status, 201);
  const rotated = await rotate(app, administrator.accessToken, { immediately: true });
  assert.equal(rotated.status, 201, rotated.text);
  const { kid, state, createdAt, activatesAt } = rotated.json as SigningKey;
  assert.deepEqual([state, activatesAt], ['active', createdAt]);
  assert.deepEqual(await publishedKids(app), [kid]);
  const own = await administer(app, administrator, 'GET', 'signing-keys');
  assertProblem(fromFetch(own), 'invalid_access_token');
  const { accessToken } = user;
  assert.equal((await app.call('GET', '/auth/forward', { headers: bearer(accessToken) })).status, 401);
  const fresh = await newAccessToken(app, administrator.account.email);
  assert.deepEqual(await list(app, fresh), [rotated.json]);
});

test('a body that is not a rotation is rejected', async () => {
  await using app = await newApp();
  const { accessToken } = await newAdministrator(app);
  for (const body of [{ immediately: 'yes' }, { immediately: null }, { now: true }, []])
    assertProblem(fromFetch(await rotate(app, accessToken, body)), 'invalid_request', JSON.stringify(body));
  assert.equal((await list(app, accessToken)).length, 1);
});
