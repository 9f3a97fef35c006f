/** The requests of an administrator for the keys of an account, and the page of one key. */
import { call } from '../../../api.ts';
import { adminText } from '../../../text/admin-text.ts';
import type { KeySource } from '../../keys/key-owner.ts';
import { KeyView } from '../../keys/key-page.tsx';
import { accountPath } from './account.tsx';

/** @param accountId of the owner */
export function keysOfAccount(accountId: string): KeySource {
  const paramsOf = (keyId: number) => ({ id: accountId, keyId });
  return {
    listPath: accountPath(accountId),
    listLabel: () => adminText.accounts.account,
    keyPath: (id) => `${accountPath(accountId)}/keys/${id}`,
    get: (id, signal) =>
      call('GET /admin/accounts/:id/api-keys/:keyId', { params: paramsOf(id), ...(signal && { signal }) }),
    // The form has no other fields.
    change: (id, body) => call('PATCH /admin/accounts/:id/api-keys/:keyId', { params: paramsOf(id), body }),
    remove: (id) => call('DELETE /admin/accounts/:id/api-keys/:keyId', { params: paramsOf(id) }),
    usage: async (id, step, from, signal) => {
      const query = { step, from: from.toISOString() };
      const { usage } = await call('GET /admin/accounts/:id/api-keys/:keyId/usage', {
        params: paramsOf(id),
        query,
        ...(signal && { signal }),
      });
      return usage;
    },
  };
}

/** The parameters are from the URL. */
export const AdministeredKeyPage = ({ id, keyId }: { readonly id: string; readonly keyId: string }) => (
  <KeyView owner={keysOfAccount(id)} id={Number(keyId)} key={keyId} />
);
