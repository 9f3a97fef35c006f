/**
 * Scopes of API keys. Services choose their own names. A reserved scope (of Keyreeve itself) is granted by an operator, or
 * by an administrator to a key of the administrator's own account. The latter is in force only while the account has that
 * role.
 */
import { limits, scopePattern } from '@keyreeve/contract';
import type { Principal } from '../../foundation/principal.ts';
import { DomainError } from '../../foundation/errors.ts';

export const verifyScope = 'keyreeve:verify';
export const reservedPrefix = 'keyreeve:';

export const splitScopes = (scopes: string): string[] => (scopes === '' ? [] : scopes.split(' '));

export const hasReservedScope = (scopes: readonly string[]): boolean =>
  scopes.some((scope) => scope.startsWith(reservedPrefix));

/**
 * The scopes in force, separated by spaces.
 * @param needsRole whether reserved scopes are in force only while the owner is an administrator
 */
export function scopesInForce(scopes: string, needsRole: boolean, role: string): string {
  if (!needsRole || role === 'admin') return scopes;
  return scopes
    .split(' ')
    .filter((scope) => !scope.startsWith(reservedPrefix))
    .join(' ');
}

/**
 * @param held scopes that the key has already, which any principal may keep
 * @throws DomainError `scope_invalid`, `reserved_scope`
 */
export function validateScopes(
  principal: Principal,
  scopes: readonly string[],
  held: readonly string[] = [],
): readonly string[] {
  if (scopes.length > limits.scopesPerKeyMax || new Set(scopes).size !== scopes.length)
    throw new DomainError('scope_invalid');
  for (const [index, scope] of scopes.entries()) {
    if (!scopePattern.test(scope) || scope.length > limits.scopeCharsMax) {
      throw new DomainError('scope_invalid', {
        errors: [{ pointer: `/scopes/${index}`, detail: 'Expected a scope (RFC 6749 section 3.3).' }],
      });
    }
    if (scope.startsWith(reservedPrefix) && !held.includes(scope) && !mayGrantReserved(principal))
      throw new DomainError('reserved_scope');
    if (scope.startsWith(reservedPrefix) && scope !== verifyScope) {
      throw new DomainError('scope_invalid', {
        detail: `${scope} is not a scope of Keyreeve; its only scope is ${verifyScope}.`,
      });
    }
  }
  return scopes;
}

/**
 * The scopes that the catalogue decides on: an account can grant only declared scopes. Operators can grant any.
 * @param hasCatalogue whether the scope catalogue is enforced
 */
export const scopesToGrant = (
  principal: Principal,
  scopes: readonly string[],
  hasCatalogue: boolean,
): readonly string[] =>
  hasCatalogue && principal.kind === 'account' ? scopes.filter((scope) => !scope.startsWith(reservedPrefix)) : [];

const mayGrantReserved = (principal: Principal): boolean =>
  principal.kind === 'operator' || (principal.kind === 'account' && principal.role === 'admin');
