/** Whether a principal may give a key the scopes of a change. */
import type { Reader } from '../../foundation/database/db.ts';
import { assertMayGrant, pointerIn } from '../scope-catalogue/grants.ts';
import type { KeyDetailsRow } from './change-store.ts';
import { splitScopes } from './scopes.ts';

/**
 * The scopes of a change that the key does not have yet.
 * @param grants those that the scope catalogue decides on
 * @throws DomainError `scope_not_entitled`
 */
export function assertMayAdd(
  reader: Reader,
  { accountId, scopes }: Pick<KeyDetailsRow, 'accountId' | 'scopes'>,
  grants: readonly string[],
): Promise<void> {
  const held = splitScopes(scopes);
  const added = grants.filter((scope) => !held.includes(scope));
  return assertMayGrant(reader, accountId, added, pointerIn(grants));
}
