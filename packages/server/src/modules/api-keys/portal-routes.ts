/** HTTP routes of the keys of a portal session: the requests of own keys, within the capabilities and scopes of the session. */
import * as contract from '@keyreeve/contract';
import type { PortalPrincipal } from '../../foundation/principal.ts';
import { route, type Route } from '../../http/route.ts';
import type { ApiKeys } from './api-keys.ts';
import type { KeyChanges } from './changes.ts';
import { nameOfKind } from './client-identity.ts';
import type { OwnerOf } from './key-owner.ts';
import { keyIdOf, toChangeRequest, toRotationRequest, toTime } from './key-request.ts';
import { toKey, toKeyDetails, toRotatedKey } from './key-view.ts';
import { assertMayChange } from './portal-capabilities.ts';
import { list, type RecentUsageOf } from './routes.ts';
import type { ShownKey } from './shown-key.ts';

/** @param ownerOf rejects keys that do not exist for the session */
export function portalKeyRoutes(
  ownerOf: OwnerOf<PortalPrincipal>,
  apiKeys: ApiKeys,
  changes: KeyChanges,
  recentUsage: RecentUsageOf,
): readonly Route[] {
  return [
    route(contract.createPortalKey, async (call) => {
      const { expiresAt, ...others } = call.body;
      const request = { ...others, expiresAt: toTime(expiresAt) };
      const { secret, ...key } = await apiKeys.create(call.principal, await ownerOf(call), request);
      const { id, nickname, createdAt, updatedAt } = toKey(key);
      const body = { id, nickname, key: secret.reveal(), createdAt, updatedAt };
      return { status: 201, headers: ['Location', `${contract.createPortalKey.path}/${id}`], body };
    }),
    route(contract.listPortalKeys, async (call) => {
      return {
        status: 200,
        body: await list(apiKeys, await ownerOf(call), call.query, { recentUsage, hidesReserved: true }),
      };
    }),
    route(contract.getPortalKey, async (call) => {
      return { status: 200, body: shown(await changes.read(await ownerOf(call), keyIdOf(call.params.id))) };
    }),
    route(contract.changePortalKey, async (call) => {
      assertMayChange(Object.keys(call.body), call.principal);
      const accountId = await ownerOf(call);
      const row = await changes.change(call.principal, accountId, keyIdOf(call.params.id), toChangeRequest(call.body));
      return { status: 200, body: shown(row) };
    }),
    route(contract.rotatePortalKey, async (call) => {
      const accountId = await ownerOf(call);
      const request = toRotationRequest(call.body);
      const rotation = await changes.rotate(call.principal, accountId, keyIdOf(call.params.id), request);
      return { status: 200, body: toRotatedKey(rotation) };
    }),
    route(contract.endPortalKeyPreviousSecret, async (call) => {
      const accountId = await ownerOf(call);
      const id = keyIdOf(call.params.id);
      const ended = nameOfKind(await changes.endPrevious(call.principal, accountId, id));
      return { status: 200, body: { message: `The previous ${ended} of API key ${id} has ended.` } };
    }),
    route(contract.deletePortalKey, async (call) => {
      const accountId = await ownerOf(call);
      const id = keyIdOf(call.params.id);
      await apiKeys.delete(call.principal, accountId, id);
      return { status: 200, body: { message: `API key ${id} has been deleted.` } };
    }),
  ];
}

function shown(row: ShownKey): contract.PortalKeyDetails {
  const { metadata: _, ...details } = toKeyDetails(row);
  return details;
}
