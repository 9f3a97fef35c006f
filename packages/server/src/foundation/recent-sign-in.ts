/** The sign-in that sensitive operations require. */
import { limits } from '@keyreeve/contract/limits';
import { DomainError } from './errors.ts';
import type { Principal } from './principal.ts';
import { isRecent } from './recent.ts';

/**
 * Principals other than accounts do not sign in.
 * @param now milliseconds
 * @throws DomainError `reauth_required` if an account has not signed in recently
 */
export function assertRecentSignIn(principal: Principal, now: number): void {
  if (principal.kind !== 'account') return;
  if (!isRecent(now, principal.signedInAt ?? 0, limits.recentSignInSeconds * 1000))
    throw new DomainError('reauth_required');
}
