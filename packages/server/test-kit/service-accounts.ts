/** Service accounts and management keys of a service under test. */
import type { Db } from '../src/foundation/database/db.ts';
import { sql } from '../src/foundation/database/sql.ts';
import { manageScope } from '../src/modules/api-keys/scopes.ts';
import { bearer, operator, type TestApp } from './new-app.ts';
import { addServiceAccount } from './rows.ts';

const deleteManagers = sql(
  'test_delete_managers',
  `delete from service_account_managers where service_pk = (select pk from accounts where id = $1)`,
);

export const removeManagers = (db: Db, id: string): Promise<number> =>
  db.transaction((tx) => tx.run(deleteManagers, [id]));

/** A backend: an account with a management key, and a service account that it manages. */
export interface Backend {
  readonly accountId: string;
  readonly keyId: number;
  readonly key: string;
  /** With the management key. */
  readonly headers: { readonly authorization: string };
  readonly serviceId: string;
  /** `/auth/service-accounts/{serviceId}` */
  readonly path: string;
}

export async function newBackend(app: TestApp, request: object = {}, email?: string): Promise<Backend> {
  const { id: accountId } = await app.createAccount(email);
  const { apiKeys } = app.service.services;
  const scopes = [manageScope];
  const created = await apiKeys.create(operator, accountId, { nickname: 'backend', scopes, ...request });
  const serviceId = await addServiceAccount(app.db, [accountId]);
  const key = created.secret.reveal();
  const path = `/auth/service-accounts/${serviceId}`;
  return { accountId, keyId: created.id, key, headers: bearer(key), serviceId, path };
}
