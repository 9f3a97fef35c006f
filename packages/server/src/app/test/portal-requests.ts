/** Requests of backends and of the key page that succeed, one for each route of portal sessions. */
import type { AccountClient } from '../../../test-kit/account-client.ts';
import type { Answered } from '../../../test-kit/new-app.ts';
import { newPortalBackend, redeem, stateOf } from '../../../test-kit/portal.ts';

type Send = (stage: { readonly client: AccountClient }) => Promise<Answered>;

/** A request of the key page about the keys of its service account. @param path of the first key, which has a previous secret */
const ofKeys =
  (method: string, path: ((key: string) => string) | undefined, json?: object): Send =>
  async ({ client: { app } }) => {
    const { headers } = await (await newPortalBackend(app)).open();
    const keys = '/auth/portal/api-keys';
    if (!path) return app.call(method, keys, { headers, ...(json && { json }) });
    const created = await app.call('POST', keys, { headers, json: { nickname: 'first' } });
    const key = `${keys}/${(created.json as { id: number }).id}`;
    await app.call('POST', `${key}/rotate`, { headers });
    return app.call(method, path(key), { headers, ...(json && { json }) });
  };

export const portalRequests: Readonly<Record<string, Send>> = {
  createPortalSession: async ({ client: { app } }) => (await newPortalBackend(app)).request(),
  endPortalSession: async ({ client: { app } }) => {
    const backend = await newPortalBackend(app);
    const { id } = await backend.create();
    return app.call('DELETE', `/auth/portal-sessions/${id}`, { headers: backend.headers });
  },
  redeemPortalToken: async ({ client: { app } }) => redeem(app, await (await newPortalBackend(app)).create()),
  getPortalSession: async ({ client: { app } }) => stateOf(app, await (await newPortalBackend(app)).open()),
  endOwnPortalSession: async ({ client: { app } }) => {
    const { headers } = await (await newPortalBackend(app)).open();
    return app.call('DELETE', '/auth/portal/session', { headers });
  },
  createPortalKey: ofKeys('POST', undefined, { nickname: 'second' }),
  listPortalKeys: ofKeys('GET', undefined),
  getPortalKey: ofKeys('GET', (key) => key),
  changePortalKey: ofKeys('PATCH', (key) => key, { nickname: 'changed' }),
  rotatePortalKey: ofKeys('POST', (key) => `${key}/rotate`, { endPrevious: true }),
  endPortalKeyPreviousSecret: ofKeys('DELETE', (key) => `${key}/previous`),
  getPortalKeyUsage: ofKeys('GET', (key) => `${key}/usage`),
  deletePortalKey: ofKeys('DELETE', (key) => key),
};
