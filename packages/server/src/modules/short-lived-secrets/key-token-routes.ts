/** HTTP routes of the last identity tokens of keys with a trust. */
import * as contract from '@keyreeve/contract';
import { route, type Route } from '../../http/route.ts';
import { ownAccount, type OwnerOf } from '../api-keys/key-owner.ts';
import { keyIdOf } from '../api-keys/key-request.ts';
import type { KeyTokens } from './key-tokens.ts';

/** @param ownerOf rejects callers that do not manage the service account */
export function keyTokenRoutes(keyTokens: KeyTokens, ownerOf: OwnerOf): readonly Route[] {
  const tokensRoute = (of: typeof contract.getKeyTokens | typeof contract.getServiceAccountKeyTokens, owner: OwnerOf) =>
    route(of, async (call) => ({
      status: 200,
      body: await keyTokens.list(await owner(call), keyIdOf(call.params.id)),
    }));
  return [tokensRoute(contract.getKeyTokens, ownAccount), tokensRoute(contract.getServiceAccountKeyTokens, ownerOf)];
}
