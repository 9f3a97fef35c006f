/** The keys of the account, and of a service account that the account manages. */
import { call } from '../../api.ts';
import { root } from '../../root.ts';
import { text } from '../../text/text.ts';
import { ownerRights, type KeyOwner } from './key-owner.ts';
import { keyRequests } from './key-requests.ts';
import { offeredScopes } from './offered-scopes.ts';

/** @param accountId of a service account; by default, the account of the session */
export function keysOf(accountId?: string): KeyOwner {
  const base = (
    accountId === undefined ? '/auth' : `/auth/service-accounts/${encodeURIComponent(accountId)}`
  ) as '/auth';
  const listPath = accountId === undefined ? `${root}/keys` : `${root}/service-accounts/${accountId}`;
  const keysPath = accountId === undefined ? listPath : `${listPath}/keys`;
  return {
    ...keyRequests(call, base),
    rights: ownerRights,
    listPath,
    listLabel: () => text.keys.all,
    keyPath: (id) => `${keysPath}/${id}`,
    scopes: offeredScopes(accountId === undefined),
    createWithTrust: (body, trust) => call(`POST ${base}/api-keys/public`, { body: { ...body, trust } }),
    tokens: (id, signal) => call(`GET ${base}/api-keys/:id/tokens`, { params: { id }, signal }),
  };
}
