/** What administrators read and change of an account's API key. */
import assert from 'node:assert/strict';
import type { ErrorCode, KeyDetails } from '@keyreeve/contract';
import { listAuditEvents } from '../../../../test-kit/audit-log.ts';
import { newPlace } from '../../../../test-kit/new-db.ts';
import { bearer, newApp, type TestApp } from '../../../../test-kit/new-app.ts';
import { administer, newAdministrator, newTarget, problemCode } from '../../../../test-kit/administrators.ts';
import { assertRejected } from '../../../../test-kit/key-client.ts';
import { test } from '../../../../test-kit/app-on-each-database.ts';

const statusOf = async (app: TestApp, key: string): Promise<number> =>
  (await app.call('GET', '/auth/forward', { headers: bearer(key) })).status;

test(
  'an administrator’s change of a key applies immediately on another instance, and only an administrator reverses a disabling',
  { tags: ['asvs:7.4.1'] },
  async () => {
    await using place = await newPlace();
    // All instances have the same issuer.
    const environment = { KEYREEVE_PUBLIC_URL: 'http://auth.localhost' };
    await using app = await newApp({ place, environment });
    await using other = await newApp({ place, environment });
    const administrator = await newAdministrator(app);
    const target = await newTarget(app);
    const path = `accounts/${target.account.id}/api-keys/${target.keyId}`;
    const change = async (json: object): Promise<KeyDetails> => {
      const answer = await administer(app, administrator, 'PATCH', path, json);
      assert.equal(answer.status, 200, answer.text);
      return answer.json as KeyDetails;
    };
    assert.equal((await change({ disabled: true })).disabledReason, 'administrator');
    assert.equal(await statusOf(other, target.key), 401);
    const headers = bearer(target.accessToken);
    const own = await other.call('PATCH', `/auth/api-keys/${target.keyId}`, { headers, json: { disabled: false } });
    assertRejected(own, 'administrator_required');
    const shown = await administer(other, administrator, 'GET', path);
    assert.equal((shown.json as KeyDetails).disabledReason, 'administrator');
    await change({ disabled: false, addresses: ['192.0.2.1'], expiresAt: '2026-12-01T00:00:00Z' });
    assert.equal(await statusOf(other, target.key), 403);
    const cleared = await change({ addresses: null, expiresAt: null });
    assert.deepEqual([cleared.addresses, cleared.expiresAt], [null, null]);
    assert.equal(await statusOf(other, target.key), 200);
    const events = (await listAuditEvents(app.db)).filter(({ action }) => /api_key\.(?!created)/.test(action));
    assert.deepEqual(
      events.map(({ action, actor, accountId }) => [action, actor, accountId]),
      ['disabled', 'updated', 'enabled', 'updated'].map((name) => [
        `api_key.${name}`,
        `account:${administrator.account.id}`,
        target.account.id,
      ]),
    );
    assert.ok(!JSON.stringify(events).includes('192.0.2'), 'IP ranges are not in the audit log');
  },
);

/** Bodies that are rejected, with the pointer of the error. */
const badChanges: Readonly<Record<string, readonly [json: object, pointer: string]>> = {
  scopes: [{ scopes: [] }, '/scopes'],
  'a nickname': [{ nickname: 'a' }, '/nickname'],
  metadata: [{ metadata: {} }, '/metadata'],
  nothing: [{}, ''],
  'host bits': [{ disabled: true, addresses: ['192.0.2.1/24'] }, '/addresses/0'],
  'an expiry in the past': [{ disabled: true, expiresAt: '2020-01-01T00:00:00Z' }, '/expiresAt'],
};

test('an administrator cannot give a key rights, rotate it, or reach it through another account', async () => {
  await using app = await newApp();
  const administrator = await newAdministrator(app);
  const [target, other] = [await newTarget(app), await newTarget(app)];
  const account = `accounts/${target.account.id}/api-keys`;
  for (const [what, [json, pointer]] of Object.entries(badChanges)) {
    const answer = await administer(app, administrator, 'PATCH', `${account}/${target.keyId}`, json);
    assert.deepEqual(assertRejected(answer, 'invalid_request', what), [pointer], what);
  }
  const rotation = await administer(app, administrator, 'POST', `${account}/${target.keyId}/rotate`);
  assert.deepEqual([rotation.status, problemCode(rotation)], [404, 'not_found']);
  const absent: readonly (readonly [path: string, code: ErrorCode])[] = [
    [`${account}/${other.keyId}`, 'key_not_found'],
    [`${account}/4711`, 'key_not_found'],
    [`${account}/abc`, 'key_not_found'],
    [`accounts/acc_unknown/api-keys/${target.keyId}`, 'account_not_found'],
  ];
  for (const [path, code] of absent) {
    assertRejected(await administer(app, administrator, 'GET', path), code, path);
    assertRejected(await administer(app, administrator, 'PATCH', path, { disabled: true }), code, path);
  }
  for (const { key } of [target, other]) assert.equal(await statusOf(app, key), 200);
});

test('the lists of API keys and sessions contain no secrets', async () => {
  await using app = await newApp();
  const administrator = await newAdministrator(app);
  const target = await newTarget(app);
  const path = `accounts/${target.account.id}`;
  const now = new Date(app.clock.now()).toISOString();
  const ofState = { disabledAt: null, disabledReason: null, leakedAt: null, publicKey: null, trust: null };
  const noState = { ...ofState, lastUsedAt: null, environment: null };
  const keys = await administer(app, administrator, 'GET', `${path}/api-keys`);
  assert.deepEqual(keys.json, {
    apiKeys: [
      {
        id: target.keyId,
        nickname: 'held',
        createdAt: now,
        updatedAt: now,
        scopes: [],
        expiresAt: null,
        hint: `krv_…${target.key.slice(-4)}`,
        ...noState,
      },
    ],
  });
  const sessions = await administer(app, administrator, 'GET', `${path}/sessions`);
  const listed = (sessions.json as { sessions: { id: string; current: boolean }[] }).sessions;
  assert.deepEqual(
    listed.map(({ id, current }) => ({ id, current })),
    [{ id: target.sessionId, current: false }],
  );
  const own = await administer(app, administrator, 'GET', `accounts/${administrator.account.id}/sessions`);
  assert.deepEqual(
    (own.json as { sessions: { current: boolean }[] }).sessions.map(({ current }) => current),
    [true],
  );
});
