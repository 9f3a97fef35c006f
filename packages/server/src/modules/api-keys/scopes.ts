/**
 * Scopes of API keys. Services choose their own names. A reserved scope (of Keyreeve itself) is granted by an operator. An
 * administrator grants `keyreeve:verify` to a key of the administrator's own account, too: then it is in force only while
 * the account has that role.
 */
import { limits, scopePattern } from '@keyreeve/contract';
import type { Principal } from '../../foundation/principal.ts';
import { DomainError } from '../../foundation/errors.ts';
import { canaryScope, manageScope } from '../service-accounts/acting-store.ts';

export { canaryScope, manageScope };
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
 * @param accountId the account that owns the key
 * @param held scopes that the key has already, which any principal may keep
 * @throws DomainError `scope_invalid`, `reserved_scope`
 */
export function validateScopes(
  principal: Principal,
  accountId: string,
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
    if (scope.startsWith(reservedPrefix) && !held.includes(scope) && !mayGrantReserved(principal, accountId, scope))
      throw new DomainError('reserved_scope');
    if (scope === canaryScope && !held.includes(scope)) {
      throw new DomainError('reserved_scope', {
        detail: `Only \`keyreeve prove-revocation credential\` creates a key with the scope ${canaryScope}.`,
      });
    }
    if (scope.startsWith(reservedPrefix) && scope !== canaryScope && scope !== verifyScope && scope !== manageScope) {
      throw new DomainError('scope_invalid', {
        detail: `${scope} is not a scope of Keyreeve; its scopes are ${verifyScope} and ${manageScope}.`,
      });
    }
  }
  return scopes;
}

/**
 * Requests to Keyreeve accept only keys of the first environment, so a reserved scope would have no effect on another key.
 * @param environment as stored in the key
 * @throws DomainError `invalid_request`
 */
export function assertFirstEnvironment(scopes: readonly string[], environment: string | null): void {
  if (environment === null || !hasReservedScope(scopes)) return;
  throw new DomainError('invalid_request', {
    detail: `Only keys of the first environment can have scopes that begin with ${reservedPrefix}, because Keyreeve accepts no other keys from its clients.`,
    errors: scopes.flatMap((scope, index) =>
      scope.startsWith(reservedPrefix)
        ? [{ pointer: `/scopes/${index}`, detail: `Not possible for a key of the environment ${environment}.` }]
        : [],
    ),
  });
}

/**
 * Clients of a key with a public key or a trust hold short-lived secrets, which the transactions of a management key do not find.
 * @throws DomainError `reserved_scope`
 */
export function assertNoReservedScope(scopes: readonly string[]): void {
  if (hasReservedScope(scopes))
    throw new DomainError('reserved_scope', {
      detail: `A key with a public key or a trust cannot have scopes that begin with ${reservedPrefix}.`,
    });
}

/**
 * The scopes that the catalogue decides on: accounts and management keys can grant only declared scopes. Operators can grant
 * any.
 * @param hasCatalogue whether the scope catalogue is enforced
 */
export const scopesToGrant = (
  principal: Principal,
  scopes: readonly string[],
  hasCatalogue: boolean,
): readonly string[] =>
  hasCatalogue && principal.kind !== 'operator' ? scopes.filter((scope) => !scope.startsWith(reservedPrefix)) : [];

/** A leaked access token must not yield a management key, so not even administrators grant `keyreeve:keys`. */
const mayGrantReserved = (principal: Principal, accountId: string, scope: string): boolean =>
  principal.kind === 'operator' ||
  (principal.kind === 'account' &&
    principal.role === 'admin' &&
    principal.accountId === accountId &&
    scope !== manageScope);

/** @param held separated by spaces */
export function hasScopes(held: string, wanted: readonly string[]): boolean {
  if (wanted.length > 1) return isSubset(wanted, held.split(' '));
  const [scope] = wanted;
  return scope === undefined || hasScope(held, scope);
}

const isSubset = (some: readonly string[], all: readonly string[]): boolean =>
  some.every((element) => all.includes(element));

/** @param scopes separated by spaces */
function hasScope(scopes: string, wanted: string): boolean {
  return scopes === wanted || (scopes !== '' && scopes.split(' ').includes(wanted));
}
