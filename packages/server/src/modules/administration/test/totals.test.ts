/** Totals of the lists of administrators: exact up to a bound, with a bounded number of reads, and only for the first page. */
import assert from 'node:assert/strict';
import { limits, type AccountPage, type AuditPage, type ListTotal, type OwnedKeyPage } from '@keyreeve/contract';
import { sql } from '../../../foundation/database/sql.ts';
import { administer, newAdministrator, problemCode } from '../../../../test-kit/administrators.ts';
import { testOnBoth } from '../../../../test-kit/app-on-each-database.ts';
import { insertAccounts, insertEvents, insertKeys, type ManyEvent } from '../../../../test-kit/many-rows.ts';
import { newApp } from '../../../../test-kit/new-app.ts';

type Page = Partial<AccountPage & AuditPage & OwnedKeyPage> & { nextCursor: string | null };

async function fixture(events: (now: number) => readonly ManyEvent[] = () => []) {
  const app = await newApp();
  // Before the administrator signs in, so that ids and times have the same order.
  await insertEvents(app.db, events(app.clock.now()));
  const administrator = await newAdministrator(app, 'root@example.org');
  const get = (path: string) => administer(app, administrator, 'GET', path);
  const page = async (path: string): Promise<Page> => {
    const { status, json, text } = await get(path);
    assert.equal(status, 200, text);
    return json as Page;
  };
  const total = async (path: string): Promise<ListTotal | undefined> =>
    (await page(`${path}${path.includes('?') ? '&' : '?'}limit=1&total=true`)).total;
  return { app, get, page, total, [Symbol.asyncDispose]: () => app[Symbol.asyncDispose]() };
}

const numbers = (count: number): number[] => Array.from({ length: count }, (_, number) => number);
const exactly = (count: number): ListTotal => ({ count, isExact: true });
const atLeast = (count: number): ListTotal => ({ count, isExact: false });
const max = limits.countedEntriesMax;

testOnBoth('a total counts the entries of all pages that the filters select, only on request', async () => {
  await using at = await fixture();
  const { app, total } = at;
  const now = app.clock.now();
  const accounts = numbers(700).map((number) => ({ id: `acc_many${number}`, email: `many${number}@example.com` }));
  await insertAccounts(app.db, accounts, now);
  const keys = numbers(700).map((number) => ({
    id: number + 1,
    nickname: number % 7 === 0 ? `seventh ${number}` : `key ${number}`,
    createdAt: now,
    scopes: number % 2 === 0 ? 'even' : '',
    hint: number < 3 ? `krv_…x7Q${number}` : null,
    lastUsedAt: number < 5 ? now + 9 : null,
  }));
  await insertKeys(app.db, 'acc_many1', keys);
  await insertKeys(app.db, 'acc_many2', [{ id: 5_000, nickname: 'other', createdAt: now }]);
  const at9 = new Date(now + 9).toISOString();
  for (const [path, expected] of [
    ['accounts', 701],
    ['accounts?query=MANY69', 11],
    ['accounts?query=acc_many1', 1],
    ['accounts?query=acc_unknown', 0],
    ['accounts?role=admin', 1],
    ['accounts?kind=service', 0],
    ['accounts?state=enabled', 701],
    ['accounts?state=disabled', 0],
    ['accounts?creatorId=acc_many1', 0],
    ['api-keys', 701],
    ['api-keys?nickname=seventh', 100],
    ['api-keys?nickname=seventh&scope=even', 50],
    ['api-keys?owner=acc_many1', 700],
    ['api-keys?owner=acc_many1&scope=even', 350],
    ['api-keys?hint=x7Q1', 1],
    ['api-keys?id=5000', 1],
    ['api-keys?id=5001', 0],
    [`api-keys?unusedSince=${at9}`, 696],
  ] as const)
    assert.deepEqual(await total(path), exactly(expected), path);
  const events = (await at.page('audit')).events?.length;
  assert.deepEqual(await total('audit'), exactly(events ?? -1));
  for (const path of ['accounts', 'api-keys', 'audit']) {
    assert.equal('total' in (await at.page(path)), false, path);
    const { nextCursor } = await at.page(`${path}?limit=1`);
    const later = await at.get(`${path}?total=true&cursor=${nextCursor}`);
    assert.equal(problemCode(later), 'invalid_request', path);
  }
  assert.equal(problemCode(await at.get('audit?after=1&total=true')), 'invalid_request');
  assert.equal(problemCode(await at.get('accounts?total=yes')), 'invalid_request');
});

const countEvents = sql<{ count: number }>('test_count_events', 'select count(*) as count from audit_events');

testOnBoth('a total stops at its bound, and then states that there are more', async () => {
  const hour = 3_600_000;
  const old = max - 20;
  await using at = await fixture((now) =>
    numbers(old).map((number) => ({
      at: now - (old - number) * hour,
      action: 'scope.set',
      accountId: number % 4 === 0 ? 'acc_x' : null,
      target: number === 0 ? 'oldest' : 'later',
    })),
  );
  const { app, total } = at;
  const now = app.clock.now();
  const existing = (await app.db.get(countEvents))?.count ?? max;
  await insertEvents(
    app.db,
    numbers(max - existing).map(() => ({ at: now })),
  );
  assert.deepEqual(await total('audit'), exactly(max));
  // Only the first event, of the signing key, is before it.
  assert.deepEqual(await total('audit?target=oldest'), exactly(1));
  const ago = (hours: number): string => new Date(now - hours * hour).toISOString();
  assert.deepEqual(await total(`audit?action=scope.set&from=${ago(30)}&to=${ago(20)}`), exactly(10));
  assert.deepEqual(await total(`audit?from=${ago(old)}&to=${ago(old - 10)}`), exactly(10));
  await insertEvents(app.db, [{ at: now, target: 'newest' }]);
  assert.deepEqual(await total('audit'), atLeast(max));
  assert.deepEqual(await total('audit?target=newest'), atLeast(1), 'it is unknown whether the last event matches');
  assert.deepEqual(await total(`audit?target=newest&from=${ago(1)}`), exactly(1), 'earlier events cannot match');
  assert.deepEqual(await total('audit?account=acc_x'), exactly(old / 4));
});

testOnBoth('filters of administrators accept the email address of an existing account in place of its id', async () => {
  await using at = await fixture();
  const { app } = at;
  const ada = await app.signIn('Ada@example.com');
  const now = app.clock.now();
  await insertKeys(app.db, ada.account.id, [{ id: 7, nickname: 'held', createdAt: now }]);
  await insertEvents(app.db, [
    { at: now, actor: `account:${ada.account.id}`, accountId: ada.account.id, target: 'by' },
    { at: now, actor: 'key:4711', accountId: ada.account.id, target: ada.account.id },
  ]);
  const email = encodeURIComponent('ADA@Example.com');
  const owned = (await at.page(`api-keys?owner=${email}`)).apiKeys;
  assert.deepEqual(
    owned?.map(({ id }) => id),
    [7],
  );
  for (const name of ['account', 'actor', 'target'] as const) {
    const value = name === 'actor' ? `account:${ada.account.id}` : ada.account.id;
    const byId = await at.page(`audit?${name}=${value}`);
    assert.ok((byId.events?.length ?? 0) > 0, name);
    assert.deepEqual(await at.page(`audit?${name}=${email}`), byId, name);
    const none = { events: [], nextCursor: null };
    assert.deepEqual(await at.page(`audit?${name}=nobody%40example.com`), none, name);
    const exported = await at.get(`audit/export?format=jsonl&${name}=${email}`);
    assert.equal(exported.text.trimEnd().split('\n').length, byId.events?.length, name);
  }
  assert.deepEqual(await at.page('api-keys?owner=nobody%40example.com'), { apiKeys: [], nextCursor: null });
  for (const path of ['api-keys?owner=ada', 'audit?account=ada', 'audit?account=a%00%40b', 'audit?actor=Ada'])
    assert.equal(problemCode(await at.get(path)), 'invalid_request', path);
});

testOnBoth('accounts are looked up by their ids together, at most 50, and deleted ones are missing', async () => {
  await using at = await fixture();
  const { app } = at;
  const accounts = numbers(limits.accountIdsMax).map((number) => ({
    id: `acc_${String(number).padStart(22, '0')}`,
    email: `many${String(number).padStart(2, '0')}@example.com`,
  }));
  await insertAccounts(app.db, accounts, app.clock.now());
  const ids = accounts.map(({ id }) => id);
  const found = await at.page(`accounts?ids=${ids.toReversed().join(',')}`);
  assert.deepEqual(
    found.accounts?.map(({ id, email }) => ({ id, email })),
    accounts,
  );
  assert.equal(found.nextCursor, null);
  await app.service.services.accounts.delete({ kind: 'operator' }, accounts[1]?.id ?? '');
  const three = (await at.page(`accounts?ids=${ids.slice(0, 3).join(',')},acc_unknown`)).accounts;
  assert.deepEqual(
    three?.map(({ id }) => id),
    [ids[0], ids[2]],
  );
  for (const query of [
    `ids=${ids.join(',')},acc_x`,
    'ids=',
    'ids=ada@example.com',
    `ids=${ids[0]}&role=user`,
    `ids=${ids[0]}&limit=1`,
    `ids=${ids[0]}&total=true`,
  ])
    assert.equal(problemCode(await at.get(`accounts?${query}`)), 'invalid_request', query);
});
