/** Pages of lists: their size, and opaque cursors that name the last entry of a page. */
import { limits } from '@keyreeve/contract/limits';
import { DomainError, invalidAt } from './errors.ts';

export interface PageRequest {
  /** Decimal digits, 1 to 100. */
  readonly limit?: string;
  readonly cursor?: string;
  /** Asks for the number of entries of all pages. */
  readonly total?: 'true';
}

export const sizeOf = (limit: string | undefined): number =>
  limit === undefined ? limits.adminPageMax : Number(limit);

/** @returns whether the request asks for a total @throws DomainError `invalid_request` for another page than the first */
export function wantsTotal({ cursor, total }: PageRequest): boolean {
  if (total !== undefined && cursor !== undefined) throw invalidAt('/total', 'Do not send `cursor` with it.');
  return total !== undefined;
}

export const toCursor = (text: string): string => Buffer.from(text).toString('base64url');

/** @param isValid whether a page of this list can end with the text @throws DomainError `invalid_request` */
export function fromCursor(cursor: string, isValid: (text: string) => boolean): string {
  const text = Buffer.from(cursor, 'base64url').toString('utf8');
  if (toCursor(text) !== cursor || !isValid(text)) {
    throw new DomainError('invalid_request', { detail: 'The cursor does not belong to this list.' });
  }
  return text;
}
