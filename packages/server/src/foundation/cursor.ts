/** Pages of lists: how many entries, and cursors, which name the last entry in a form that clients do not build on. */
import { limits } from '@keyreeve/contract';
import { DomainError } from './errors.ts';

export interface PageRequest {
  /** Decimal digits, 1 to 100. */
  readonly limit?: string;
  readonly cursor?: string;
}

export const sizeOf = (limit: string | undefined): number =>
  limit === undefined ? limits.adminPageMax : Number(limit);

export const toCursor = (text: string): string => Buffer.from(text).toString('base64url');

/** @param isGood of what a page of this kind can end with @throws DomainError `invalid_request` */
export function fromCursor(cursor: string, isGood: (text: string) => boolean): string {
  const text = Buffer.from(cursor, 'base64url').toString('utf8');
  if (toCursor(text) !== cursor || !isGood(text)) {
    throw new DomainError('invalid_request', { detail: 'The cursor is not one of this list.' });
  }
  return text;
}
