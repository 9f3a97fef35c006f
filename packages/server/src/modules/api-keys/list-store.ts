/** Reads of an account's API keys by text and state, in one of several orders. */
import type { KeySort, KeyStateName } from '@keyreeve/contract';
import type { Db } from '../../foundation/database/db.ts';
import { sql, type Dialect, type Statement } from '../../foundation/database/sql.ts';
import { isUnrestricted } from './stored-hash.ts';
import { shownColumns, type KeyRow } from './store.ts';

/** The value by which a list is ordered. */
export type Place = number | string;

/** A key and its place in the order of the list. Keys with the same place are in the order of their ids. */
export interface PlacedKeyRow extends KeyRow {
  readonly place: Place;
}

export interface KeyFilter {
  /** Forms of a part of the nickname, ASCII letters in lower case. Empty texts: any nickname. */
  readonly nicknameParts: readonly [string, string, string];
  /** The last characters of the hint. */
  readonly hintEnd: string;
  readonly state: KeyStateName | '';
  readonly now: number;
  /** Active keys that expire before this time are expiring. */
  readonly expiringUntil: number;
}

/** The list continues after the key with this place and id. */
export interface ListPosition {
  readonly place: Place;
  readonly id: number;
}

type Value = 'created' | 'nickname' | 'lastUsed' | 'expires';

// `lower` changes only ASCII letters: on PostgreSQL, because the collation of the column is "C".
const places: Readonly<Record<Value, string>> = {
  created: 'k.created_at',
  nickname: 'lower(k.nickname)',
  lastUsed: 'coalesce(k.last_used_at, -1)',
  expires: `coalesce(k.expires_at, ${Number.MAX_SAFE_INTEGER})`,
};

const isDisabled = (dialect: Dialect): string => `(k.disabled_at is not null or (${isUnrestricted(dialect, 'k.')}))`;

/** No character of the text is a wildcard. */
const search: Readonly<Record<Dialect, (column: string, part: string) => string>> = {
  sqlite: (column, part) => `instr(${column}, ${part}) > 0`,
  postgres: (column, part) => `strpos(${column}, ${part}) > 0`,
};
const endsWith: Readonly<Record<Dialect, (column: string, end: string) => string>> = {
  sqlite: (column, end) => `substr(${column}, -length(${end})) = ${end}`,
  postgres: (column, end) => `right(${column}, length(${end})) = ${end}`,
};

// The index on the account limits the read to the account's keys.
function pageText(dialect: Dialect, value: Value, isDescending: boolean): string {
  const place = places[value];
  const [compare, direction] = isDescending ? ['<', 'desc'] : ['>', 'asc'];
  const parts = ['$9', '$10', '$11'].map((part) => search[dialect]('lower(k.nickname)', part));
  const disabled = isDisabled(dialect);
  return `select ${shownColumns(dialect)}, ${place} as place
   from api_keys k join accounts a on a.pk = k.account_pk
   where a.id = $1 and (${place}, k.id) ${compare} ($2, $3)
     and ($8 = '' or ${endsWith[dialect]('k.hint', '$8')} or ${parts.join(' or ')})
     and ($5 = '' or ($5 = 'disabled' and ${disabled})
       or ($5 <> 'disabled' and not ${disabled} and (
         ($5 = 'expired' and k.expires_at <= $6) or ($5 = 'active' and (k.expires_at is null or k.expires_at > $6))
         or ($5 = 'expiring' and k.expires_at > $6 and k.expires_at <= $7))))
   order by ${place} ${direction}, k.id ${direction} limit $4`;
}

/** PostgreSQL cannot derive the types of these parameters. */
const withTypes = (text: string): string =>
  text.replaceAll(/\$(?:5|8|9|10|11)(?!\d)/g, '$&::text').replaceAll(/\$[67](?!\d)/g, '$&::bigint');

const textOf = (value: Value, isDescending: boolean): Readonly<Record<Dialect, string>> => ({
  sqlite: pageText('sqlite', value, isDescending),
  postgres: withTypes(pageText('postgres', value, isDescending)),
});

const byCreated = sql<PlacedKeyRow>('page_api_keys_by_created', textOf('created', false));
const byCreatedDescending = sql<PlacedKeyRow>('page_api_keys_by_created_descending', textOf('created', true));
const byNickname = sql<PlacedKeyRow>('page_api_keys_by_nickname', textOf('nickname', false));
const byNicknameDescending = sql<PlacedKeyRow>('page_api_keys_by_nickname_descending', textOf('nickname', true));
const byLastUsed = sql<PlacedKeyRow>('page_api_keys_by_last_used', textOf('lastUsed', false));
const byLastUsedDescending = sql<PlacedKeyRow>('page_api_keys_by_last_used_descending', textOf('lastUsed', true));
const byExpiry = sql<PlacedKeyRow>('page_api_keys_by_expiry', textOf('expires', false));
const byExpiryDescending = sql<PlacedKeyRow>('page_api_keys_by_expiry_descending', textOf('expires', true));

const pages: Readonly<Record<KeySort, Statement<PlacedKeyRow>>> = {
  created: byCreated,
  '-created': byCreatedDescending,
  nickname: byNickname,
  '-nickname': byNicknameDescending,
  lastUsed: byLastUsed,
  '-lastUsed': byLastUsedDescending,
  expires: byExpiry,
  '-expires': byExpiryDescending,
};

/** At most `count` keys of the account that match the filter, in the order of `sort`. */
export function findListedKeys(
  db: Db,
  accountId: string,
  { nicknameParts, hintEnd, state, now, expiringUntil }: KeyFilter,
  sort: KeySort,
  after: ListPosition,
  count: number,
): Promise<PlacedKeyRow[]> {
  const values = [after.place, after.id, count, state, now, expiringUntil, hintEnd, ...nicknameParts];
  return db.all(pages[sort], [accountId, ...values]);
}
