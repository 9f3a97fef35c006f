/** Requests of `one-connection.ts` to the routes for issuers of identity tokens. */
import assert from 'node:assert/strict';
import { publicKeyExample } from '@keyreeve/contract';
import { administer, newAdministrator } from '../../../test-kit/administrators.ts';
import type { Answered, TestApp } from '../../../test-kit/new-app.ts';
import { newBackend } from '../../../test-kit/service-accounts.ts';

interface Stage {
  readonly client: { readonly app: TestApp };
}
type Send = (stage: Stage) => Promise<Answered>;

let urls = 0;
/** With a fixed JWK set, so that nothing is fetched. */
const newIssuer = (): object => ({
  url: `https://issuer${++urls}.example.com`,
  algorithms: ['EdDSA'],
  jwks: { keys: [publicKeyExample] },
});
const change = { lifetimeSeconds: 60 };

/** One for each route, by its id. @param newEmail returns the email address of a new account */
export function issuerRequests(newEmail: () => string): Readonly<Record<string, Send>> {
  const administered =
    (method: string, path: (id: string) => string, json?: object): Send =>
    async ({ client: { app } }) => {
      const administrator = await newAdministrator(app, newEmail());
      const added = await administer(app, administrator, 'POST', 'issuers', newIssuer());
      assert.equal(added.status, 201, added.text);
      const { id } = added.json as { id: number };
      return administer(app, administrator, method, `issuers${path(String(id))}`, json);
    };
  const managed =
    (method: string, path: (id: string) => string, json?: object): Send =>
    async ({ client: { app } }) => {
      const { path: of, headers } = await newBackend(app, {}, newEmail());
      const added = await app.call('POST', `${of}/issuers`, { headers, json: newIssuer() });
      assert.equal(added.status, 201, added.text);
      const { id } = added.json as { id: number };
      return app.call(method, `${of}/issuers${path(String(id))}`, { headers, ...(json && { json }) });
    };
  return {
    adminListIssuers: administered('GET', () => ''),
    adminAddIssuer: administered('POST', () => '', newIssuer()),
    adminGetIssuer: administered('GET', (id) => `/${id}`),
    adminChangeIssuer: administered('PATCH', (id) => `/${id}`, change),
    adminRefreshIssuer: administered('POST', (id) => `/${id}/refresh`),
    adminRemoveIssuer: administered('DELETE', (id) => `/${id}`),
    listServiceAccountIssuers: managed('GET', () => ''),
    addServiceAccountIssuer: managed('POST', () => '', newIssuer()),
    getServiceAccountIssuer: managed('GET', (id) => `/${id}`),
    changeServiceAccountIssuer: managed('PATCH', (id) => `/${id}`, change),
    removeServiceAccountIssuer: managed('DELETE', (id) => `/${id}`),
  };
}
