/** Searches the API keys of all accounts, in pages with a bounded number of reads. */
import { limits } from '@keyreeve/contract';
import { fromCursor, sizeOf, toCursor, type PageRequest } from '../../foundation/cursor.ts';
import type { Db } from '../../foundation/database/db.ts';
import { DomainError } from '../../foundation/errors.ts';
import { formsOf } from './key-list.ts';
import { findLastOwnedKey, searchOwnedKeys, type OwnedKeyRow } from './owned-key-store.ts';

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

/** @throws DomainError `invalid_request` for an invalid cursor or time */
export async function findOwnedKeys(
  db: Db,
  search: OwnedKeySearch,
): Promise<{ rows: OwnedKeyRow[]; nextCursor: string | null }> {
  const { id, hint = '', nickname = '', owner: accountId = '', scope = '', limit, cursor } = search;
  const filter = {
    nicknameParts: formsOf(nickname.normalize('NFC')),
    hintEnd: hint,
    accountId,
    scope,
    unusedSince: timeOf('unusedSince', search.unusedSince) ?? Number.MAX_SAFE_INTEGER,
    expiresBefore: timeOf('expiresBefore', search.expiresBefore) ?? null,
  };
  if (id !== undefined) {
    if (!isKeyId(id)) return { rows: [], nextCursor: null };
    const found = await searchOwnedKeys(db, filter, { after: Number(id) - 1, searchedMax: 1, limit: 1 });
    return { rows: found.filter((row) => row.id === Number(id)), nextCursor: null };
  }
  const after = cursor === undefined ? 0 : Number(fromCursor(cursor, isKeyId));
  const part = { after, searchedMax: limits.adminRowsPerPageMax, limit: sizeOf(limit) };
  const rows = await searchOwnedKeys(db, filter, part);
  const last = rows.length === part.limit ? rows.at(-1)?.id : await findLastOwnedKey(db, accountId, part);
  return { rows, nextCursor: last === undefined ? null : toCursor(String(last)) };
}

const isKeyId = (text: string): boolean => /^[1-9]\d{0,15}$/.test(text) && Number.isSafeInteger(Number(text));

function timeOf(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const ms = Date.parse(text);
  if (!Number.isNaN(ms)) return ms;
  const detail = 'Expected a time without a leap second.';
  throw new DomainError('invalid_request', { errors: [{ pointer: `/${name}`, detail }] });
}
