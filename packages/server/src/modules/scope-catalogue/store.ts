/** The table of declared scopes. */
import { allInOrder } from '../../foundation/all-in-order.ts';
import type { Reader, Transaction } from '../../foundation/database/db.ts';
import { onList, type DatedId } from '../../foundation/database/json-lists.ts';
import { sql } from '../../foundation/database/sql.ts';

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
// The rows of a restored database may lack the scope.
const insertMissing = sql(
  'replay_missing_scopes',
  onList(`insert into scopes (name, description, needs_entitlement, created_at, updated_at, deleted_at, revision)
    select given.id, '', 0, $2, $2, null, 0 from {dated} where true on conflict (name) do nothing`),
);
const replayText = (assignment: string, greatest: string): string =>
  `update scopes set ${assignment}, updated_at = ${greatest}(updated_at, given.at + 1, $2), revision = revision + 1
   from {dated} where scopes.name = given.id`;
const markText = 'needs_entitlement = 1';
const mark = sql('replay_marked_scopes', {
  sqlite: onList(replayText(markText, 'max')).sqlite,
  postgres: onList(replayText(markText, 'greatest')).postgres,
});
const deleteText = 'deleted_at = coalesce(deleted_at, $2)';
const remove = sql('replay_deleted_scopes', {
  sqlite: onList(replayText(deleteText, 'max')).sqlite,
  postgres: onList(replayText(deleteText, 'greatest')).postgres,
});
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
export async function markScopesTx(tx: Transaction, changes: readonly DatedId[], now: number): Promise<void> {
  await tx.run(insertMissing, [JSON.stringify(changes), now]);
  await tx.run(mark, [JSON.stringify(changes), now]);
}

/** Deletes scopes, for a replay of the deletion journal. The caller records the events. */
export async function deleteScopesTx(tx: Transaction, changes: readonly DatedId[], now: number): Promise<void> {
  await tx.run(insertMissing, [JSON.stringify(changes), now]);
  await tx.run(remove, [JSON.stringify(changes), now]);
}
