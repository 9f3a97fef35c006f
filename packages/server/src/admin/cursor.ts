/** Cursors of pages: where the next one begins, in a form that nobody builds upon. */
import { DomainError } from '../errors.ts';

export const toCursor = (text: string): string => Buffer.from(text).toString('base64url');

/** @param isGood of what a page of this kind can end with @throws DomainError `invalid_request` */
export function fromCursor(cursor: string, isGood: (text: string) => boolean): string {
  const text = Buffer.from(cursor, 'base64url').toString('utf8');
  if (toCursor(text) !== cursor || !isGood(text)) {
    throw new DomainError('invalid_request', { detail: 'The cursor is not one of this list.' });
  }
  return text;
}
