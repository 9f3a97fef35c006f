/** The expiry that a request sets. */
import { DomainError } from '../../foundation/errors.ts';

/** @param expiresAt milliseconds since 1970; null for never @throws DomainError `invalid_request` unless it is in the future */
export function assertFuture(expiresAt: number | null, now: number): void {
  // Not `<=`: Date.parse returns NaN for the leap seconds of RFC 3339, and such a key would never expire.
  if (expiresAt === null || expiresAt > now) return;
  throw new DomainError('invalid_request', {
    errors: [{ pointer: '/expiresAt', detail: 'It must be in the future.' }],
  });
}
