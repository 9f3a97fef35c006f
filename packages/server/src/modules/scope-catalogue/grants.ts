/** Which scopes an account may give to its keys. */
import type { Reader } from '../../foundation/database/db.ts';
import { DomainError } from '../../foundation/errors.ts';
import { findRefusedScopes } from './store.ts';

/** @returns the JSON pointers of scopes in the member `scopes` of a body */
export const pointerIn =
  (scopes: readonly string[]) =>
  (scope: string): string =>
    `/scopes/${scopes.indexOf(scope)}`;

/** @param scopes without reserved ones */
export const mayGrant = async (reader: Reader, accountId: string, scopes: readonly string[]): Promise<boolean> =>
  (await findRefusedScopes(reader, accountId, scopes)).length === 0;

/**
 * @param scopes without reserved ones, which are not in the catalogue
 * @param pointerOf the JSON pointer of a scope
 * @throws DomainError `scope_not_entitled` for a scope that is not declared, or that needs an entitlement that the account
 *   lacks
 */
export async function assertMayGrant(
  reader: Reader,
  accountId: string,
  scopes: readonly string[],
  pointerOf: (scope: string) => string,
): Promise<void> {
  const refused = await findRefusedScopes(reader, accountId, scopes);
  if (refused.length === 0) return;
  const names = refused.flatMap((position) => scopes[position] ?? []);
  throw new DomainError('scope_not_entitled', {
    detail: `The account cannot give its keys ${names.length === 1 ? 'this scope' : 'these scopes'}: ${names.join(', ')}.`,
    errors: names.map((name) => ({
      pointer: pointerOf(name),
      detail: 'Not declared, or needs an entitlement.',
      code: 'not_grantable',
    })),
  });
}
