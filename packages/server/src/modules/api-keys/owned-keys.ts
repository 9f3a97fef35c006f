/**
 * Searches the API keys of all accounts, in pages with a bounded number of reads. An index finds the keys by nickname or hint; the
 * other filters read keys in the order of their ids.
 */
import { limits, type ListTotal } from '@keyreeve/contract';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { fromCursor, sizeOf, toCursor, wantsTotal, type PageRequest } from '../../foundation/cursor.ts';
import type { Db } from '../../foundation/database/db.ts';
import { readsOf } from '../../foundation/database/read-parts.ts';
import { countInParts, toTotal } from '../../foundation/database/totals.ts';
import { fold } from '../../foundation/fold.ts';
import { toMs } from '../../foundation/query-time.ts';
import { findAfter, findHinted, findNamed, hasTrigram, type KeyIds } from './name-store.ts';
import { countOwnedKeys, listOwnedKeys, type OwnedKeyFilter, type OwnedKeyRow } from './owned-key-store.ts';

export interface OwnedKeySearch extends PageRequest {
  /** Decimal digits. */
  readonly id?: string;
  readonly hint?: string;
  readonly nickname?: string;
  readonly owner?: string;
  readonly scope?: string;
  /** RFC 3339. */
  readonly unusedSince?: string;
  readonly expiresBefore?: string;
}

interface OwnedKeyPage {
  readonly rows: OwnedKeyRow[];
  readonly nextCursor: string | null;
  /** Only if the search asks for it. */
  readonly total?: ListTotal;
}

/** @throws DomainError `invalid_request` for an invalid cursor or time, or a total of another page than the first */
export async function findOwnedKeys(db: Db, search: OwnedKeySearch): Promise<OwnedKeyPage> {
  const { id, hint = '', nickname = '', owner: accountId = '', scope = '', limit, cursor } = search;
  const hasTotal = wantsTotal(search);
  const filter = {
    nicknamePart: fold(nickname),
    hintEnd: hint,
    accountId,
    scope,
    unusedSince: toMs('unusedSince', search.unusedSince) ?? Number.MAX_SAFE_INTEGER,
    expiresBefore: toMs('expiresBefore', search.expiresBefore) ?? null,
  };
  if (id !== undefined) {
    const rows = isKeyId(id) ? await listOwnedKeys(db, [Number(id)], filter, 1) : [];
    return { rows, nextCursor: null, ...(hasTotal && { total: toTotal(rows.length) }) };
  }
  const after = cursor === undefined ? 0 : Number(fromCursor(cursor, isKeyId));
  const found = await page(db, filter, after, sizeOf(limit));
  return { ...found, ...(hasTotal && { total: await totalOf(db, filter) }) };
}

const totalOf = (db: Db, filter: OwnedKeyFilter): Promise<ListTotal> =>
  countInParts(db, 0, async (after, rows) => {
    const { ids, isLast } = await nextIds(db, filter, after, rows);
    const matching = ids.length === 0 ? 0 : await countOwnedKeys(db, ids, filter);
    return { matching, last: isLast ? undefined : ids.at(-1) };
  });

async function page(db: Db, filter: OwnedKeyFilter, after: number, size: number): Promise<OwnedKeyPage> {
  const rows: OwnedKeyRow[] = [];
  let position = after;
  for (const count of readsOf(db, size, limits.adminRowsPerPageMax)) {
    // SQLite reads synchronously: other requests run between two reads.
    if (position !== after) await nextTurn();
    const { ids, isLast } = await nextIds(db, filter, position, count);
    rows.push(...(ids.length === 0 ? [] : await listOwnedKeys(db, ids, filter, size - rows.length)));
    const [lastRow, lastId] = [rows.at(-1)?.id, ids.at(-1)];
    if (rows.length === size && !(isLast && lastRow === lastId)) return { rows, nextCursor: toCursor(String(lastRow)) };
    if (isLast || lastId === undefined) return { rows, nextCursor: null };
    position = lastId;
  }
  return { rows, nextCursor: toCursor(String(position)) };
}

/** The next keys that can match the filter. The account of an owner has few keys. */
async function nextIds(
  db: Db,
  { accountId, hintEnd, nicknamePart }: OwnedKeyFilter,
  after: number,
  count: number,
): Promise<KeyIds> {
  if (accountId !== '') return findAfter(db, accountId, after, count);
  const found =
    (hintEnd === '' ? undefined : await findHinted(db, hintEnd, after, count)) ??
    (hasTrigram(nicknamePart) ? await findNamed(db, nicknamePart, after, count) : undefined);
  return found ?? findAfter(db, '', after, count);
}

const isKeyId = (text: string): boolean => /^[1-9]\d{0,15}$/.test(text) && Number.isSafeInteger(Number(text));
