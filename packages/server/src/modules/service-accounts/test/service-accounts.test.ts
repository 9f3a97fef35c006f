/** Service accounts: who creates, reads, changes and deletes them, their bounds and their audit events. */
import assert from 'node:assert/strict';
import { lookupOf } from '../../../foundation/crypto/keyed-hash.ts';
import { limits } from '@keyreeve/contract';
import { listAuditEvents } from '../../../../test-kit/audit-log.ts';
import { FakeClock } from '../../../../test-kit/fake-clock.ts';
import { planOf } from '../../../../test-kit/plan-of.ts';
import { addAccount, addKey, addSession, now, operator } from '../../../../test-kit/rows.ts';
import { codeOf, onEachDatabase, outcomes, race, rivalsMin } from '../../../../test-kit/store-on-each-database.ts';
import type { Services } from '../../../app/wiring/wire.ts';
import { wireOn } from '../../../../test-kit/wire-on.ts';
import type { Db, Transaction } from '../../../foundation/database/db.ts';
import { sql } from '../../../foundation/database/sql.ts';
import { manageScope } from '../acting-store.ts';
import { countManagedBy } from '../store.ts';
import { disableAccount } from '../../../../test-kit/store-changes.ts';

const setUnverified = sql('test_set_unverified', `update accounts set unverified_since = 1 where id = $1`);
const insertMany = sql(
  'test_insert_service_accounts',
  `insert into service_accounts (account_pk, name, creator_pk, created_at, updated_at)
   select s.pk, s.id, c.pk, s.created_at, s.created_at from accounts s, accounts c where s.id like 'acc_many%' and c.id = $1`,
);

const clock = new FakeClock();
const start = clock.now();
const servicesOf = (db: Db): Services => wireOn(db, { clock });
const account = (id: string) => ({ kind: 'account', accountId: id, sessionId: `ses_${id}` }) as const;

async function fixture(db: Db) {
  const [ada, eve] = [await addAccount(db), await addAccount(db, 'eve')];
  for (const id of [ada, eve]) await addSession(db, id, id);
  const { id: keyId, hash } = await addKey(db, ada, 'backend', { scopes: [manageScope] });
  const key = { kind: 'key', keyId, accountId: ada, lookup: lookupOf(hash), addresses: null } as const;
  return { ada, eve, key, services: servicesOf(db), accounts: servicesOf(db).serviceAccounts };
}

const outcome = (done: Promise<unknown>): Promise<unknown> => done.then(() => 'done', codeOf);

onEachDatabase('a service account is created, read, changed and deleted by its manager only', async ({ db }) => {
  const { ada, eve, services, accounts } = await fixture(db);
  const created = await accounts.create(account(ada), ada, { name: 'Billing', externalId: 'tenant 7' });
  const { id } = created;
  assert.deepEqual(created, {
    id,
    name: 'Billing',
    externalId: 'tenant 7',
    creatorId: ada,
    createdAt: start,
    updatedAt: start,
  });
  assert.match(id, /^acc_/);
  assert.deepEqual({ ...(await accounts.find(account(ada), id)) }, created);
  const attempts = {
    find: () => accounts.find(account(eve), id),
    change: () => accounts.change(account(eve), id, { name: 'mine' }),
    delete: () => accounts.delete(account(eve), id),
    managers: () => services.managers.list(account(eve), id),
    add: () => services.managers.add(account(eve), id, eve),
    remove: () => services.managers.remove(account(eve), id, ada),
  };
  for (const [what, attempt] of Object.entries(attempts))
    await assert.rejects(attempt, { code: 'account_not_found', message: /^You manage no / }, what);
  // A person is no service account, even to itself and to an operator.
  for (const principal of [account(ada), operator])
    assert.equal(await outcome(accounts.find(principal, ada)), 'account_not_found');
  assert.equal(await outcome(accounts.delete(account(ada), ada)), 'account_not_found');
  for (const bad of ['', '\0', 'acc_\0', 'acc_unknown', 'x'.repeat(5_000)])
    assert.equal(await outcome(accounts.find(account(ada), bad)), 'account_not_found');

  const changed = await accounts.change(account(ada), id, { name: 'Invoices', externalId: null });
  assert.deepEqual(changed, { ...created, name: 'Invoices', externalId: null, updatedAt: start + 1 });
  assert.deepEqual({ ...(await accounts.change(account(ada), id, { name: 'Invoices' })) }, { ...changed });
  const key = await services.apiKeys.create(operator, id, { nickname: 'laptop' });
  await accounts.delete(account(ada), id);
  assert.equal(await outcome(accounts.find(account(ada), id)), 'account_not_found');
  assert.deepEqual(await services.verifier.verify(key.secret.reveal()), { valid: false, code: 'not_found' });
  const events = (await listAuditEvents(db)).filter(({ accountId }) => accountId === id);
  assert.deepEqual(
    events.map(({ at, actor, action, target, details }) => [at, actor, action, target, details]),
    [
      [
        start,
        'account:acc_ada',
        'service_account.created',
        id,
        '{"name":"Billing","externalId":"tenant 7","manager":"acc_ada"}',
      ],
      [start + 1, 'account:acc_ada', 'service_account.updated', id, '{"name":"Invoices","externalId":null}'],
      [start, 'operator', 'api_key.created', String(key.id), '{"nickname":"laptop","scopes":[]}'],
      [start, 'account:acc_ada', 'account.deleted', id, null],
    ],
  );
});

onEachDatabase(
  'a management key manages the service accounts of its account, and its events name the key',
  async ({ db }) => {
    const { ada, key, accounts, services } = await fixture(db);
    const { id } = await accounts.create(key, ada, { name: 'tenant', externalId: '7' });
    assert.equal((await accounts.change(key, id, { externalId: '8' })).externalId, '8');
    assert.equal((await accounts.find(account(ada), id)).externalId, '8');
    assert.equal(await outcome(accounts.find(key, ada)), 'account_not_found');
    await services.apiKeys.delete(operator, ada, key.keyId);
    assert.equal(await outcome(accounts.create(key, ada, { name: 'more' })), 'invalid_management_key');
    assert.equal(await outcome(accounts.change(key, id, { name: 'more' })), 'invalid_management_key');
    assert.equal(await outcome(accounts.delete(key, id)), 'invalid_management_key');
    const actors = (await listAuditEvents(db)).filter(({ accountId }) => accountId === id).map(({ actor }) => actor);
    assert.deepEqual(actors, [`key:${key.keyId}`, `key:${key.keyId}`]);
  },
);

onEachDatabase('names and external ids are unique among the service accounts of one creator', async ({ db }) => {
  const { ada, eve, accounts } = await fixture(db);
  const { id } = await accounts.create(account(ada), ada, { name: 'one', externalId: '1' });
  await accounts.create(account(ada), ada, { name: 'two', externalId: '2' });
  const refused = {
    external_id_taken: { name: 'one', externalId: '1' },
    name_taken: { name: 'one', externalId: '3' },
  };
  for (const [code, request] of Object.entries(refused)) {
    assert.equal(await outcome(accounts.create(account(ada), ada, request)), code);
    await accounts.create(account(eve), eve, { ...request, name: code });
  }
  assert.equal(await outcome(accounts.change(account(ada), id, { name: 'two' })), 'name_taken');
  assert.equal(await outcome(accounts.change(account(ada), id, { externalId: '2' })), 'external_id_taken');
  // NFC, and compared exactly.
  await accounts.create(account(ada), ada, { name: 'Ame\u0301lie', externalId: 'A' });
  assert.equal(await outcome(accounts.create(account(ada), ada, { name: 'Am\u00E9lie' })), 'name_taken');
  await accounts.create(account(ada), ada, { name: 'ONE', externalId: 'a' });
});

onEachDatabase('names of service accounts that differ only by joiners are one name', async ({ db }) => {
  const { ada, accounts } = await fixture(db);
  const [joined, bare] = ['کلید\u200cها', 'کلیدها'];
  const { id } = await accounts.create(account(ada), ada, { name: joined });
  const other = await accounts.create(account(ada), ada, { name: 'other' });
  for (const name of [joined, bare]) {
    assert.equal(await outcome(accounts.create(account(ada), ada, { name })), 'name_taken');
    assert.equal(await outcome(accounts.change(account(ada), other.id, { name })), 'name_taken');
    assert.equal((await accounts.change(account(ada), id, { name })).name, name);
  }
  // Its name has no joiner now.
  assert.equal(await outcome(accounts.create(account(ada), ada, { name: joined })), 'name_taken');
});

onEachDatabase(
  'only the creator changes a service account, and others learn no name and external id',
  async ({ db }) => {
    const { ada, eve, key, accounts, services } = await fixture(db);
    const { id } = await accounts.create(key, ada, { name: 'one', externalId: '1' });
    await accounts.create(key, ada, { name: 'two', externalId: '2' });
    await services.managers.add(account(ada), id, eve);
    const { id: eveKeyId, hash } = await addKey(db, eve, 'other', { scopes: [manageScope] });
    const eveKey = { kind: 'key', keyId: eveKeyId, accountId: eve, lookup: lookupOf(hash), addresses: null } as const;
    const before = (await listAuditEvents(db)).length;
    for (const principal of [account(eve), eveKey])
      for (const change of [
        { name: 'two' },
        { name: 'free' },
        { name: 'one' },
        { name: ' ' },
        { externalId: '2' },
        { externalId: '3' },
        { externalId: '' },
        { externalId: null },
      ])
        assert.equal(await outcome(accounts.change(principal, id, change)), 'creator_required', JSON.stringify(change));
    assert.equal((await listAuditEvents(db)).length, before);
    for (const principal of [account(ada), key, operator])
      await accounts.change(principal, id, { name: `by ${principal.kind}` });
    await services.accounts.delete(operator, ada);
    assert.equal((await accounts.change(account(eve), id, { name: 'two' })).creatorId, null);
    assert.equal((await accounts.change(eveKey, id, { externalId: '2' })).name, 'two');
  },
);

onEachDatabase('an invalid name or external id is rejected, and nothing is stored', async ({ db }) => {
  const { ada, accounts } = await fixture(db);
  const { id } = await accounts.create(account(ada), ada, { name: 'one' });
  const before = (await listAuditEvents(db)).length;
  const names = ['', ' x', 'x\n', 'a\u202Eb', '\uD800', 'x'.repeat(65)];
  for (const name of names)
    for (const attempt of [
      () => accounts.create(account(ada), ada, { name }),
      () => accounts.change(account(ada), id, { name, externalId: 'new' }),
    ])
      await assert.rejects(attempt, { code: 'nickname_invalid', message: /^The name / }, JSON.stringify(name));
  for (const externalId of ['', 'a\u0000', 'a\u007F', 'a\u202E', 'a\u2028', '\uD800', 'x'.repeat(129)])
    for (const attempt of [
      () => accounts.create(account(ada), ada, { name: 'new', externalId }),
      () => accounts.change(account(ada), id, { name: 'new', externalId }),
      () => accounts.page(account(ada), { externalId }),
    ])
      assert.equal(await outcome(attempt()), 'invalid_request', JSON.stringify(externalId));
  assert.equal((await listAuditEvents(db)).length, before);
  const widest = await accounts.create(account(ada), ada, {
    name: 'x'.repeat(64),
    externalId: '\u{1F600}'.repeat(128),
  });
  assert.deepEqual({ ...(await accounts.find(account(ada), widest.id)) }, widest);
});

onEachDatabase('a disabled or unverified account, and an ended session, create and change nothing', async ({ db }) => {
  const { ada, eve, accounts } = await fixture(db);
  const { id } = await accounts.create(account(ada), ada, { name: 'one' });
  await db.transaction((tx) => tx.run(setUnverified, [eve]));
  assert.equal(await outcome(accounts.create(account(eve), eve, { name: 'one' })), 'email_unverified');
  assert.equal(await outcome(accounts.create(operator, eve, { name: 'one' })), 'manager_not_eligible');
  assert.equal(await outcome(accounts.create(operator, 'acc_unknown', { name: 'one' })), 'manager_not_eligible');
  await disableAccount(db, { principal: operator, now }, ada);
  assert.equal(await outcome(accounts.create(account(ada), ada, { name: 'two' })), 'invalid_access_token');
  assert.equal(await outcome(accounts.change(account(ada), id, { name: 'two' })), 'invalid_access_token');
  assert.equal(await outcome(accounts.delete(account(ada), id)), 'invalid_access_token');
  // Its keys stay valid.
  assert.equal((await accounts.find(operator, id)).name, 'one');
});

onEachDatabase('an account with limits cannot create service accounts that do not share them', async ({ db }) => {
  const { ada, key, accounts, services } = await fixture(db);
  await services.administration.setLimits(operator, ada, { quota: { limit: 1, per: 'day' } });
  assert.equal(await outcome(accounts.create(account(ada), ada, { name: 'one' })), 'account_limited');
  await accounts.create(key, ada, { name: 'by the backend' });
  await accounts.create(operator, ada, { name: 'by the operator' });
  await services.administration.setLimits(operator, ada, {});
  await accounts.create(account(ada), ada, { name: 'one' });
});

onEachDatabase('a person creates at most 100 service accounts, and a management key more', async ({ db }) => {
  const { ada, key, accounts } = await fixture(db);
  for (let index = 1; index < limits.serviceAccountsPerPersonMax; index++) await addAccount(db, `many${index}`);
  await db.transaction((tx) => tx.run(insertMany, [ada]));
  const attempt = (name: string): Promise<unknown> => outcome(accounts.create(account(ada), ada, { name }));
  assert.equal(await attempt('last'), 'done');
  assert.equal(await attempt('more'), 'service_account_limit_reached');
  await accounts.create(key, ada, { name: 'more' });
});

onEachDatabase(
  'pages list each managed service account once, also while others are created and deleted',
  async ({ db }) => {
    const { ada, eve, accounts, services } = await fixture(db);
    const ids: string[] = [];
    for (let index = 0; index < 5; index++)
      ids.push((await accounts.create(account(ada), ada, { name: `n${index}`, externalId: `e${index}` })).id);
    await accounts.create(account(eve), eve, { name: 'n0', externalId: 'e0' });
    const first = await accounts.page(account(ada), { limit: '2' });
    assert.ok(first.nextCursor);
    const [kept, deleted] = first.serviceAccounts;
    assert.ok(kept?.externalId && deleted);
    await accounts.delete(account(ada), deleted.id);
    clock.advance({ seconds: 1 });
    const late = (await accounts.create(account(ada), ada, { name: 'late' })).id;
    const seen = [...first.serviceAccounts];
    for (let cursor: string | null = first.nextCursor; cursor !== null;) {
      const page = await accounts.page(account(ada), { limit: '2', cursor });
      seen.push(...page.serviceAccounts);
      cursor = page.nextCursor;
    }
    assert.deepEqual(seen.map(({ id }) => id).toSorted(), [...ids, late].toSorted());
    // All have the same time, so the ids, which are random, decide on the order of the first five.
    const found = await accounts.page(account(ada), { externalId: kept.externalId });
    assert.deepEqual([found.serviceAccounts.map(({ id }) => id), found.nextCursor], [[kept.id], null]);
    assert.deepEqual(
      (await accounts.page(account(ada), { externalId: kept.externalId.toUpperCase() })).serviceAccounts,
      [],
    );
    // A manager who did not create it sees it too.
    await services.managers.add(account(ada), kept.id, eve);
    for (const [manager, request, count] of [
      [ada, {}, 5],
      [ada, { limit: '2' }, 5],
      [ada, { externalId: kept.externalId }, 1],
      [eve, {}, 2],
      // Her own one, but not the one that she manages.
      [eve, { externalId: kept.externalId }, kept.externalId === 'e0' ? 1 : 0],
    ] as const) {
      const { total } = await accounts.page(account(manager), { ...request, total: 'true' });
      assert.deepEqual(total, { count, isExact: true });
    }
    const plans = await Promise.all(
      [undefined, kept.externalId].map((externalId) =>
        planOf(db, (reader) => countManagedBy(reader, { managerId: ada, externalId })),
      ),
    );
    if (db.dialect === 'sqlite')
      for (const [index, name] of ['service_account_managers_manager', 'service_accounts_external_id'].entries())
        assert.match(plans[index] ?? '', new RegExp(`USING (?:COVERING )?INDEX ${name} `));
    const ofLater = accounts.page(account(ada), { cursor: first.nextCursor, total: 'true' });
    assert.equal(await outcome(ofLater), 'invalid_request');
    assert.equal((await accounts.page(account(eve), {})).serviceAccounts.length, 2);
    for (const cursor of ['x', Buffer.from('1').toString('base64url'), Buffer.from('1.acc_\0').toString('base64url')])
      assert.equal(await outcome(accounts.page(account(ada), { cursor })), 'invalid_request');
  },
);

onEachDatabase('an external id finds only what the account of the caller has created', async ({ db }) => {
  const { ada, eve, key, accounts, services } = await fixture(db);
  const find = async (principal: typeof key | ReturnType<typeof account>): Promise<string[]> =>
    (await accounts.page(principal, { externalId: 'tenant 9' })).serviceAccounts.map(({ id }) => id);
  const foreign = await accounts.create(account(eve), eve, { name: 'x', externalId: 'tenant 9' });
  await services.managers.add(account(eve), foreign.id, ada);
  for (const principal of [key, account(ada)]) assert.deepEqual(await find(principal), []);
  const own = await accounts.create(key, ada, { name: 'x', externalId: 'tenant 9' });
  await services.managers.add(account(ada), own.id, eve);
  for (const principal of [key, account(ada)]) assert.deepEqual(await find(principal), [own.id]);
  assert.deepEqual(await find(account(eve)), [foreign.id]);
  const all = (await accounts.page(key, {})).serviceAccounts;
  const creators = new Map(all.map(({ id, creatorId }) => [id, creatorId]));
  assert.deepEqual(
    creators,
    new Map([
      [foreign.id, eve],
      [own.id, ada],
    ]),
  );
});

onEachDatabase('of rivals that create or rename to one name or external id, one succeeds', async (opened) => {
  const { db } = opened;
  const { ada, key, accounts } = await fixture(db);
  const create = await race(opened, rivalsMin, async (on, rival) => {
    await servicesOf(on).serviceAccounts.create(rival % 4 < 2 ? key : account(ada), ada, {
      name: `rival ${rival}`,
      externalId: 'same',
    });
    return 'created';
  });
  assert.deepEqual(outcomes(create), { created: 1, external_id_taken: rivalsMin - 1 });
  const ids: string[] = [];
  for (let index = 0; index < rivalsMin; index++)
    ids.push((await accounts.create(key, ada, { name: `other ${index}` })).id);
  const rename = await race(opened, rivalsMin, async (on, rival) => {
    await servicesOf(on).serviceAccounts.change(rival % 4 < 2 ? key : account(ada), ids[rival] ?? '', { name: 'same' });
    return 'renamed';
  });
  assert.deepEqual(outcomes(rename), { renamed: 1, name_taken: rivalsMin - 1 });
});

onEachDatabase('changes of service accounts and of their keys wait for each other in one order', async (opened) => {
  const { db } = opened;
  const { ada, key, accounts } = await fixture(db);
  const ids: string[] = [];
  // Of random ids, those below the id of the creator: their order differs from `persons first`.
  for (let index = 0; ids.length < 2; index++) {
    const { id } = await accounts.create(key, ada, { name: `n${index}` });
    if (id < ada) ids.push(id);
  }
  // The database repeats a transaction that a deadlock ended.
  const runs = { transactions: 0, attempts: 0 };
  const counting = (on: Db): Db =>
    new Proxy(on, {
      get: (target, name) => {
        if (name === 'transaction')
          return <T>(work: (tx: Transaction) => Promise<T>): Promise<T> => {
            runs.transactions++;
            return target.transaction((tx) => {
              runs.attempts++;
              return work(tx);
            });
          };
        const value: unknown = Reflect.get(target, name, target);
        return typeof value === 'function' ? (value.bind(target) as unknown) : value;
      },
    });
  const settled = await race(opened, rivalsMin * 2, async (on, rival) => {
    const own = servicesOf(counting(on));
    const id = ids[rival % 4 < 2 ? 0 : 1] ?? '';
    if (rival % 2 === 0) await own.apiKeys.create(key, id, { nickname: `rival ${rival}` });
    else await own.serviceAccounts.change(key, id, { name: `rival ${rival}` });
    return 'done';
  });
  assert.deepEqual(outcomes(settled), { done: rivalsMin * 2 });
  assert.equal(runs.attempts, runs.transactions);
});
