/** Service accounts and management keys of a service under test. */
import { randomBytes } from 'node:crypto';
import type { Db } from '../src/foundation/database/db.ts';
import { sql } from '../src/foundation/database/sql.ts';
import { manageScope } from '../src/modules/api-keys/scopes.ts';
import { bearer, operator, type TestApp } from './new-app.ts';

const insertAccount = sql(
  'test_insert_service_account',
  `insert into accounts (id, email, email_key, password_hash, role, session_epoch, created_at, updated_at, kind)
   select $1, $1, $1, '', 'user', 0, created_at, updated_at, 'service' from accounts where id = $2`,
);
const insertService = sql(
  'test_insert_service',
  `insert into service_accounts (account_pk, name, created_at, updated_at)
   select pk, id, created_at, created_at from accounts where id = $1`,
);
const insertManager = sql(
  'test_insert_manager',
  `insert into service_account_managers (service_pk, manager_pk, created_at)
   select s.pk, m.pk, s.created_at from accounts s, accounts m where s.id = $1 and m.id = $2`,
);
const deleteManagers = sql(
  'test_delete_managers',
  `delete from service_account_managers where service_pk = (select pk from accounts where id = $1)`,
);

/** @returns the id of a new service account that this account manages */
export async function newServiceAccount(db: Db, managerId: string): Promise<string> {
  const id = `acc_${randomBytes(11).toString('hex')}`;
  await db.transaction(async (tx) => {
    await tx.run(insertAccount, [id, managerId]);
    await tx.run(insertService, [id]);
    await tx.run(insertManager, [id, managerId]);
  });
  return id;
}

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
  const serviceId = await newServiceAccount(app.db, accountId);
  const key = created.secret.reveal();
  const path = `/auth/service-accounts/${serviceId}`;
  return { accountId, keyId: created.id, key, headers: bearer(key), serviceId, path };
}
