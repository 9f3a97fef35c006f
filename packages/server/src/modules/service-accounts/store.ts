/** Rows of service accounts and of their managers. */
import type { Reader, Transaction } from '../../foundation/database/db.ts';
import { hasSameName } from '../../foundation/database/joiners.ts';
import { onList, type DatedId } from '../../foundation/database/json-lists.ts';
import { sql, type Dialect } from '../../foundation/database/sql.ts';
import { countedRowsMax } from '../../foundation/database/totals.ts';

export interface ServiceAccountRow {
  readonly id: string;
  readonly name: string;
  readonly externalId: string | null;
  /** The account that created it; null after the deletion of that account. */
  readonly creatorId: string | null;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export interface ManagerRow {
  readonly id: string;
  readonly addedAt: number;
}

/** A service account in a list, with the time when the manager was added. */
export interface ManagedRow extends ServiceAccountRow {
  readonly addedAt: number;
}

const pkOf = (id: string): string => `(select pk from accounts where id = ${id})`;
const columns = `a.id, s.name, s.external_id as "externalId", c.id as "creatorId", s.created_at as "createdAt",
  s.updated_at as "updatedAt"`;
const rows = `service_accounts s join accounts a on a.pk = s.account_pk left join accounts c on c.pk = s.creator_pk`;

// Does nothing if the creator has the name or the external id already. Its row is locked, so the reason is known afterwards.
const insertIn = (dialect: Dialect): string =>
  `insert into service_accounts (account_pk, name, external_id, creator_pk, created_at, updated_at)
   select ${pkOf('$1')}, $2, $3, ${pkOf('$4')}, $5, $5
   where not ${hasSameName(dialect, `service_accounts s where s.creator_pk = ${pkOf('$4')}`, 's.name', '$2')}
   on conflict do nothing`;
const insert = sql('insert_service_account', { sqlite: insertIn('sqlite'), postgres: insertIn('postgres') });
const select = sql<ServiceAccountRow>('select_service_account', `select ${columns} from ${rows} where a.id = $1`);
const update = sql(
  'update_service_account',
  `update service_accounts set name = $2, external_id = $3, updated_at = $4 where account_pk = ${pkOf('$1')}`,
);
const touch = sql(
  'touch_service_account',
  `update service_accounts set updated_at = $2 where account_pk = ${pkOf('$1')}`,
);
/** What other service accounts of the same creator have. */
export interface Taken {
  /** 1 when one of them has the name, apart from joiners; otherwise 0. */
  readonly names: number;
  readonly externalIds: number;
}
const others = `select count(*) from service_accounts s join accounts a on a.pk = s.account_pk
     where s.creator_pk = ${pkOf('$1')} and a.id <> $4`;
const takenIn = (dialect: Dialect): string => {
  const other = `service_accounts s join accounts a on a.pk = s.account_pk where s.creator_pk = ${pkOf('$1')} and a.id <> $4`;
  return `select case when ${hasSameName(dialect, other, 's.name', '$2')} then 1 else 0 end as names,
     (${others} and s.external_id = $3) as "externalIds"`;
};
const selectTaken = sql<Taken>('select_taken_service_account', {
  sqlite: takenIn('sqlite'),
  postgres: takenIn('postgres'),
});
const countCreated = sql<{ count: number }>(
  'count_created_service_accounts',
  `select count(*) as count from service_accounts where creator_pk = ${pkOf('$1')}`,
);
const managed = `select ${columns}, m.created_at as "addedAt"
   from service_account_managers m join ${rows.replace('service_accounts s', 'service_accounts s on s.account_pk = m.service_pk')}
   where m.manager_pk = ${pkOf('$1')}`;
// Two statements, because each follows another index. Another account may have created one with the same external id, and
// added this one as its manager.
const after = `(m.created_at > $2 or m.created_at = $2 and a.id > $3) order by m.created_at, a.id limit $4`;
const page = sql<ManagedRow>('page_service_accounts', `${managed} and m.created_at >= $2 and ${after}`);
const pageByExternalId = sql<ManagedRow>(
  'page_service_accounts_by_external_id',
  `${managed} and s.external_id = $5 and s.creator_pk = m.manager_pk and ${after}`,
);

// Of an index only.
const countManaged = sql<{ count: number }>(
  'count_managed_service_accounts',
  `select count(*) as count from (select 1 from service_account_managers
     where manager_pk = ${pkOf('$1')} limit ${countedRowsMax}) counted`,
);
// At most one.
const countByExternalId = sql<{ count: number }>(
  'count_service_accounts_by_external_id',
  `select count(*) as count from service_accounts s
     join service_account_managers m on m.service_pk = s.account_pk and m.manager_pk = s.creator_pk
   where s.external_id = $2 and s.creator_pk = ${pkOf('$1')}`,
);

const insertManager = sql(
  'insert_service_account_manager',
  `insert into service_account_managers (service_pk, manager_pk, created_at) values (${pkOf('$1')}, ${pkOf('$2')}, $3)`,
);
const deleteManager = sql(
  'delete_service_account_manager',
  `delete from service_account_managers where service_pk = ${pkOf('$1')} and manager_pk = ${pkOf('$2')}`,
);
const listManagersOf = sql<ManagerRow>(
  'list_service_account_managers',
  `select a.id, m.created_at as "addedAt" from service_account_managers m join accounts a on a.pk = m.manager_pk
   where m.service_pk = ${pkOf('$1')} order by m.created_at, a.id`,
);
// A shared lock: the account is not disabled or deleted before the transaction ends.
const eligibleText = `select id from accounts where id = $1 and disabled_at is null and unverified_since is null`;
const selectEligible = sql<{ id: string }>('select_eligible_manager', {
  sqlite: eligibleText,
  postgres: `${eligibleText} for share`,
});
const split = {
  sqlite: [`substr(given.id, 1, instr(given.id, '/') - 1)`, `substr(given.id, instr(given.id, '/') + 1)`],
  postgres: [`split_part(given.id, '/', 1)`, `split_part(given.id, '/', 2)`],
} as const;
const replayText = (dialect: keyof typeof split): string => `delete from service_account_managers
   where (service_pk, manager_pk) in (select s.pk, a.pk from {dated}
     join accounts s on s.id = ${split[dialect][0]} join accounts a on a.id = ${split[dialect][1]})`;
const replayRemoved = sql('replay_removed_managers', {
  sqlite: onList(replayText('sqlite')).sqlite,
  postgres: onList(replayText('postgres')).postgres,
});
// A later change gets a later time than a repeated one.
const replayTouch = (dialect: keyof typeof split, greatest: string): string => `update service_accounts
   set updated_at = ${greatest}(service_accounts.updated_at, given.at + 1, $2) from {dated} join accounts s on s.id = ${split[dialect][0]}
   where s.pk = service_accounts.account_pk`;
const replayTimes = sql('replay_times_of_managers', {
  sqlite: onList(replayTouch('sqlite', 'max')).sqlite,
  postgres: onList(replayTouch('postgres', 'greatest')).postgres,
});

/** The target of audit events about a manager, and the id of the removal in the deletion journal. */
export const managerTarget = (serviceId: string, managerId: string): string => `${serviceId}/${managerId}`;

export const findServiceAccount = (reader: Pick<Reader, 'get'>, id: string): Promise<ServiceAccountRow | undefined> =>
  reader.get(select, [id]);

/** @returns false if the creator has another service account with the name or the external id */
export const storeNewTx = async (
  tx: Transaction,
  { id, name, externalId, creatorId, createdAt }: ServiceAccountRow,
): Promise<boolean> => (await tx.run(insert, [id, name, externalId, creatorId, createdAt])) > 0;

export const storeChangeTx = async (
  tx: Transaction,
  { id, name, externalId, updatedAt }: ServiceAccountRow,
): Promise<void> => void (await tx.run(update, [id, name, externalId, updatedAt]));

/** @param exceptId the id of the service account that is changed; empty for a new one */
export async function findTaken(
  reader: Pick<Reader, 'get'>,
  creatorId: string,
  { name, externalId }: Pick<ServiceAccountRow, 'name' | 'externalId'>,
  exceptId: string,
): Promise<Taken> {
  return (await reader.get(selectTaken, [creatorId, name, externalId, exceptId])) ?? { names: 0, externalIds: 0 };
}

/** The number of service accounts that the account has created and that exist. */
export const countCreatedBy = async (reader: Pick<Reader, 'get'>, creatorId: string): Promise<number> =>
  (await reader.get(countCreated, [creatorId]))?.count ?? 0;

/**
 * Service accounts that an account manages, in the order in which it became a manager.
 * @param filter.externalId only the one that it has created, with this external id; undefined: all
 * @param position the time and id of the last one of the previous page
 */
export const pageManagedBy = (
  reader: Pick<Reader, 'all'>,
  { managerId, externalId }: { readonly managerId: string; readonly externalId: string | undefined },
  position: { readonly addedAt: number; readonly id: string },
  count: number,
): Promise<ManagedRow[]> => {
  const values = [managerId, position.addedAt, position.id, count];
  return externalId === undefined ? reader.all(page, values) : reader.all(pageByExternalId, [...values, externalId]);
};

/** How many service accounts {@link pageManagedBy} finds on all pages, at most {@link countedRowsMax}. */
export const countManagedBy = async (
  reader: Pick<Reader, 'get'>,
  { managerId, externalId }: { readonly managerId: string; readonly externalId: string | undefined },
): Promise<number> =>
  (externalId === undefined
    ? await reader.get(countManaged, [managerId])
    : await reader.get(countByExternalId, [managerId, externalId])
  )?.count ?? 0;

export const listManagers = (reader: Pick<Reader, 'all'>, id: string): Promise<ManagerRow[]> =>
  reader.all(listManagersOf, [id]);

/** @returns whether the account may be a manager: it exists, is enabled, and has verified its email address */
export const isEligibleTx = async (tx: Transaction, accountId: string): Promise<boolean> =>
  (await tx.get(selectEligible, [accountId])) !== undefined;

/** @param at later than every earlier change of the service account */
export async function addManagerTx(tx: Transaction, id: string, managerId: string, at: number): Promise<void> {
  await tx.run(insertManager, [id, managerId, at]);
  await tx.run(touch, [id, at]);
}

/** @param at as of {@link addManagerTx} */
export async function removeManagerTx(tx: Transaction, id: string, managerId: string, at: number): Promise<void> {
  await tx.run(deleteManager, [id, managerId]);
  await tx.run(touch, [id, at]);
}

/**
 * Removes managers, also last ones, for a replay of the deletion journal. The caller records the events.
 * @param changes with ids as of {@link managerTarget}
 */
export async function removeManagersTx(tx: Transaction, changes: readonly DatedId[], now: number): Promise<void> {
  await tx.run(replayRemoved, [JSON.stringify(changes)]);
  await tx.run(replayTimes, [JSON.stringify(changes), now]);
}
