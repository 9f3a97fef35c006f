/** Pages of lists: their size, and opaque cursors that name the last entry of a page. */
import { limits } from '@keyreeve/contract/limits';
import { DomainError } from './errors.ts';

export interface PageRequest {
  /** Decimal digits, 1 to 100. */
  readonly limit?: string;
  readonly cursor?: string;
}

export const sizeOf = (limit: string | undefined): number =>
  limit === undefined ? limits.adminPageMax : Number(limit);

export const toCursor = (text: string): string => Buffer.from(text).toString('base64url');

/** @param isValid whether a page of this list can end with the text @throws DomainError `invalid_request` */
export function fromCursor(cursor: string, isValid: (text: string) => boolean): string {
  const text = Buffer.from(cursor, 'base64url').toString('utf8');
  if (toCursor(text) !== cursor || !isValid(text)) {
    throw new DomainError('invalid_request', { detail: 'The cursor does not belong to this list.' });
  }
  return text;
}
