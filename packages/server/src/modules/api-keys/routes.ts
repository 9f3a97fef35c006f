/** HTTP routes of API keys. */
import * as contract from '@keyreeve/contract';
import { route, type Route } from '../../http/route.ts';
import type { ApiKeys } from './api-keys.ts';
import type { KeyChanges } from './changes.ts';
import { keyIdOf, toChangeRequest, toRotationRequest, toTime } from './key-request.ts';
import { toFullKey, toKey, toKeyDetails, toRotatedKey } from './key-view.ts';

export function apiKeyRoutes(apiKeys: ApiKeys, changes: KeyChanges): readonly Route[] {
  return [
    route(contract.createKey, async ({ principal, body }) => {
      const { expiresAt, ...others } = body;
      const request = { ...others, expiresAt: toTime(expiresAt) };
      const { secret, ...key } = await apiKeys.create(principal, principal.accountId, request);
      const { id, createdAt, updatedAt } = toKey(key);
      const created: contract.CreatedKey = { id, nickname: key.nickname, key: secret.reveal(), createdAt, updatedAt };
      return { status: 201, headers: ['Location', `/auth/api-keys/${id}`], body: created };
    }),
    route(contract.listKeys, async ({ principal, query }) => {
      const { view, limit, cursor } = query;
      const toView = view === 'full' ? toFullKey : toKey;
      if (limit === undefined && cursor === undefined) {
        const keys = await apiKeys.list(principal.accountId);
        return { status: 200, body: { apiKeys: keys.map(toView) } };
      }
      const { keys, nextCursor } = await apiKeys.page(principal.accountId, query);
      return { status: 200, body: { apiKeys: keys.map(toView), nextCursor } };
    }),
    route(contract.getKey, async ({ principal, params }) => {
      const row = await changes.read(principal.accountId, keyIdOf(params.id));
      return { status: 200, body: toKeyDetails(row) };
    }),
    route(contract.changeKey, async ({ principal, params, body }) => {
      const row = await changes.change(principal, principal.accountId, keyIdOf(params.id), toChangeRequest(body));
      return { status: 200, body: toKeyDetails(row) };
    }),
    route(contract.rotateKey, async ({ principal, params, body }) => {
      const id = keyIdOf(params.id);
      const rotation = await changes.rotate(principal, principal.accountId, id, toRotationRequest(body));
      return { status: 200, body: toRotatedKey(rotation) };
    }),
    route(contract.endPreviousSecret, async ({ principal, params }) => {
      const id = keyIdOf(params.id);
      await changes.endPrevious(principal, principal.accountId, id);
      return { status: 200, body: { message: `The previous secret of API key ${id} has ended.` } };
    }),
    route(contract.deleteKey, async ({ principal, params }) => {
      const id = keyIdOf(params.id);
      await apiKeys.delete(principal, principal.accountId, id);
      return { status: 200, body: { message: `API key ${id} has been deleted.` } };
    }),
  ];
}
