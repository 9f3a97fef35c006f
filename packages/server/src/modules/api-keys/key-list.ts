/** Pages of an account's API keys: all of them, oldest first, or those with a text and a state, in one of several orders. */
import { limits, type KeySort, type KeyStateName, type ListTotal } from '@keyreeve/contract';
import { dayMs } from '../../foundation/clock.ts';
import { fromCursor, sizeOf, toCursor, type PageRequest } from '../../foundation/cursor.ts';
import type { Db } from '../../foundation/database/db.ts';
import { countInParts } from '../../foundation/database/totals.ts';
import { fold } from '../../foundation/fold.ts';
import {
  countListedKeys,
  findListedKeys,
  type KeyFilter,
  type ListPosition,
  type Place,
  type PlacedKeyRow,
} from './list-store.ts';
import { pageAccountKeys, type KeyRow } from './store.ts';

export interface KeySearch extends PageRequest {
  /** Part of the nickname, or the last characters of the hint. */
  readonly search?: string | undefined;
  readonly state?: KeyStateName | undefined;
  /** Default: `created`. */
  readonly sort?: KeySort | undefined;
  /** Whether keys with reserved scopes are left out. Default: false. */
  readonly hidesReserved?: boolean | undefined;
}

/**
 * Creations and deletions between pages neither repeat nor hide other keys.
 * @throws DomainError `invalid_request` for a cursor that is not from this list
 */
export async function pageKeys(
  db: Db,
  accountId: string,
  { limit, cursor }: PageRequest,
): Promise<{ rows: KeyRow[]; nextCursor: string | null }> {
  const after = cursor === undefined ? beforeAll : placeOf(fromCursor(cursor, isPlace));
  const size = sizeOf(limit);
  // One more than the page, to learn whether there is a next page.
  const found = await pageAccountKeys(db, accountId, after, size + 1);
  const rows = found.slice(0, size);
  const last = found.length > size ? rows.at(-1) : undefined;
  return { rows, nextCursor: last === undefined ? null : toCursor(`${last.createdAt}.${last.id}`) };
}

/** A page starts after the key with this time and id. */
const beforeAll = { createdAt: -1, id: 0 } as const;

const isPlace = (text: string): boolean =>
  /^(?:0|[1-9]\d{0,15})\.[1-9]\d{0,15}$/.test(text) &&
  text.split('.').every((part) => Number.isSafeInteger(Number(part)));

function placeOf(text: string): { createdAt: number; id: number } {
  const [createdAt, id] = text.split('.').map(Number);
  return { createdAt: createdAt ?? 0, id: id ?? 0 };
}

/** @throws DomainError `invalid_request` for a cursor that is not from a list in this order */
export async function searchKeys(
  db: Db,
  now: number,
  accountId: string,
  { sort = 'created', limit, cursor, ...filtered }: KeySearch,
): Promise<{ rows: PlacedKeyRow[]; nextCursor: string | null }> {
  const after = cursor === undefined ? startOf(sort) : positionOf(sort, cursor);
  const size = sizeOf(limit);
  const filter = filterOf(now, accountId, filtered);
  // One more than the page, to learn whether there is a next page.
  const found = await findListedKeys(db, filter, { ...after, sort }, size + 1);
  const rows = found.slice(0, size);
  const last = found.length > size ? rows.at(-1) : undefined;
  return { rows, nextCursor: last === undefined ? null : toCursor(`${sort} ${last.id} ${last.place}`) };
}

/** How many keys {@link searchKeys} finds on all pages, counted up to a bound. */
export function countKeys(db: Db, now: number, accountId: string, search: KeySearch): Promise<ListTotal> {
  const filter = filterOf(now, accountId, search);
  return countInParts(db, '', (after, rows) => countListedKeys(db, filter, after, rows));
}

function filterOf(
  now: number,
  accountId: string,
  { search = '', state, hidesReserved = false }: Pick<KeySearch, 'search' | 'state' | 'hidesReserved'>,
): KeyFilter {
  const text = search.normalize('NFC');
  const expiringUntil = now + limits.firstExpiryNoticeDays * dayMs;
  return { accountId, nicknamePart: fold(text), hintEnd: text, state: state ?? '', now, expiringUntil, hidesReserved };
}

const isNumeric = (sort: KeySort): boolean => !sort.endsWith('nickname');

/** The position before all keys. */
function startOf(sort: KeySort): ListPosition {
  const isDescending = sort.startsWith('-');
  if (isNumeric(sort))
    return isDescending ? { place: Number.MAX_SAFE_INTEGER, id: Number.MAX_SAFE_INTEGER } : { place: -2, id: 0 };
  // No nickname contains the last code point, because it is not a character.
  return { place: isDescending ? '\u{10FFFF}' : '', id: 0 };
}

const cursorForm = /^(-?[a-zA-Z]+) ([1-9]\d{0,15}) (\P{Cc}+)$/u;

/** @throws DomainError `invalid_request` */
function positionOf(sort: KeySort, cursor: string): ListPosition {
  let position: ListPosition = startOf(sort);
  fromCursor(cursor, (text) => {
    const [, name, id = '', place = ''] = cursorForm.exec(text) ?? [];
    if (name !== sort || !Number.isSafeInteger(Number(id))) return false;
    const value: Place = isNumeric(sort) ? Number(place) : place;
    position = { place: value, id: Number(id) };
    return typeof value === 'string' || (/^(?:-1|0|[1-9]\d{0,15})$/.test(place) && Number.isSafeInteger(value));
  });
  return position;
}
