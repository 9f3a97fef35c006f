/** Scopes of API keys: names that services agree on. Those of Keyreeve itself are granted by an operator only. */
import { limits, scopePattern } from '@keyreeve/contract';
import type { Principal } from '../audit/audit.ts';
import { DomainError } from '../errors.ts';

export const verifyScope = 'keyreeve:verify';
export const reservedPrefix = 'keyreeve:';

/** @throws DomainError `scope_invalid`, `reserved_scope` */
export function acceptScopes(principal: Principal, scopes: readonly string[]): readonly string[] {
  if (scopes.length > limits.scopesPerKeyMax || new Set(scopes).size !== scopes.length)
    throw new DomainError('scope_invalid');
  for (const [index, scope] of scopes.entries()) {
    if (!scopePattern.test(scope) || scope.length > limits.scopeCharsMax) {
      throw new DomainError('scope_invalid', {
        errors: [{ pointer: `/scopes/${index}`, detail: 'It is not a scope.' }],
      });
    }
    if (scope.startsWith(reservedPrefix) && principal.kind !== 'operator') throw new DomainError('reserved_scope');
    if (scope.startsWith(reservedPrefix) && scope !== verifyScope) {
      throw new DomainError('scope_invalid', {
        detail: `Keyreeve knows no scope ${scope}; its only one is ${verifyScope}.`,
      });
    }
  }
  return scopes;
}
