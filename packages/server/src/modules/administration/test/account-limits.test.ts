/** Limits of an account: administrators set them, all its keys share them, and its owner reads them. */
import assert from 'node:assert/strict';
import type { AccountDetail, CreatedKey, OwnAccount } from '@keyreeve/contract';
import { administer, newAdministrator, newTarget, type Target } from '../../../../test-kit/administrators.ts';
import { listAuditEvents } from '../../../../test-kit/audit-log.ts';
import { assertRejected } from '../../../../test-kit/key-client.ts';
import { bearer, newApp, type SignedIn, type TestApp } from '../../../../test-kit/new-app.ts';
import { newPlace } from '../../../../test-kit/new-db.ts';
import { operator } from '../../../../test-kit/rows.ts';
import { test, testOnBoth } from '../../../../test-kit/app-on-each-database.ts';
import { whenAvailable, whenDone } from '../../../../test-kit/when-available.ts';

const rate = { limit: 10, windowSeconds: 60 };
const quota = { limit: 3, per: 'ever' } as const;

const statusOf = async (app: TestApp, key: string): Promise<number> =>
  (await app.call('GET', '/auth/forward', { headers: bearer(key) })).status;

async function createKey(app: TestApp, { accessToken }: SignedIn, json: object): Promise<string> {
  const created = await app.call('POST', '/auth/api-keys', { headers: bearer(accessToken), json });
  assert.equal(created.status, 201, created.text);
  return (created.json as CreatedKey).key;
}

/** An account, and an administrator who sets its limits. */
async function newLimits(app: TestApp) {
  const administrator = await newAdministrator(app);
  const target: Target = await newTarget(app);
  const path = `accounts/${target.account.id}`;
  const put = (json: unknown) => administer(app, administrator, 'PUT', `${path}/limits`, json);
  const set = async (json: object): Promise<AccountDetail> => {
    const answer = await whenAvailable(() => put(json));
    assert.equal(answer.status, 200, answer.text);
    return answer.json as AccountDetail;
  };
  const read = async (): Promise<AccountDetail> => {
    const answer = await administer(app, administrator, 'GET', path);
    assert.equal(answer.status, 200, answer.text);
    return answer.json as AccountDetail;
  };
  const own = async (): Promise<Pick<OwnAccount, 'limits' | 'quotaUse'>> => {
    const answer = await app.call('GET', '/auth/account', { headers: bearer(target.accessToken) });
    assert.equal(answer.status, 200, answer.text);
    const { limits, quotaUse } = answer.json as OwnAccount;
    return { limits, quotaUse };
  };
  return { administrator, target, put, set, read, own };
}

testOnBoth('the keys of an account share its quota immediately, on every instance', async () => {
  await using place = await newPlace();
  const environment = { KEYREEVE_PUBLIC_URL: 'http://auth.localhost' };
  await using app = await newApp({ place, environment });
  await using other = await newApp({ place, environment });
  const { target, set, read, own } = await newLimits(app);
  const second = await createKey(app, target, { nickname: 'second', limits: { rate } });
  const unlimited = await newTarget(app);
  for (const at of [app, other]) assert.equal(await statusOf(at, target.key), 200);
  await set({ quota });
  assert.equal(await statusOf(other, target.key), 200);
  assert.equal(await statusOf(app, second), 200);
  assert.equal(await statusOf(app, target.key), 200);
  for (const at of [app, other]) {
    assert.equal(await statusOf(at, target.key), 429);
    assert.equal(await statusOf(at, unlimited.key), 200);
    const session = await at.call('GET', '/auth/forward', { headers: bearer(target.accessToken) });
    assert.equal(session.status, 200, 'access tokens are not limited');
  }
  const third = await createKey(app, target, { nickname: 'third' });
  assert.equal(await statusOf(other, third), 429, 'another key does not add to the quota');
  const shown = { limits: { rate: null, quota }, quotaUse: { used: 3, resetsAt: null } };
  const { limits, quotaUse } = await read();
  assert.deepEqual({ limits, quotaUse }, shown);
  assert.deepEqual(await own(), shown);
  await set({});
  for (const at of [app, other]) assert.equal(await statusOf(at, target.key), 200);
});

test('setting the limits of an account replaces all of them, and what changes nothing is not recorded', async () => {
  await using app = await newApp();
  const { administrator, target, set, read, own } = await newLimits(app);
  const { id } = target.account;
  assert.deepEqual(await own(), { limits: null, quotaUse: null });
  const steps: readonly (readonly [sent: object, shown: object | null])[] = [
    [{}, null],
    [{ rate }, { rate: { ...rate, burst: 10 }, quota: null }],
    [{ quota }, { rate: null, quota }],
    [
      { rate: null, quota },
      { rate: null, quota },
    ],
    [
      { rate: { ...rate, burst: 2 }, quota },
      { rate: { ...rate, burst: 2 }, quota },
    ],
    [{ rate: null, quota: null }, null],
    [{}, null],
  ];
  let before = await read();
  for (const [sent, limits] of steps) {
    const events = await listAuditEvents(app.db);
    app.clock.advance({ seconds: 1 });
    const changed = await set(sent);
    assert.deepEqual(changed.limits, limits, JSON.stringify(sent));
    assert.deepEqual((await own()).limits, limits);
    const [event, ...others] = (await listAuditEvents(app.db)).slice(events.length);
    assert.deepEqual(others, []);
    if (JSON.stringify(before.limits) === JSON.stringify(limits)) {
      assert.deepEqual([event, changed], [undefined, before], 'nothing changed');
    } else {
      const { action, actor, accountId, target: changedId, details } = event ?? {};
      assert.deepEqual(
        [action, actor, accountId, changedId, JSON.parse(details ?? '')],
        ['account.limits_set', `account:${administrator.account.id}`, id, id, { limitsBefore: before.limits, limits }],
      );
      assert.ok(changed.updatedAt > before.updatedAt);
    }
    before = changed;
  }
});

/** With the pointer of the error. */
const badBodies: Readonly<Record<string, readonly [body: unknown, pointer: string]>> = {
  null: [null, ''],
  'an array': [[], ''],
  text: ['none', ''],
  'an unknown member': [{ limits: {} }, '/limits'],
  'a rate of 0': [{ rate: { ...rate, limit: 0 } }, '/rate/limit'],
  'a negative quota': [{ quota: { ...quota, limit: -1 } }, '/quota/limit'],
  'a quota of 2^53': [{ quota: { ...quota, limit: 2 ** 53 } }, '/quota/limit'],
  'a fraction': [{ quota: { ...quota, limit: 1.5 } }, '/quota/limit'],
  'a burst above the limit': [{ quota, rate: { ...rate, burst: 11 } }, '/rate/burst'],
  'a window of 0': [{ rate: { ...rate, windowSeconds: 0 } }, '/rate/windowSeconds'],
  'an unknown period': [{ rate, quota: { ...quota, per: 'year' } }, '/quota/per'],
};

test('invalid limits of an account, and those of an unknown account, change nothing', async () => {
  await using app = await newApp();
  const { administrator, put, set, read } = await newLimits(app);
  await set({ rate, quota });
  const before = [await read(), await listAuditEvents(app.db)];
  for (const [what, [body, pointer]] of Object.entries(badBodies))
    assert.deepEqual(assertRejected(await put(body), 'invalid_request', what), [pointer], what);
  const absent = await administer(app, administrator, 'PUT', 'accounts/acc_unknown/limits', { quota });
  assertRejected(absent, 'account_not_found');
  assert.deepEqual([await read(), await listAuditEvents(app.db)], before);
});

test('an owner reads the limits of the account but cannot change them', async () => {
  await using app = await newApp();
  const { target, set, own } = await newLimits(app);
  await set({ quota });
  const headers = bearer(target.accessToken);
  const path = `/admin/accounts/${target.account.id}/limits`;
  assertRejected(await app.call('PUT', path, { headers, json: {} }), 'administrator_required');
  assert.equal((await app.call('PATCH', '/auth/account', { headers, json: { limits: null } })).status, 405);
  assert.deepEqual(await own(), { limits: { rate: null, quota }, quotaUse: { used: 0, resetsAt: null } });
});

test('an administrator changes the limits of an account’s key', async () => {
  await using app = await newApp();
  const { administrator, target } = await newLimits(app);
  const path = `accounts/${target.account.id}/api-keys/${target.keyId}`;
  const limited = await administer(app, administrator, 'PATCH', path, { limits: { quota: { limit: 1, per: 'ever' } } });
  assert.equal(limited.status, 200, limited.text);
  assert.equal(await statusOf(app, target.key), 200);
  assert.equal(await statusOf(app, target.key), 429);
  const shown = (await administer(app, administrator, 'GET', path)).json as Record<string, unknown>;
  const expected = [
    { rate: null, quota: { limit: 1, per: 'ever' } },
    { used: 1, resetsAt: null },
  ];
  assert.deepEqual([shown['limits'], shown['quotaUse']], expected);
  const bad = { disabled: true, limits: { rate: { ...rate, burst: 11 } } };
  const rejected = await administer(app, administrator, 'PATCH', path, bad);
  assert.deepEqual(assertRejected(rejected, 'invalid_request'), ['/limits/rate/burst']);
  const cleared = await administer(app, administrator, 'PATCH', path, { limits: null });
  assert.deepEqual((cleared.json as { limits: unknown }).limits, null);
  assert.equal(await statusOf(app, target.key), 200);
});

testOnBoth('of concurrent changes of an account’s limits, each is recorded with the limits before it', async () => {
  await using app = await newApp();
  const { set, read } = await newLimits(app);
  await Promise.all(Array.from({ length: 16 }, (_, index) => set({ quota: { limit: index + 1, per: 'day' } })));
  const events = (await listAuditEvents(app.db)).filter(({ action }) => action === 'account.limits_set');
  const changes = events.map(({ details }) => JSON.parse(details ?? '') as Record<'limitsBefore' | 'limits', unknown>);
  assert.equal(changes.length, 16);
  for (const [index, { limitsBefore }] of changes.entries())
    assert.deepEqual(limitsBefore, changes[index - 1]?.limits ?? null);
  assert.deepEqual((await read()).limits, changes.at(-1)?.limits);
});

testOnBoth('concurrent changes of different limits of an account all apply', async () => {
  await using app = await newApp();
  const { target, read } = await newLimits(app);
  const { administration } = app.service.services;
  const change = (_: unknown, index: number): Promise<void> =>
    whenDone(() => administration.changeLimits(operator, target.account.id, index % 2 === 0 ? { rate } : { quota }));
  await Promise.all(Array.from({ length: 16 }, change));
  assert.deepEqual((await read()).limits, { rate: { ...rate, burst: 10 }, quota });
  await administration.changeLimits(operator, target.account.id, { rate: null });
  assert.deepEqual((await read()).limits, { rate: null, quota });
  const events = (await listAuditEvents(app.db)).filter(({ action }) => action === 'account.limits_set');
  assert.equal(events.length, 3, 'the others changed nothing');
});
