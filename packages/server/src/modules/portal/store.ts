/**
 * Rows of portal sessions. To end a session deletes its row. A session also ends with its management key, with the rights of that key
 * and with the service account: the reads join their rows, so each request depends on all of them in one snapshot.
 */
import { limits, type PortalCapability } from '@keyreeve/contract';
import { aheadMsMax, type Clock } from '../../foundation/clock.ts';
import { aheadTimes, deleteAheadText } from '../../foundation/database/ahead.ts';
import type { Db, Reader, Transaction } from '../../foundation/database/db.ts';
import { sql, sqlMany, type Dialect } from '../../foundation/database/sql.ts';
import type { PortalPerson } from '../../foundation/principal.ts';
import { isKeyValid, isPortalInTime, manageScope } from '../service-accounts/acting-store.ts';

/** What the backend of the host states. */
export interface PortalData {
  readonly capabilities: readonly PortalCapability[];
  readonly scopes?: readonly string[];
  readonly person?: PortalPerson;
  /** Absent for a page without a frame. */
  readonly origin?: string;
  readonly returnUrl?: string;
}

export interface NewPortalSession {
  readonly id: string;
  /** The service account. */
  readonly accountId: string;
  readonly keyId: number;
  readonly lookup: number;
  readonly tokenHash: Buffer;
  readonly data: PortalData;
  readonly now: number;
}

/** A session that has not ended. */
export interface PortalRow {
  readonly id: string;
  readonly serviceAccountId: string;
  readonly serviceAccountName: string;
  /** The account that owns the management key. */
  readonly ownerId: string;
  readonly keyId: number;
  readonly lookup: number;
  readonly tokenHash: Uint8Array;
  readonly data: PortalData;
  readonly redeemedAt: number | null;
  readonly createdAt: number;
  readonly expiresAt: number;
}

type StoredRow = Omit<PortalRow, 'data'> & { readonly data: string };

const columns = `s.id, b.id as "serviceAccountId", n.name as "serviceAccountName", a.id as "ownerId", s.key_id as "keyId",
     s.key_lookup as lookup, s.token_hash as "tokenHash", s.data, s.redeemed_at as "redeemedAt", s.created_at as "createdAt",
     s.expires_at as "expiresAt"`;
const joins = `join accounts b on b.pk = s.account_pk and b.disabled_at is null
     join service_accounts n on n.account_pk = b.pk
     join api_keys k on k.id = s.key_id
     join accounts a on a.pk = k.account_pk
     join service_account_managers m on m.service_pk = s.account_pk and m.manager_pk = a.pk`;
const isValid = (dialect: Dialect, now: string): string =>
  `${isPortalInTime(now)} and ${isKeyValid({ dialect, now, scope: manageScope, lookup: 's.key_lookup' })}`;
const bySecret = sqlMany<StoredRow>('select_portal_session_by_secret', {
  sqlite: `select ${columns} from portal_sessions s ${joins} where s.secret_hash = $2 and ${isValid('sqlite', '$1')}`,
  postgres: `select requested.ordinal, ${columns}
   from unnest($1::bigint[], $2::bytea[]) with ordinality as requested (now, secret_hash, ordinal)
     join portal_sessions s on s.secret_hash = requested.secret_hash ${joins}
   where ${isValid('postgres', 'requested.now')}`,
});
const byIdText = (dialect: Dialect): string =>
  `select ${columns} from portal_sessions s ${joins} where s.id = $2 and ${isValid(dialect, '$1')}`;
const byId = sql<StoredRow>('select_portal_session', { sqlite: byIdText('sqlite'), postgres: byIdText('postgres') });
const insert = sql(
  'insert_portal_session',
  `insert into portal_sessions (id, account_pk, key_id, key_lookup, token_hash, data, person, created_at, expires_at)
   select $1, pk, $3, $4, $5, $6, $7, $8, $9 from accounts where id = $2`,
);
const ofAccount = `account_pk = (select pk from accounts where id = $1)`;
const deleteExpiredOf = sql(
  'delete_expired_portal_sessions_of_account',
  // One that began while a clock was ahead would count until long after the correction.
  `delete from portal_sessions where ${ofAccount} and (expires_at <= $2 or created_at - ${aheadMsMax} > $2)`,
);
// The person who has the most sessions, with the new one, loses one: no person's sessions end those of a colleague who has fewer. Of
// these, first one whose token was not used, then the oldest.
const evict = sql<{ id: string }>(
  'evict_portal_sessions',
  `delete from portal_sessions where id in (
     select id from (
       select id, row_number() over (order by sessions, redeemed_at is null, created_at desc, id desc) as place from (
         select id, redeemed_at, created_at, count(*) over (partition by coalesce(person, ''))
             + case when coalesce(person, '') = coalesce($2, '') then 1 else 0 end as sessions
           from portal_sessions where ${ofAccount}) counted) ranked
     where place > $3) returning id`,
);
// One statement decides: of several concurrent requests with one token, one finds the row unchanged.
const redeem = sql<{ id: string }>(
  'redeem_portal_token',
  `update portal_sessions set redeemed_at = $3, secret_hash = $4, expires_at = created_at + $5
   where id = $1 and token_hash = $2 and redeemed_at is null and expires_at > $3 returning id`,
);
const remove = sql<{ accountId: string }>(
  'delete_portal_session',
  `delete from portal_sessions where id = $1
   returning (select id from accounts where accounts.pk = portal_sessions.account_pk) as "accountId"`,
);
// Of any management key of the owner. Also while a disabled key or account suspends the session: it must not continue afterwards.
const isOwned = `id = $1 and expires_at > $3 and key_id in (
     select k.id from api_keys k join accounts a on a.pk = k.account_pk where a.id = $2)`;
const selectOwned = sql<{ id: string }>(
  'select_portal_session_of_owner',
  `select id from portal_sessions where ${isOwned}`,
);
const removeOwned = sql<{ accountId: string }>(
  'delete_portal_session_of_owner',
  `delete from portal_sessions where ${isOwned}
   returning (select id from accounts where accounts.pk = portal_sessions.account_pk) as "accountId"`,
);
const deleteExpired = sql(
  'delete_expired_portal_sessions',
  `delete from portal_sessions where id in (select id from portal_sessions where expires_at <= $1 limit $2)`,
);
const deleteAhead = sql('delete_portal_sessions_ahead', deleteAheadText('portal_sessions'));
const deleteAll = sql('delete_all_portal_sessions', 'delete from portal_sessions');

const tokenMs = limits.portalTokenSeconds * 1_000;
const sessionMs = limits.portalSessionSeconds * 1_000;

const parsed = (row: StoredRow | undefined): PortalRow | undefined =>
  row && { ...row, data: JSON.parse(row.data) as PortalData };

/** Sessions by the stored hashes of their secrets, in the order of the lookups, from one snapshot taken after the call. */
export const findBySecrets = async (
  db: Db,
  lookups: readonly (readonly [now: number, hash: Buffer])[],
): Promise<(PortalRow | undefined)[]> => (await db.getMany(bySecret, lookups)).map(parsed);

/** Also one whose token was not used. */
export const findPortalSession = async (
  reader: Pick<Reader, 'get'>,
  id: string,
  now: number,
): Promise<PortalRow | undefined> => parsed(await reader.get(byId, [now, id]));

/**
 * Inserts a session, which ends with its token until that is used. The caller has locked the service account.
 * @returns ids of sessions beyond the bound, which have ended
 */
export async function createPortalSessionTx(tx: Transaction, session: NewPortalSession): Promise<string[]> {
  const { id, accountId, keyId, lookup, tokenHash, data, now } = session;
  const person = data.person?.id ?? null;
  await tx.run(deleteExpiredOf, [accountId, now]);
  const evicted = await tx.all(evict, [accountId, person, limits.portalSessionsMax - 1]);
  const values = [keyId, lookup, tokenHash, JSON.stringify(data), person, now, now + tokenMs];
  await tx.run(insert, [id, accountId, ...values]);
  return evicted.map((row) => row.id);
}

/** When a session ends that was created at this time, if its token is used. */
export const endsAt = (createdAt: number): { readonly token: number; readonly session: number } => ({
  token: createdAt + tokenMs,
  session: createdAt + sessionMs,
});

/** @returns false if the token is wrong, was used or has expired */
export const redeemTokenTx = async (
  tx: Transaction,
  { id, tokenHash, secretHash }: { readonly id: string; readonly tokenHash: Buffer; readonly secretHash: Buffer },
  now: number,
): Promise<boolean> => (await tx.get(redeem, [id, tokenHash, now, secretHash, sessionMs])) !== undefined;

/** @returns the id of the service account; undefined if there was no such session */
export const deletePortalSessionTx = async (tx: Transaction, id: string): Promise<string | undefined> =>
  (await tx.get(remove, [id]))?.accountId;

export const isPortalSessionOf = async (
  reader: Pick<Reader, 'get'>,
  id: string,
  ownerId: string,
  now: number,
): Promise<boolean> => (await reader.get(selectOwned, [id, ownerId, now])) !== undefined;

/** As {@link deletePortalSessionTx}, for a session of a management key of this owner. */
export const deleteOwnedTx = async (
  tx: Transaction,
  id: string,
  ownerId: string,
  now: number,
): Promise<string | undefined> => (await tx.get(removeOwned, [id, ownerId, now]))?.accountId;

/** @returns the number of deleted rows */
export const deleteExpiredPortalSessions = (db: Db, now: number, rowsMax: number): Promise<number> =>
  db.transaction((tx) => tx.run(deleteExpired, [now, rowsMax]));

/** Of sessions that began while a clock was ahead. @returns the number of deleted rows */
export const deletePortalSessionsAhead = (db: Db, clock: Clock, rowsMax: number): Promise<number> =>
  db.transaction((tx) => tx.run(deleteAhead, [...aheadTimes(clock), rowsMax]));

/** After a rotation of the root key, and a replay of the deletion journal. @returns the number of deleted rows */
export const deleteAllPortalSessionsTx = (tx: Transaction): Promise<number> => tx.run(deleteAll);
