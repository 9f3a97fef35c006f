/** Searches an account's API keys: by text and state, in one of several orders, in pages. */
import { limits, type KeySort, type KeyStateName } from '@keyreeve/contract';
import { dayMs } from '../../foundation/clock.ts';
import { fromCursor, sizeOf, toCursor, type PageRequest } from '../../foundation/cursor.ts';
import type { Db } from '../../foundation/database/db.ts';
import { fold } from '../../foundation/fold.ts';
import { findListedKeys, type ListPosition, type Place, type PlacedKeyRow } from './list-store.ts';

export interface KeySearch extends PageRequest {
  /** Part of the nickname, or the last characters of the hint. */
  readonly search?: string | undefined;
  readonly state?: KeyStateName | undefined;
  /** Default: `created`. */
  readonly sort?: KeySort | undefined;
}

/** @throws DomainError `invalid_request` for a cursor that is not from a list in this order */
export async function searchKeys(
  db: Db,
  now: number,
  accountId: string,
  { search = '', state, sort = 'created', limit, cursor }: KeySearch,
): Promise<{ rows: PlacedKeyRow[]; nextCursor: string | null }> {
  const after = cursor === undefined ? startOf(sort) : positionOf(sort, cursor);
  const size = sizeOf(limit);
  const text = search.normalize('NFC');
  const expiringUntil = now + limits.firstExpiryNoticeDays * dayMs;
  const parts = { nicknamePart: fold(text), hintEnd: text, state: state ?? ('' as const) };
  const filter = { accountId, ...parts, now, expiringUntil };
  // One more than the page, to learn whether there is a next page.
  const found = await findListedKeys(db, filter, { ...after, sort }, size + 1);
  const rows = found.slice(0, size);
  const last = found.length > size ? rows.at(-1) : undefined;
  return { rows, nextCursor: last === undefined ? null : toCursor(`${sort} ${last.id} ${last.place}`) };
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
