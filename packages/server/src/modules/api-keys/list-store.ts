/** Reads of an account's API keys by text and state, in one of several orders. */
import type { KeySort, KeyStateName } from '@keyreeve/contract';
import type { Db } from '../../foundation/database/db.ts';
import { sql, type Dialect, type Statement } from '../../foundation/database/sql.ts';
import { shownColumns, type KeyRow } from './store.ts';

/** The value by which a list is ordered. */
export type Place = number | string;

/** A key and its place in the order of the list. Keys with the same place are in the order of their ids. */
export interface PlacedKeyRow extends KeyRow {
  readonly place: Place;
}

export interface KeyFilter {
  readonly accountId: string;
  /** Part of the nickname, folded. */
  readonly nicknamePart: string;
  /** The last characters of the hint. Empty: any nickname and hint. */
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

const places: Readonly<Record<Value, string>> = {
  created: 'k.created_at',
  nickname: 'k.folded',
  lastUsed: 'coalesce(k.last_used_at, -1)',
  expires: `coalesce(k.expires_at, ${Number.MAX_SAFE_INTEGER})`,
};

/** Conditions. No character of the text is a wildcard. */
export const contains: Readonly<Record<Dialect, (text: string, part: string) => string>> = {
  sqlite: (text, part) => `instr(${text}, ${part}) > 0`,
  postgres: (text, part) => `strpos(${text}, ${part}) > 0`,
};
export const endsWith: Readonly<Record<Dialect, (text: string, end: string) => string>> = {
  sqlite: (text, end) => `substr(${text}, -length(${end})) = ${end}`,
  postgres: (text, end) => `right(${text}, length(${end})) = ${end}`,
};

// The index on the account limits the read to the account's keys.
function pageText(dialect: Dialect, value: Value, isDescending: boolean): string {
  const place = places[value];
  const [compare, direction] = isDescending ? ['<', 'desc'] : ['>', 'asc'];
  return `select ${shownColumns}, ${place} as place
   from api_keys k join accounts a on a.pk = k.account_pk
   where a.id = $1 and (${place}, k.id) ${compare} ($2, $3)
     and ($8 = '' or ${endsWith[dialect]('k.hint', '$8')} or ${contains[dialect]('k.folded', '$9')})
     and ($5 = '' or ($5 = 'disabled' and k.disabled_at is not null)
       or ($5 <> 'disabled' and k.disabled_at is null and (
         ($5 = 'expired' and k.expires_at <= $6) or ($5 = 'active' and (k.expires_at is null or k.expires_at > $6))
         or ($5 = 'expiring' and k.expires_at > $6 and k.expires_at <= $7))))
   order by ${place} ${direction}, k.id ${direction} limit $4`;
}

/** PostgreSQL cannot derive the types of these parameters. */
const withTypes = (text: string): string =>
  text.replaceAll(/\$[589](?!\d)/g, '$&::text').replaceAll(/\$[67](?!\d)/g, '$&::bigint');

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

/** At most `count` keys that match the filter, in the order of `sort`. */
export function findListedKeys(
  db: Db,
  { accountId, nicknamePart, hintEnd, state, now, expiringUntil }: KeyFilter,
  { sort, place, id }: ListPosition & { readonly sort: KeySort },
  count: number,
): Promise<PlacedKeyRow[]> {
  const values = [place, id, count, state, now, expiringUntil, hintEnd, nicknamePart];
  return db.all(pages[sort], [accountId, ...values]);
}
