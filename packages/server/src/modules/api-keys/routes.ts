/** HTTP routes of API keys. */
import * as contract from '@keyreeve/contract';
import { DomainError } from '../../foundation/errors.ts';
import { route, type Route } from '../../http/route.ts';
import type { ApiKeys } from './api-keys.ts';
import { parseKeyId, toFullKey, toKey } from './key-view.ts';

export function apiKeyRoutes(apiKeys: ApiKeys): readonly Route[] {
  return [
    route(contract.createKey, async ({ principal, body }) => {
      const { nickname, scopes = [], expiresAt = null } = body;
      const request = { nickname, scopes, expiresAt: expiresAt === null ? null : Date.parse(expiresAt) };
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
    route(contract.deleteKey, async ({ principal, params }) => {
      const id = parseKeyId(params.id);
      if (id === undefined) throw new DomainError('key_not_found');
      await apiKeys.delete(principal, principal.accountId, id);
      return { status: 200, body: { message: `API key ${id} has been deleted.` } };
    }),
  ];
}
