/** Reads of the API keys of all accounts. No index covers the filters, so each read searches a bounded number of keys, by id. */
import type { Db } from '../../foundation/database/db.ts';
import { sql, type Dialect } from '../../foundation/database/sql.ts';
import { withheldColumn } from '../scope-catalogue/withheld.ts';
import { shownColumns, type KeyRow } from './store.ts';

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
  /** As in `KeyFilter`. */
  readonly nicknameParts: readonly [string, string, string];
  readonly hintEnd: string;
  readonly accountId: string;
  readonly scope: string;
  /** Milliseconds; `Number.MAX_SAFE_INTEGER` for any key. */
  readonly unusedSince: number;
  /** Milliseconds; null for any key. */
  readonly expiresBefore: number | null;
}

/** The part of the keys that is searched: at most $2 keys with ids above $1, of the account $3 unless it is empty. */
const ofAll = 'select id from api_keys where id > $1 order by id limit $2';
const ofAccount =
  'select id from api_keys where account_pk = (select pk from accounts where accounts.id = $3) and id > $1 order by id limit $2';

const position = { sqlite: 'instr', postgres: 'strpos' } as const;
const hintEnds = {
  sqlite: 'substr(k.hint, -length($7)) = $7',
  postgres: 'right(k.hint, length($7)) = $7',
} as const;

function pageText(dialect: Dialect, part: string): string {
  const find = position[dialect];
  const nickname = ['$4', '$5', '$6'].map((form) => `${find}(lower(k.nickname), ${form}) > 0`).join(' or ');
  const text = `select ${shownColumns(dialect)}, a.id as "accountId", case when a.kind = 'service' then null else a.email end as email,
     v.name, ${withheldColumn(dialect)}
   from (${part}) part join api_keys k on k.id = part.id join accounts a on a.pk = k.account_pk
     left join service_accounts v on v.account_pk = a.pk
   where ($3 = '' or a.id = $3) and ($4 = '' or ${nickname}) and ($7 = '' or ${hintEnds[dialect]})
     and ($8 = '' or ${find}(' ' || k.scopes || ' ', ' ' || $8 || ' ') > 0)
     and coalesce(k.last_used_at, k.created_at) < $9 and ($10 is null or k.expires_at < $10)
   order by k.id limit $11`;
  if (dialect === 'sqlite') return text;
  // PostgreSQL cannot derive the types of these parameters.
  return text.replaceAll(/\$(?:[3-8])(?!\d)/g, '$&::text').replaceAll(/\$(?:9|10)(?!\d)/g, '$&::bigint');
}
const search = sql<OwnedKeyRow>('search_owned_keys', {
  sqlite: pageText('sqlite', ofAll),
  postgres: pageText('postgres', ofAll),
});
const searchAccount = sql<OwnedKeyRow>('search_owned_keys_of_account', {
  sqlite: pageText('sqlite', ofAccount),
  postgres: pageText('postgres', ofAccount),
});
const selectLast = sql<{ id: number }>(
  'last_searched_owned_key',
  'select id from api_keys where id > $1 order by id limit 1 offset $2',
);
const selectLastOfAccount = sql<{ id: number }>(
  'last_searched_owned_key_of_account',
  'select id from api_keys where account_pk = (select pk from accounts where accounts.id = $3) and id > $1 order by id limit 1 offset $2',
);

export interface KeyPart {
  /** Only keys with a higher id. */
  readonly after: number;
  /** How many keys are searched. */
  readonly searchedMax: number;
  /** How many keys are returned. */
  readonly limit: number;
}

/** In the order of ids. */
export function searchOwnedKeys(
  db: Db,
  { nicknameParts, hintEnd, accountId, scope, unusedSince, expiresBefore }: OwnedKeyFilter,
  { after, searchedMax, limit }: KeyPart,
): Promise<OwnedKeyRow[]> {
  const values = [after, searchedMax, accountId, ...nicknameParts, hintEnd, scope, unusedSince, expiresBefore, limit];
  return db.all(accountId === '' ? search : searchAccount, values);
}

/** @returns the last key that {@link searchOwnedKeys} searches; undefined if it searches all remaining keys */
export const findLastOwnedKey = async (
  db: Db,
  accountId: string,
  { after, searchedMax }: KeyPart,
): Promise<number | undefined> =>
  (accountId === ''
    ? await db.get(selectLast, [after, searchedMax - 1])
    : await db.get(selectLastOfAccount, [after, searchedMax - 1, accountId])
  )?.id;
