/**
 * Rows of identities at the OpenID provider, each linked to one account, and of the sessions that began with single sign-on.
 */
import type { Db, Transaction } from '../../foundation/database/db.ts';
import { sql } from '../../foundation/database/sql.ts';
import type { Role } from '../accounts/accounts.ts';

/** An identity with its account. */
export interface IdentityRow {
  readonly id: string;
  /** 1 if single sign-on created the account. */
  readonly isProvisioned: number;
  readonly accountId: string;
  readonly role: Role;
  readonly sessionEpoch: number;
  readonly disabledAt: number | null;
}

/** An identity as the owner of its account reads it. */
export interface LinkedIdentityRow {
  readonly issuer: string;
  readonly subject: string;
  readonly createdAt: number;
  readonly lastUsedAt: number | null;
}

export interface NewIdentity {
  readonly id: string;
  readonly accountId: string;
  readonly issuer: string;
  readonly subject: string;
  readonly isProvisioned: boolean;
  readonly now: number;
}

const select = sql<IdentityRow>(
  'select_sso_identity',
  `select i.id, i.provisioned as "isProvisioned", a.id as "accountId", a.role, a.session_epoch as "sessionEpoch",
     a.disabled_at as "disabledAt"
   from sso_identities i join accounts a on a.pk = i.account_pk where i.issuer = $1 and i.subject = $2`,
);
// At most one row per issuer: (account_pk, issuer) is unique.
const listOfAccount = sql<LinkedIdentityRow>(
  'list_sso_identities',
  `select issuer, subject, created_at as "createdAt", last_used_at as "lastUsedAt"
   from sso_identities where account_pk = (select pk from accounts where id = $1) order by created_at, id`,
);
// One statement decides: of several concurrent links of an identity, or of an account, one inserts a row.
const insert = sql(
  'insert_sso_identity',
  `insert into sso_identities (id, account_pk, issuer, subject, provisioned, created_at)
   select $1, pk, $3, $4, $5, $6 from accounts where id = $2 on conflict do nothing`,
);
const remove = sql<{ id: string }>(
  'delete_sso_identities',
  `delete from sso_identities where account_pk = (select pk from accounts where id = $1) returning id`,
);
const insertSession = sql(
  'insert_sso_session',
  `insert into sso_sessions (session_id, identity_id, sid) select $1, id, $3 from sso_identities where id = $2`,
);
const updateUsed = sql('use_sso_identity', `update sso_identities set last_used_at = $2 where id = $1`);
// A session whose sid is not known ends with every session of the person.
const selectSessions = sql<{ sessionId: string }>(
  'list_sso_sessions',
  `select s.session_id as "sessionId" from sso_identities i join sso_sessions s on s.identity_id = i.id
   where i.issuer = $1 and i.subject = $2 and ($3 = '' or s.sid = $3 or s.sid is null)`,
);
const selectSessionsBySid = sql<{ sessionId: string }>(
  'list_sso_sessions_by_sid',
  `select s.session_id as "sessionId" from sso_sessions s join sso_identities i on i.id = s.identity_id
   where s.sid = $2 and i.issuer = $1`,
);
const countAdministrators = sql<{ count: number }>(
  'count_sso_administrators',
  `select count(*) as count from sso_identities i join accounts a on a.pk = i.account_pk
   where i.issuer = $1 and a.role = 'admin' and a.disabled_at is null`,
);

export const findIdentity = (db: Db, issuer: string, subject: string): Promise<IdentityRow | undefined> =>
  db.get(select, [issuer, subject]);

/** Of every issuer, also of one that is not configured any more. Oldest first. */
export const listIdentities = (db: Pick<Db, 'all'>, accountId: string): Promise<LinkedIdentityRow[]> =>
  db.all(listOfAccount, [accountId]);

/** @returns false when the identity is linked, or the account has one of this issuer */
export const insertIdentityTx = async (
  tx: Transaction,
  { id, accountId, issuer, subject, isProvisioned, now }: NewIdentity,
): Promise<boolean> => (await tx.run(insert, [id, accountId, issuer, subject, isProvisioned ? 1 : 0, now])) === 1;

/** Removes all identities of an account. @returns their ids */
export const removeIdentitiesTx = async (tx: Transaction, accountId: string): Promise<string[]> =>
  (await tx.all(remove, [accountId])).map(({ id }) => id);

/** @param sid of the session at the provider; null if it is not known @returns false when the identity is not linked any more */
export async function addSessionTx(
  tx: Transaction,
  { sessionId, identityId, sid, now }: { sessionId: string; identityId: string; sid: string | null; now: number },
): Promise<boolean> {
  if ((await tx.run(insertSession, [sessionId, identityId, sid])) === 0) return false;
  await tx.run(updateUsed, [identityId, now]);
  return true;
}

/** Sessions of a person, of one session at the provider, or of both; one of the two is not null. @returns their ids */
export async function listSessionsTx(
  tx: Transaction,
  issuer: string,
  { subject, sid }: { readonly subject: string | null; readonly sid: string | null },
): Promise<string[]> {
  const rows =
    subject === null
      ? await tx.all(selectSessionsBySid, [issuer, sid])
      : await tx.all(selectSessions, [issuer, subject, sid ?? '']);
  return rows.map(({ sessionId }) => sessionId);
}

/** Administrators that can sign in with single sign-on. */
export const countLinkedAdministrators = async (db: Pick<Db, 'get'>, issuer: string): Promise<number> =>
  (await db.get(countAdministrators, [issuer]))?.count ?? 0;
