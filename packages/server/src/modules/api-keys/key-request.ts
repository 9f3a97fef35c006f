/** API keys in requests and in the arguments of the command line. */
import type { KeyChangeBody } from '@keyreeve/contract';
import { DomainError } from '../../foundation/errors.ts';
import type { KeyChangeRequest } from './changed-key.ts';

/**
 * Parses decimal digits without a leading zero, up to 2^53 − 1.
 * @param detail of the error
 * @throws DomainError `key_not_found` for any other text
 */
export function keyIdOf(text: string, detail?: string): number {
  const id = /^[1-9]\d{0,15}$/.test(text) ? Number(text) : Number.NaN;
  if (!Number.isSafeInteger(id)) throw new DomainError('key_not_found', detail === undefined ? {} : { detail });
  return id;
}

/** The change that a body requests. */
export function toChangeRequest({ expiresAt: text, ...others }: KeyChangeBody): KeyChangeRequest {
  const expiresAt = toTime(text);
  return expiresAt === undefined ? others : { ...others, expiresAt };
}

/** @returns milliseconds since 1970, NaN for a leap second; null and undefined as they are */
export const toTime = (text: string | null | undefined): number | null | undefined =>
  typeof text === 'string' ? Date.parse(text) : text;
