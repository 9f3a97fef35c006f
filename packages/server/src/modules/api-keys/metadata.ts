/** The owner's own data about a key. */
import { limits } from '@keyreeve/contract';
import { DomainError } from '../../foundation/errors.ts';

/** @returns JSON; null for no metadata @throws DomainError `invalid_request` if it is too long or has half a character */
export function toMetadata(value: object | null): string | null {
  if (value === null) return null;
  const text = JSON.stringify(value);
  if (Buffer.byteLength(text) > limits.keyMetadataBytesMax)
    throw new DomainError('invalid_request', {
      errors: [{ pointer: '/metadata', detail: `Expected at most ${limits.keyMetadataBytesMax} bytes as JSON.` }],
    });
  return text;
}
