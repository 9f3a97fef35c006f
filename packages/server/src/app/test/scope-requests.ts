/** Requests of `one-connection.ts` to the routes for the scope catalogue. */
import assert from 'node:assert/strict';
import { administer, newAdministrator } from '../../../test-kit/administrators.ts';
import type { Answered, TestApp } from '../../../test-kit/new-app.ts';

type Send = (stage: { readonly client: { readonly app: TestApp } }) => Promise<Answered>;

/** One for each route, by its id. @param newEmail returns the email address of a new account */
export function scopeRequests(newEmail: () => string): Readonly<Record<string, Send>> {
  /** A request of a new administrator about a declared scope. */
  const ofScope =
    (method: string, path: string, json?: object): Send =>
    async ({ client: { app } }) => {
      const administrator = await newAdministrator(app, newEmail());
      const scope = { description: `Reads orders ${newEmail()}`, entitled: false };
      assert.equal((await administer(app, administrator, 'PUT', 'scopes/orders:read', scope)).status, 200);
      return administer(app, administrator, method, path, json);
    };
  return {
    adminListScopes: ofScope('GET', 'scopes'),
    adminGetScope: ofScope('GET', 'scopes/orders:read'),
    adminSetScope: ofScope('PUT', 'scopes/orders:read', { description: 'Reads orders', entitled: true }),
    adminDeleteScope: ofScope('DELETE', 'scopes/orders:read'),
  };
}
