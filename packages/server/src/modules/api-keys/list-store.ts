/** Reads of an account's API keys by text and state, in one of several orders. */
import type { KeySort, KeyStateName } from '@keyreeve/contract';
import type { Db } from '../../foundation/database/db.ts';
import { onList } from '../../foundation/database/json-lists.ts';
import { sql, type Dialect, type Statement } from '../../foundation/database/sql.ts';
import type { CountedPart } from '../../foundation/database/totals.ts';
import { reservedPrefix } from './scopes.ts';
import { shownColumns, type KeyRow } from './store.ts';
import { findLastUsedTimes, type UsesOf } from './use-store.ts';

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
  /** Whether keys with reserved scopes do not match. */
  readonly hidesReserved: boolean;
}

/** The list continues after the key with this place and id. */
export interface ListPosition {
  readonly place: Place;
  readonly id: number;
}

type Value = 'created' | 'nickname' | 'expires';

const places: Readonly<Record<Value, string>> = {
  created: 'k.created_at',
  nickname: 'k.folded',
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

/** Condition: whether a key `k` has a reserved scope. Case matters. */
export const hasReserved = (dialect: Dialect): string => contains[dialect](`' ' || k.scopes`, `' ${reservedPrefix}'`);

const matches = (dialect: Dialect): string =>
  `($5 = '' or ${endsWith[dialect]('k.hint', '$5')} or ${contains[dialect]('k.folded', '$6')})
     and ($2 = '' or ($2 = 'disabled' and k.disabled_at is not null)
       or ($2 <> 'disabled' and k.disabled_at is null and (
         ($2 = 'expired' and k.expires_at <= $3) or ($2 = 'active' and (k.expires_at is null or k.expires_at > $3))
         or ($2 = 'expiring' and k.expires_at > $3 and k.expires_at <= $4))))
     and ($7 = 0 or not ${hasReserved(dialect)})`;
// The index on the account limits the read to the account's keys.
const filtered = (dialect: Dialect): string =>
  `from api_keys k join accounts a on a.pk = k.account_pk where a.id = $1 and ${matches(dialect)}`;

function pageText(dialect: Dialect, value: Value, isDescending: boolean): string {
  const place = places[value];
  const [compare, direction] = isDescending ? ['<', 'desc'] : ['>', 'asc'];
  return `select ${shownColumns}, ${place} as place ${filtered(dialect)} and (${place}, k.id) ${compare} ($8, $9)
   order by ${place} ${direction}, k.id ${direction} limit $10`;
}

/** PostgreSQL cannot derive the types of these parameters. */
const withTypes = (text: string): string =>
  text.replaceAll(/\$[256](?!\d)/g, '$&::text').replaceAll(/\$[347](?!\d)/g, '$&::bigint');

const textOf = (value: Value, isDescending: boolean): Readonly<Record<Dialect, string>> => ({
  sqlite: pageText('sqlite', value, isDescending),
  postgres: withTypes(pageText('postgres', value, isDescending)),
});

const byCreated = sql<PlacedKeyRow>('page_api_keys_by_created', textOf('created', false));
const byCreatedDescending = sql<PlacedKeyRow>('page_api_keys_by_created_descending', textOf('created', true));
const byNickname = sql<PlacedKeyRow>('page_api_keys_by_nickname', textOf('nickname', false));
const byNicknameDescending = sql<PlacedKeyRow>('page_api_keys_by_nickname_descending', textOf('nickname', true));
const byExpiry = sql<PlacedKeyRow>('page_api_keys_by_expiry', textOf('expires', false));
const byExpiryDescending = sql<PlacedKeyRow>('page_api_keys_by_expiry_descending', textOf('expires', true));

const pages: Readonly<Record<Exclude<KeySort, LastUsedSort>, Statement<PlacedKeyRow>>> = {
  created: byCreated,
  '-created': byCreatedDescending,
  nickname: byNickname,
  '-nickname': byNicknameDescending,
  expires: byExpiry,
  '-expires': byExpiryDescending,
};

// In the order of the index on account and nickname, so that each part reads its own keys only.
const countText = (dialect: Dialect): string =>
  `select count(*) as read, count(case when ${matches(dialect)} then 1 end) as matching, max(nickname) as last
   from (select nickname, hint, folded, disabled_at, expires_at, scopes from api_keys
     where account_pk = (select pk from accounts where id = $1) and nickname > $8 order by nickname limit $9) k`;
const countPart = sql<{ read: number; matching: number; last: string | null }>('count_listed_api_keys', {
  sqlite: countText('sqlite'),
  postgres: withTypes(countText('postgres')),
});

type LastUsedSort = Extract<KeySort, 'lastUsed' | '-lastUsed'>;

const selectIds = sql<{ id: number }>('select_listed_key_ids', {
  sqlite: `select k.id ${filtered('sqlite')}`,
  postgres: withTypes(`select k.id ${filtered('postgres')}`),
});
const selectRows = sql<KeyRow>(
  'select_listed_keys',
  onList(`select ${shownColumns} from api_keys k join accounts a on a.pk = k.account_pk where k.id in ({numbers})`),
);

/** At most `count` keys that match the filter, in the order of `sort`. */
export async function findListedKeys(
  db: Pick<Db, 'all'> & UsesOf,
  filter: KeyFilter,
  position: ListPosition & { readonly sort: KeySort },
  count: number,
): Promise<PlacedKeyRow[]> {
  const values = valuesOf(filter);
  const { sort, place, id } = position;
  if (sort !== 'lastUsed' && sort !== '-lastUsed') return db.all(pages[sort], [...values, place, id, count]);
  const ids = (await db.all(selectIds, values)).map((row) => row.id);
  return rowsOf(db, byLastUse(await findLastUsedTimes(db, ids), ids, { place: Number(place), id }, sort), count);
}

/** How many of the next keys match the filter. @param after the last nickname of the previous part; empty for the first one */
export async function countListedKeys(
  db: Pick<Db, 'get'>,
  filter: KeyFilter,
  after: string,
  rows: number,
): Promise<CountedPart<string>> {
  const { read = 0, matching = 0, last } = (await db.get(countPart, [...valuesOf(filter), after, rows])) ?? {};
  return { matching, last: read < rows ? undefined : (last ?? undefined) };
}

const valuesOf = ({ accountId, nicknamePart, hintEnd, state, now, expiringUntil, hidesReserved }: KeyFilter) => [
  accountId,
  state,
  now,
  expiringUntil,
  hintEnd,
  nicknamePart,
  hidesReserved ? 1 : 0,
];

interface PlacedId {
  readonly id: number;
  readonly place: number;
}

/** The times of last use can be in another file than the keys, so they are not ordered by SQL. @returns those after the position */
function byLastUse(
  times: ReadonlyMap<number, number>,
  ids: readonly number[],
  position: PlacedId,
  sort: LastUsedSort,
): PlacedId[] {
  const sign = sort === 'lastUsed' ? 1 : -1;
  const compare = (one: PlacedId, other: PlacedId): number => sign * (one.place - other.place || one.id - other.id);
  return ids
    .map((id) => ({ id, place: times.get(id) ?? -1 }))
    .filter((placed) => compare(placed, position) > 0)
    .toSorted(compare);
}

/** @returns the first of these keys that exist, in their order */
async function rowsOf(db: Pick<Db, 'all'>, placed: readonly PlacedId[], count: number): Promise<PlacedKeyRow[]> {
  const found: PlacedKeyRow[] = [];
  for (let start = 0; found.length < count && start < placed.length; start += count) {
    const part = placed.slice(start, start + count);
    const rows = await db.all(selectRows, [JSON.stringify(part.map(({ id }) => id))]);
    const byId = new Map(rows.map((row) => [row.id, row]));
    for (const { id, place } of part) {
      const row = byId.get(id);
      if (row) found.push({ ...row, place });
    }
  }
  return found.slice(0, count);
}
