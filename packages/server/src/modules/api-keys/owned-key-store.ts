/** Reads of API keys of all accounts. */
import type { Db } from '../../foundation/database/db.ts';
import { sql, type Dialect } from '../../foundation/database/sql.ts';
import { withheldColumn } from '../scope-catalogue/withheld.ts';
import { contains, endsWith } from './list-store.ts';
import { shownColumns, type KeyRow } from './store.ts';
import { readUses } from './use-store.ts';

export interface OwnedKeyRow extends KeyRow {
  readonly accountId: string;
  /** Null for a service account. */
  readonly email: string | null;
  /** Of a service account. */
  readonly name: string | null;
  /** Scopes that the catalogue withholds, separated by spaces; null if there are none. */
  readonly withheld: string | null;
}

export interface OwnedKeyFilter {
  /** Folded; empty: any nickname. */
  readonly nicknamePart: string;
  readonly hintEnd: string;
  readonly accountId: string;
  readonly scope: string;
  /** Milliseconds; `Number.MAX_SAFE_INTEGER` for any key. */
  readonly unusedSince: number;
  /** Milliseconds; null for any key. */
  readonly expiresBefore: number | null;
}

// PostgreSQL would read all keys for a subselect if it has no statistics of them.
const ofIds: Readonly<Record<Dialect, string>> = {
  sqlite: 'k.id in (select value from json_each($1))',
  postgres: 'k.id = any(array(select json_array_elements_text($1::json)::bigint))',
};

function matching(dialect: Dialect): string {
  const has = contains[dialect];
  const text = `${ofIds[dialect]} and ($2 = '' or a.id = $2) and ($3 = '' or ${has('k.folded', '$3')})
     and ($4 = '' or ${endsWith[dialect]('k.hint', '$4')})
     and ($5 = '' or ${has(`' ' || k.scopes || ' '`, `' ' || $5 || ' '`)})
     and k.created_at < $6 and ($7 is null or k.expires_at < $7)`;
  if (dialect === 'sqlite') return text;
  // PostgreSQL cannot derive the types of these parameters.
  return text.replaceAll(/\$[2-5](?!\d)/g, '$&::text').replaceAll(/\$[67](?!\d)/g, '$&::bigint');
}
const listText = (
  dialect: Dialect,
): string => `select ${shownColumns}, a.id as "accountId", case when a.kind = 'service' then null else a.email end as email,
     v.name, ${withheldColumn(dialect)}
   from api_keys k join accounts a on a.pk = k.account_pk left join service_accounts v on v.account_pk = a.pk
   where ${matching(dialect)} order by k.id limit $8`;
const countText = (dialect: Dialect): string =>
  `select count(*) as count from api_keys k join accounts a on a.pk = k.account_pk where ${matching(dialect)}`;
const list = sql<OwnedKeyRow>('list_owned_keys', { sqlite: listText('sqlite'), postgres: listText('postgres') });

const count = sql<{ count: number }>('count_owned_keys', {
  sqlite: countText('sqlite'),
  postgres: countText('postgres'),
});

/**
 * At most `limit` of the keys with these ids that match the filter, in the order of ids.
 * @throws DomainError `unavailable`, also while the uses that `unusedSince` needs cannot be read: used keys would be shown
 */
export async function listOwnedKeys(
  db: Pick<Db, 'all' | 'usage'>,
  ids: readonly number[],
  filter: OwnedKeyFilter,
  limit: number,
): Promise<OwnedKeyRow[]> {
  return db.all(list, [...(await valuesOf(db, ids, filter)), limit]);
}

/** How many of the keys with these ids match the filter. @throws DomainError as {@link listOwnedKeys} */
export const countOwnedKeys = async (
  db: Pick<Db, 'get' | 'usage'>,
  ids: readonly number[],
  filter: OwnedKeyFilter,
): Promise<number> => (await db.get(count, await valuesOf(db, ids, filter)))?.count ?? 0;

async function valuesOf(
  db: Pick<Db, 'usage'>,
  ids: readonly number[],
  { nicknamePart, hintEnd, accountId, scope, unusedSince, expiresBefore }: OwnedKeyFilter,
): Promise<(string | number | null)[]> {
  const uses = unusedSince === Number.MAX_SAFE_INTEGER ? undefined : await readUses(db.usage, ids);
  // A key without a known use counts as used at its creation, which is not later than any use.
  const unused = uses ? ids.filter((id) => (uses.get(id)?.lastUsedAt ?? 0) < unusedSince) : ids;
  return [JSON.stringify(unused), accountId, nicknamePart, hintEnd, scope, unusedSince, expiresBefore];
}
