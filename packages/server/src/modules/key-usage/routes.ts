/** HTTP routes of the usage of API keys, and their response, which administrators get too. */
import * as contract from '@keyreeve/contract';
import { toInstant } from '../../foundation/clock.ts';
import type { PortalPrincipal } from '../../foundation/principal.ts';
import { route, type Route } from '../../http/route.ts';
import { ownAccount, type OwnerOf } from '../api-keys/key-owner.ts';
import { keyIdOf } from '../api-keys/key-request.ts';
import type { KeyUsage, ListedUsage } from './key-usage.ts';

/** @param ownerOf rejects callers that do not manage the service account */
export function keyUsageRoutes(keyUsage: KeyUsage, ownerOf: OwnerOf): readonly Route[] {
  const usageRoute = (of: typeof contract.getKeyUsage | typeof contract.getServiceAccountKeyUsage, owner: OwnerOf) =>
    route(of, async (call) => {
      const usage = await keyUsage.list(await owner(call), keyIdOf(call.params.id), call.query);
      return { status: 200, body: toUsage(usage) };
    });
  return [usageRoute(contract.getKeyUsage, ownAccount), usageRoute(contract.getServiceAccountKeyUsage, ownerOf)];
}

/** @param ownerOf rejects keys that do not exist for the portal session */
export const portalKeyUsageRoutes = (keyUsage: KeyUsage, ownerOf: OwnerOf<PortalPrincipal>): readonly Route[] => [
  route(contract.getPortalKeyUsage, async (call) => {
    const usage = await keyUsage.list(await ownerOf(call), keyIdOf(call.params.id), call.query);
    return { status: 200, body: toUsage(usage) };
  }),
];

export const toUsage = ({ rows, uncounted }: ListedUsage): contract.KeyUsage => ({
  usage: rows.map(({ at, accepted, refused }) => ({ at: toInstant(at), accepted, refused })),
  uncounted,
});
