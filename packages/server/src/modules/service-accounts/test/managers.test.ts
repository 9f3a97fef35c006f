/** The managers of service accounts: their number, the last one, removals, and races between them. */
import assert from 'node:assert/strict';
import { lookupOf } from '../../../foundation/crypto/keyed-hash.ts';
import { limits } from '@keyreeve/contract';
import { listAuditEvents } from '../../../../test-kit/audit-log.ts';
import { behind, Line } from '../../../../test-kit/broken-connection.ts';
import { FakeClock } from '../../../../test-kit/fake-clock.ts';
import { addAccount, addKey, addSession, now, operator } from '../../../../test-kit/rows.ts';
import { codeOf, onEachDatabase, outcomes, race, rivalsMin } from '../../../../test-kit/store-on-each-database.ts';
import { until } from '../../../../test-kit/until.ts';
import type { Services } from '../../../app/wiring/wire.ts';
import { wireOn } from '../../../../test-kit/wire-on.ts';
import type { Db } from '../../../foundation/database/db.ts';
import { sql } from '../../../foundation/database/sql.ts';
import { manageScope } from '../acting-store.ts';
import { deleteAccount, disableAccount } from '../../../../test-kit/store-changes.ts';

const setUnverified = sql('test_set_unverified', `update accounts set unverified_since = 1 where id = $1`);

const clock = new FakeClock();
const servicesOf = (db: Db): Services => wireOn(db, { clock });
const account = (id: string) => ({ kind: 'account', accountId: id, sessionId: `ses_${id}` }) as const;
const outcome = (done: Promise<unknown>): Promise<unknown> => done.then(() => 'done', codeOf);

async function addPerson(db: Db, name: string): Promise<string> {
  const id = await addAccount(db, name);
  await addSession(db, id, id);
  return id;
}

async function fixture(db: Db) {
  const [ada, eve, bob] = [await addPerson(db, 'ada'), await addPerson(db, 'eve'), await addPerson(db, 'bob')];
  const services = servicesOf(db);
  const { id } = await services.serviceAccounts.create(account(ada), ada, { name: 'one' });
  const { managers } = services;
  const list = async (): Promise<string[]> =>
    (await managers.list(operator, id)).map(({ id: managerId }) => managerId).toSorted();
  return { ada, eve, bob, id, services, managers, list };
}

const changesOf = async (db: Db, id: string): Promise<unknown[]> =>
  (await listAuditEvents(db))
    .filter(({ accountId, action }) => accountId === id && action.includes('manager_'))
    .map(({ actor, action, target }) => `${actor} ${action} ${target}`);

onEachDatabase('any manager adds and removes managers, and the last one stays', async ({ db }) => {
  const { ada, eve, bob, id, managers, list } = await fixture(db);
  const added = await managers.add(account(ada), id, eve);
  assert.equal(added.id, eve);
  assert.deepEqual({ ...(await managers.add(account(ada), id, eve)) }, { ...added }, 'nothing changes');
  assert.deepEqual(await list(), [ada, eve]);
  await managers.remove(account(eve), id, ada);
  assert.equal(await outcome(managers.list(account(ada), id)), 'account_not_found');
  assert.equal(await outcome(managers.add(account(ada), id, ada)), 'account_not_found');
  assert.equal(await outcome(managers.remove(account(eve), id, bob)), 'manager_not_found');
  assert.equal(await outcome(managers.remove(account(eve), id, 'acc_\0')), 'manager_not_found');
  assert.equal(await outcome(managers.remove(account(eve), id, eve)), 'last_manager');
  assert.deepEqual(await list(), [eve]);
  // Times of changes increase: the deletion journal identifies a change by its time.
  const again = await managers.add(account(eve), id, ada);
  assert.ok(again.addedAt > added.addedAt + 1);
  await managers.remove(account(ada), id, ada);
  assert.deepEqual(await changesOf(db, id), [
    `account:${ada} service_account.manager_added ${id}/${eve}`,
    `account:${eve} service_account.manager_removed ${id}/${ada}`,
    `account:${eve} service_account.manager_added ${id}/${ada}`,
    `account:${ada} service_account.manager_removed ${id}/${ada}`,
  ]);
});

onEachDatabase('operators and administrators remove the last manager and add another', async ({ db }) => {
  const { ada, eve, bob, id, managers, list } = await fixture(db);
  await addAccount(db, 'admin', 'admin');
  await addSession(db, 'acc_admin', 'acc_admin');
  const admin = { ...account('acc_admin'), role: 'admin', actsAs: 'administrator' } as const;
  await managers.remove(admin, id, ada);
  assert.deepEqual(await list(), []);
  await managers.add(admin, id, eve);
  await managers.remove(operator, id, eve);
  await managers.add(operator, id, bob);
  assert.deepEqual(await list(), [bob]);
  // Without the role, they are no managers.
  assert.equal(await outcome(managers.add(account('acc_admin'), id, eve)), 'account_not_found');
  const former = { ...account(eve), actsAs: 'administrator' } as const;
  assert.equal(await outcome(managers.remove(former, id, bob)), 'invalid_access_token');
  for (const other of [ada, 'acc_unknown'])
    assert.equal(await outcome(managers.add(admin, other, bob)), 'account_not_found', other);
});

onEachDatabase('a manager is a verified and enabled account, or another service account', async ({ db }) => {
  const { ada, eve, bob, id, services, managers, list } = await fixture(db);
  await disableAccount(db, { principal: operator, now }, eve);
  await db.transaction((tx) => tx.run(setUnverified, [bob]));
  for (const managerId of [eve, bob, id, 'acc_unknown', '', 'acc_\0', '../x'])
    assert.equal(await outcome(managers.add(account(ada), id, managerId)), 'manager_not_eligible', managerId);
  const other = await services.serviceAccounts.create(account(ada), ada, { name: 'backend' });
  await managers.add(account(ada), id, other.id);
  assert.deepEqual(await list(), [ada, other.id].toSorted());
  // Its management key manages the first one, and not itself.
  const { id: keyId, hash } = await addKey(db, other.id, 'backend', { scopes: [manageScope] });
  const key = { kind: 'key', keyId, accountId: other.id, lookup: lookupOf(hash), addresses: null } as const;
  assert.equal((await managers.list(key, id)).length, 2);
  assert.equal(await outcome(managers.list(key, other.id)), 'account_not_found');
});

onEachDatabase('the keys of a service account outlive its managers, and administrators take over', async ({ db }) => {
  const { ada, id, services, list } = await fixture(db);
  const key = await services.apiKeys.create(operator, id, { nickname: 'laptop' });
  const isValid = async (): Promise<boolean> => (await services.verifier.verify(key.secret.reveal())).valid;
  await disableAccount(db, { principal: operator, now }, ada);
  assert.equal(await isValid(), true);
  await deleteAccount(db, { principal: operator, now }, ada);
  assert.equal(await isValid(), true);
  assert.deepEqual(await list(), []);
  assert.equal((await services.serviceAccounts.find(operator, id)).creatorId, null);
});

onEachDatabase('a service account has at most 20 managers, also when rivals add them', async (opened) => {
  const { db } = opened;
  const { ada, id, managers, list } = await fixture(db);
  for (let index = 0; index < limits.managersPerServiceAccountMax + rivalsMin; index++)
    await addAccount(db, `m${index}`);
  for (let index = 0; index < limits.managersPerServiceAccountMax - 3; index++)
    await managers.add(account(ada), id, `acc_m${index}`);
  const settled = await race(opened, rivalsMin, async (on, rival) => {
    await servicesOf(on).managers.add(account(ada), id, `acc_m${20 + rival}`);
    return 'added';
  });
  assert.deepEqual(outcomes(settled), { added: 2, manager_limit_reached: rivalsMin - 2 });
  assert.equal((await list()).length, limits.managersPerServiceAccountMax);
});

onEachDatabase('of managers that all remove each other and themselves, one stays', async (opened) => {
  const { db } = opened;
  const { ada, id, managers, list } = await fixture(db);
  const people = [ada];
  for (let index = 1; index < rivalsMin; index++) {
    const person = await addPerson(db, `p${index}`);
    await managers.add(account(ada), id, person);
    people.push(person);
  }
  const settled = await race(opened, rivalsMin, async (on, rival) => {
    const caller = people[rival] ?? '';
    await servicesOf(on).managers.remove(account(caller), id, people[(rival + 1) % rivalsMin] ?? '');
    return 'removed';
  });
  const { removed = 0, account_not_found: rejected = 0 } = outcomes(settled);
  assert.equal(removed + rejected, rivalsMin);
  const left = await list();
  assert.equal(left.length, rivalsMin - removed);
  // All that are left leave at once.
  const leaving = await race(opened, left.length, async (on, rival) => {
    await servicesOf(on).managers.remove(account(left[rival] ?? ''), id, left[rival] ?? '');
    return 'removed';
  });
  const expected = left.length === 1 ? { last_manager: 1 } : { removed: left.length - 1, last_manager: 1 };
  assert.deepEqual(outcomes(leaving), expected);
  assert.equal((await list()).length, 1);
});

onEachDatabase(
  'a request of a removed manager that is in progress changes nothing after the removal',
  async (opened) => {
    const { db } = opened;
    const { ada, eve, id, services, managers } = await fixture(db);
    await managers.add(account(ada), id, eve);
    let removedAt = 0;
    const settled = await race(opened, rivalsMin, async (on, rival) => {
      const { serviceAccounts, managers: own } = servicesOf(on);
      if (rival === rivalsMin / 2) {
        await own.remove(account(eve), id, ada);
        removedAt = (await services.serviceAccounts.find(operator, id)).updatedAt;
        return 'removed';
      }
      await serviceAccounts.change(account(ada), id, { name: `rival ${rival}` });
      return 'changed';
    });
    const { removed, changed = 0, account_not_found: rejected = 0 } = outcomes(settled);
    assert.deepEqual([removed, changed + rejected], [1, rivalsMin - 1]);
    const events = (await listAuditEvents(db)).filter(({ accountId }) => accountId === id);
    assert.equal(events.at(-1)?.action, 'service_account.manager_removed');
    assert.equal(events.at(-1)?.at, removedAt);
  },
);

for (const state of ['cut before', 'cut after'] as const)
  onEachDatabase(
    `a removal that was ${state} its commit is repeated, unless the manager was added again since`,
    async ({ db }) => {
      const { ada, eve, bob, id, managers, list } = await fixture(db);
      for (const other of [eve, bob]) await managers.add(account(ada), id, other);
      const line = new Line();
      const broken = servicesOf(behind(db, line)).managers;
      line.state = state;
      for (const other of [eve, bob])
        assert.equal(await outcome(broken.remove(account(ada), id, other)), 'unavailable');
      // Another instance adds one of them again.
      if (state === 'cut before') await managers.remove(account(ada), id, bob);
      await managers.add(account(ada), id, bob);
      const before = line.commits;
      line.state = 'whole';
      await until('both are finished', () => Promise.resolve(line.commits >= before + 2));
      assert.deepEqual(await list(), [ada, bob].toSorted());
      const removals = (await changesOf(db, id)).filter((text) => String(text).includes('removed'));
      assert.equal(removals.length, 2, 'each is recorded once');
    },
  );
