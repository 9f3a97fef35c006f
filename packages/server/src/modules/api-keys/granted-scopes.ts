/** Whether a principal may give a key the scopes of a creation, of a change, or of a rotation. */
import type { Reader } from '../../foundation/database/db.ts';
import { DomainError } from '../../foundation/errors.ts';
import type { Principal } from '../../foundation/principal.ts';
import { assertMayGrant, mayGrant, pointerIn } from '../scope-catalogue/grants.ts';
import type { KeyDetailsRow } from './change-store.ts';
import { scopesToGrant, splitScopes } from './scopes.ts';

type HeldScopes = Pick<KeyDetailsRow, 'accountId' | 'scopes'>;

/**
 * A portal session gives no scopes except its own. These never change, so no transaction checks them again.
 * @param scopes all scopes of the key after a creation or change
 * @throws DomainError `scope_not_entitled`
 */
export function assertInSession(principal: Principal, scopes: readonly string[]): void {
  const others = beyondSession(principal, scopes);
  if (others.length === 0) return;
  throw new DomainError('scope_not_entitled', {
    detail: `The portal session cannot give a key ${others.length === 1 ? 'this scope' : 'these scopes'}: ${others.join(', ')}.`,
    errors: others.map((name) => ({
      pointer: pointerIn(scopes)(name),
      detail: 'Not a scope of the portal session.',
      code: 'not_grantable',
    })),
  });
}

/**
 * Of a change of scopes. A portal session must be able to give all of them: it cannot give a key again what the service
 * account has lost.
 * @param grants the scopes after the change that the scope catalogue decides on
 * @throws DomainError `scope_not_entitled`
 */
export function assertMayAdd(
  reader: Reader,
  principal: Principal,
  { accountId, scopes }: HeldScopes,
  grants: readonly string[],
): Promise<void> {
  const held = principal.kind === 'portal' ? [] : splitScopes(scopes);
  const added = grants.filter((scope) => !held.includes(scope));
  return assertMayGrant(reader, accountId, added, pointerIn(grants));
}

/**
 * A rotation by a portal session hands out a secret with all scopes of the key, also with those that are not in force now and
 * may be later. Other principals have no such bound.
 * @throws DomainError `scope_not_entitled`
 */
export async function assertMayHandOut(
  reader: Reader,
  principal: Principal,
  { accountId, scopes }: HeldScopes,
  hasCatalogue: boolean,
): Promise<void> {
  if (principal.kind !== 'portal') return;
  const held = splitScopes(scopes);
  const isOfSession = beyondSession(principal, held).length === 0;
  if (isOfSession && (await mayGrant(reader, accountId, scopesToGrant(principal, held, hasCatalogue)))) return;
  throw new DomainError('scope_not_entitled', {
    detail: 'The portal session cannot give a key all scopes of this one, so it cannot hand out another secret of it.',
  });
}

const beyondSession = (principal: Principal, scopes: readonly string[]): readonly string[] =>
  principal.kind === 'portal' && principal.scopes !== undefined
    ? scopes.filter((scope) => principal.scopes?.includes(scope) === false)
    : [];
