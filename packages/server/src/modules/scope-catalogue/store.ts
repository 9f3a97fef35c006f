/** The table of declared scopes. */
import { allInOrder } from '../../foundation/all-in-order.ts';
import type { Reader, Transaction } from '../../foundation/database/db.ts';
import { onList, type DatedId } from '../../foundation/database/json-lists.ts';
import { sql, type Dialect } from '../../foundation/database/sql.ts';

export interface ScopeRow {
  readonly name: string;
  readonly description: string;
  /** 1 if it is in force only on keys of accounts that have it as an entitlement; otherwise 0. */
  readonly needsEntitlement: number;
  /** Milliseconds. */
  readonly createdAt: number;
  readonly updatedAt: number;
  /** A deleted scope is in force on no key. */
  readonly deletedAt: number | null;
  readonly revision: number;
}

const columns = `name, description, needs_entitlement as "needsEntitlement", created_at as "createdAt",
  updated_at as "updatedAt", deleted_at as "deletedAt", revision`;
const list = sql<ScopeRow>('list_scopes', `select ${columns} from scopes order by name`);
const select = sql<ScopeRow>('select_scope', `select ${columns} from scopes where name = $1`);
const count = sql<{ count: number }>('count_scopes', `select count(*) as count from scopes`);
const upsert = sql(
  'set_scope',
  `insert into scopes (name, description, needs_entitlement, created_at, updated_at, deleted_at, revision)
   values ($1, $2, $3, $4, $5, $6, $7)
   on conflict (name) do update set description = excluded.description, needs_entitlement = excluded.needs_entitlement,
     updated_at = excluded.updated_at, deleted_at = excluded.deleted_at, revision = excluded.revision`,
);
const needing = sql<{ name: string }>(
  'list_scopes_with_entitlement',
  onList(`select name from scopes where needs_entitlement = 1 and deleted_at is null and name in ({ids})`),
);
const isLimiting = sql<{ count: number }>(
  'count_limiting_scopes',
  `select count(*) as count from scopes where needs_entitlement = 1 or deleted_at is not null`,
);
// Repetitions of changes of the deletion journal. They store the time of the repeated change, so that a restore also finds a
// later change of the same scope to be missing. The restored database may lack the scope.
const replayText = (needsEntitlement: 0 | 1, deletedAt: string, column: string): Record<Dialect, string> =>
  onList(`insert into scopes (name, description, needs_entitlement, created_at, updated_at, deleted_at, revision)
    select given.id, '', ${needsEntitlement}, given.at, given.at, ${deletedAt}, 1 from {dated} where true
    on conflict (name) do update set ${column} = excluded.${column}, updated_at = excluded.updated_at,
      revision = scopes.revision + 1`);
const mark = sql('replay_marked_scopes', replayText(1, 'null', 'needs_entitlement'));
const remove = sql('replay_deleted_scopes', replayText(0, 'given.at', 'deleted_at'));
// The scopes that the account may not grant, by their positions in the list, from 0.
const refused = (isEntitled: string): string => `(s.name is null or s.deleted_at is not null
    or s.needs_entitlement = 1 and not exists (select 1 from accounts a where a.id = $2 and ${isEntitled}))`;
const selectRefused = sql<{ position: number }>('select_refused_scopes', {
  sqlite: `select given.key as position from json_each($1) given left join scopes s on s.name = given.value
   where ${refused(`instr(' ' || coalesce(a.entitlements, '') || ' ', ' ' || s.name || ' ') > 0`)} order by given.key`,
  postgres: `select given.ordinal - 1 as position
   from json_array_elements_text($1::json) with ordinality as given (value, ordinal)
     left join scopes s on s.name = given.value
   where ${refused(`s.name = any (string_to_array(a.entitlements, ' '))`)} order by given.ordinal`,
});

/** All of them by name, with the deleted ones. */
export const listScopes = (reader: Reader): Promise<ScopeRow[]> => reader.all(list);

export const findScope = (reader: Reader, name: string): Promise<ScopeRow | undefined> => reader.get(select, [name]);

/** @returns the scope, and the number of all scopes */
export async function readScopeTx(tx: Transaction, name: string): Promise<[ScopeRow | undefined, number]> {
  const [row, counted] = await allInOrder([tx.get(select, [name]), tx.get(count)]);
  return [row, counted?.count ?? 0];
}

/** Stores the scope as it is after a change. The caller has locked the catalogue. */
export async function storeScopeTx(tx: Transaction, scope: ScopeRow): Promise<void> {
  const { name, description, needsEntitlement, createdAt, updatedAt, deletedAt, revision } = scope;
  await tx.run(upsert, [name, description, needsEntitlement, createdAt, updatedAt, deletedAt, revision]);
}

/** @returns those of the names that are declared and need an entitlement */
export async function listNeedingEntitlement(reader: Reader, names: readonly string[]): Promise<Set<string>> {
  if (names.length === 0) return new Set();
  return new Set((await reader.all(needing, [JSON.stringify(names)])).map(({ name }) => name));
}

/** @returns the positions of the scopes that the account may not give to its keys */
export async function findRefusedScopes(
  reader: Reader,
  accountId: string,
  scopes: readonly string[],
): Promise<readonly number[]> {
  if (scopes.length === 0) return [];
  return (await reader.all(selectRefused, [JSON.stringify(scopes), accountId])).map(({ position }) => position);
}

/** @returns the number of scopes that need an entitlement or are deleted */
export const countLimitingScopes = async (reader: Reader): Promise<number> =>
  (await reader.get(isLimiting))?.count ?? 0;

/** Marks scopes as in need of an entitlement, for a replay of the deletion journal. The caller records the events. */
export const markScopesTx = async (tx: Transaction, changes: readonly DatedId[]): Promise<void> =>
  void (await tx.run(mark, [JSON.stringify(changes)]));

/** Deletes scopes, for a replay of the deletion journal. The caller records the events. */
export const deleteScopesTx = async (tx: Transaction, changes: readonly DatedId[]): Promise<void> =>
  void (await tx.run(remove, [JSON.stringify(changes)]));
