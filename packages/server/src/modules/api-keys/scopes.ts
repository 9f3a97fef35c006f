/**
 * Scopes of API keys: names that services agree on. Scopes of Keyreeve itself are granted by an operator, or by an
 * administrator to a key of the administrator's own account; then they count only while the account has that role.
 */
import { limits, scopePattern } from '@keyreeve/contract';
import type { Principal } from '../../foundation/principal.ts';
import { DomainError } from '../../foundation/errors.ts';

export const verifyScope = 'keyreeve:verify';
export const reservedPrefix = 'keyreeve:';

/** Whether any of them is a scope of Keyreeve itself. */
export const hasReserved = (scopes: readonly string[]): boolean =>
  scopes.some((scope) => scope.startsWith(reservedPrefix));

/**
 * The scopes that a key has now.
 * @param needsRole whether its scopes of Keyreeve itself count only for an administrator
 */
export function scopesInForce(scopes: string, needsRole: boolean, role: string): string {
  if (!needsRole || role === 'admin') return scopes;
  return scopes
    .split(' ')
    .filter((scope) => !scope.startsWith(reservedPrefix))
    .join(' ');
}

/** @throws DomainError `scope_invalid`, `reserved_scope` */
export function acceptScopes(principal: Principal, scopes: readonly string[]): readonly string[] {
  if (scopes.length > limits.scopesPerKeyMax || new Set(scopes).size !== scopes.length)
    throw new DomainError('scope_invalid');
  for (const [index, scope] of scopes.entries()) {
    if (!scopePattern.test(scope) || scope.length > limits.scopeCharsMax) {
      throw new DomainError('scope_invalid', {
        errors: [{ pointer: `/scopes/${index}`, detail: 'Expected a scope (RFC 6749 section 3.3).' }],
      });
    }
    if (scope.startsWith(reservedPrefix) && !mayGrantReserved(principal)) throw new DomainError('reserved_scope');
    if (scope.startsWith(reservedPrefix) && scope !== verifyScope) {
      throw new DomainError('scope_invalid', {
        detail: `Keyreeve knows no scope ${scope}; its only one is ${verifyScope}.`,
      });
    }
  }
  return scopes;
}

const mayGrantReserved = (principal: Principal): boolean =>
  principal.kind === 'operator' || (principal.kind === 'account' && principal.role === 'admin');
