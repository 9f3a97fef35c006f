/** The requests of an administrator for the keys of an account, and their path in the console. */
import { accountNames, labelOf, nameAccounts } from '../../../account-names.ts';
import { call, type ResponseOf } from '../../../api.ts';
import { text } from '../../../text/text.ts';
import { ownerRights, type KeySource } from '../../keys/key-owner.ts';
import { accountPath } from '../accounts/account.tsx';

export type OwnedKey = ResponseOf<'GET /admin/api-keys'>['apiKeys'][number];

const keyPathOf = (accountId: string, keyId: number): string => `${accountPath(accountId)}/keys/${keyId}`;

export const ownedKeyPath = ({ id, owner }: Pick<OwnedKey, 'id' | 'owner'>): string => keyPathOf(owner.id, id);

/** @param accountId of the owner */
export function administeredKeysOf(accountId: string): KeySource {
  const requestOf = (keyId: number, signal?: AbortSignal) => ({
    params: { id: accountId, keyId },
    ...(signal && { signal }),
  });
  return {
    rights: { ...ownerRights, create: false, rename: false, scopes: false, rotate: () => false },
    listPath: accountPath(accountId),
    listLabel: () => (accountNames.value.get(accountId) ? labelOf(accountId) : text.general.account),
    keyPath: (id) => keyPathOf(accountId, id),
    get: async (id, signal = new AbortController().signal) => {
      const [key] = await Promise.all([
        call('GET /admin/accounts/:id/api-keys/:keyId', requestOf(id, signal)),
        nameAccounts([accountId], signal),
      ]);
      return key;
    },
    // The form of administrators has only the members that this route accepts.
    change: (id, body) => call('PATCH /admin/accounts/:id/api-keys/:keyId', { ...requestOf(id), body }),
    remove: (id) => call('DELETE /admin/accounts/:id/api-keys/:keyId', requestOf(id)),
    tokens: (id, signal) => call('GET /admin/accounts/:id/api-keys/:keyId/tokens', requestOf(id, signal)),
    usage: (id, step, from, signal) => {
      const query = { step, from: from.toISOString() };
      return call('GET /admin/accounts/:id/api-keys/:keyId/usage', { ...requestOf(id, signal), query });
    },
  };
}
