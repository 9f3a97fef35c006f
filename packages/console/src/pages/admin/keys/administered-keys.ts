/** The requests of an administrator for the keys of an account, and their path in the console. */
import { call, type ResponseOf } from '../../../api.ts';
import type { KeyOwner } from '../../keys/key-owner.ts';
import { accountPath } from '../accounts/account.tsx';

export type OwnedKey = ResponseOf<'GET /admin/api-keys'>['apiKeys'][number];

export const ownedKeyPath = ({ id, owner }: Pick<OwnedKey, 'id' | 'owner'>): string =>
  `${accountPath(owner.id)}/keys/${id}`;

/** For the dialog that deletes a key. */
export const administeredKeysOf = (accountId: string): Pick<KeyOwner, 'get' | 'usage' | 'remove'> => ({
  get: (keyId, signal) =>
    call('GET /admin/accounts/:id/api-keys/:keyId', { params: { id: accountId, keyId }, ...(signal && { signal }) }),
  usage: async (keyId, step, from, signal) => {
    const request = { params: { id: accountId, keyId }, query: { step, from: from.toISOString() } };
    return (await call('GET /admin/accounts/:id/api-keys/:keyId/usage', { ...request, ...(signal && { signal }) }))
      .usage;
  },
  remove: (keyId) => call('DELETE /admin/accounts/:id/api-keys/:keyId', { params: { id: accountId, keyId } }),
});
