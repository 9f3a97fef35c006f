/**
 * Rows of sessions. A session is one family of refresh tokens, or the session of the console in a browser. To end a session
 * deletes its row.
 */
import { endSessionsTx } from '../accounts/session-epoch-store.ts';
import { lockAdministrationTx } from '../accounts/administrators-store.ts';
import type { AccountPrincipal, Act, Principal } from '../../foundation/principal.ts';
import { allInOrder } from '../../foundation/all-in-order.ts';
import { aheadMsMax } from '../../foundation/clock.ts';
import { recordEventTx, type AuditAction, type AuditEvent } from '../audit/audit.ts';
import type { Db, Transaction } from '../../foundation/database/db.ts';
import { sql, sqlMany } from '../../foundation/database/sql.ts';
import { DomainError } from '../../foundation/errors.ts';

export interface NewSession {
  readonly id: string;
  /** Absent for a session with refresh and access tokens. */
  readonly kind?: 'console';
  readonly accountId: string;
  readonly accountEpoch: number;
  readonly tokenHash: Uint8Array;
  readonly now: number;
  readonly idleExpiresAt: number;
  readonly expiresAt: number;
  readonly clientIp: string;
  /** The User-Agent of the client. */
  readonly userAgent: string;
  /** How the session began, for the audit event. */
  readonly details?: NonNullable<AuditEvent['details']>;
}

/** What the validity of an access token depends on, besides its signature. */
export interface SessionState {
  readonly accountId: string;
  readonly isCurrentEpoch: number;
  readonly accountDisabledAt: number | null;
  readonly accountRole: 'user' | 'admin';
  /** 1 while the account requires a second factor and has none in force. */
  readonly mustEnrol: number;
  readonly createdAt: number;
  readonly idleExpiresAt: number;
  readonly expiresAt: number;
}

export interface SessionGeneration {
  readonly accountId: string;
  readonly createdAt: number;
  readonly generation: number;
  readonly tokenHash: Uint8Array;
  readonly rotatedAt: number;
}

/**
 * The times of a session that has not ended. One that began while a clock was ahead has ended: it would last until long after
 * the correction.
 * @param s the prefix of the columns
 */
const timesText = (now: string, s = ''): string =>
  `${s}idle_expires_at > ${now} and ${s}expires_at > ${now} and ${s}created_at - ${aheadMsMax} <= ${now}`;

/** As the condition of the statements. @param now milliseconds since 1970 */
export const isInTime = (
  { createdAt, idleExpiresAt, expiresAt }: Pick<SessionState, 'createdAt' | 'idleExpiresAt' | 'expiresAt'>,
  now: number,
): boolean => idleExpiresAt > now && expiresAt > now && createdAt - aheadMsMax <= now;

/** A condition of a session; `$1` is the time. */
export const isValid = `${timesText('$1')} and exists (
  select 1 from accounts
  where accounts.pk = sessions.account_pk and accounts.session_epoch = sessions.account_epoch and accounts.disabled_at is null)`;

const ownerId = `(select id from accounts where accounts.pk = sessions.account_pk) as "accountId"`;

// Checks the account again: its password may have changed while this one was hashed. On PostgreSQL the row is locked, so
// that concurrent sign-ins count each other's sessions.
const insertText = `insert into sessions (id, account_pk, account_epoch, created_at, generation, token_hash, rotated_at, idle_expires_at, expires_at, client_ip, user_agent, kind)
   select $1, pk, session_epoch, $4, 1, $5, $4, $6, $7, $8, $9, $10 from accounts
   where id = $2 and session_epoch = $3 and disabled_at is null`;
const insertSession = sql('insert_session', { sqlite: insertText, postgres: `${insertText} for update` });
const deleteEnded = sql(
  'delete_dead_sessions',
  `delete from sessions where account_pk = (select pk from accounts where id = $1) and (account_epoch <> $2 or not (${timesText('$3')}))`,
);
const deleteOldestText = (unlimited: string) =>
  `delete from sessions where id in (
     select id from sessions where account_pk = (select pk from accounts where id = $1) order by created_at desc, id desc ${unlimited} offset $2) returning id`;
const deleteOldest = sql<{ id: string }>('delete_oldest_sessions', {
  sqlite: deleteOldestText('limit -1'),
  postgres: deleteOldestText(''),
});
// One statement decides: of several concurrent requests with one token, one finds the row unchanged. A token that was just
// issued is not rotated. A token issued in the future is: a clock was set back.
const rotate = sql<SessionGeneration>(
  'rotate_refresh_token',
  `update sessions set generation = generation + 1, token_hash = $5, rotated_at = $1,
     idle_expires_at = case when expires_at < $6 then expires_at else $6 end
   where id = $2 and kind = 'tokens' and generation = $3 and token_hash = $4 and (rotated_at <= $7 or rotated_at > $1) and ${isValid}
   returning ${ownerId}, created_at as "createdAt", generation, token_hash as "tokenHash", rotated_at as "rotatedAt"`,
);
const generationColumns = `s.created_at as "createdAt", s.generation, s.token_hash as "tokenHash", s.rotated_at as "rotatedAt"`;
const validOf = (now: string, id: string): string =>
  `s.id = ${id} and ${timesText(now, 's.')}
     and a.session_epoch = s.account_epoch and a.disabled_at is null`;
const selectValid = sqlMany<SessionGeneration>('select_live_session', {
  sqlite: `select a.id as "accountId", ${generationColumns}
   from sessions s join accounts a on a.pk = s.account_pk where ${validOf('$1', '$2')}`,
  postgres: `select lookup.ordinal, a.id as "accountId", ${generationColumns}
   from unnest($1::bigint[], $2::text[]) with ordinality as lookup (now, id, ordinal)
     join sessions s on s.id = lookup.id join accounts a on a.pk = s.account_pk
   where ${validOf('lookup.now', 'lookup.id')}`,
});
const deleteSession = sql<{ accountId: string }>(
  'delete_session',
  `delete from sessions where id = $1 returning ${ownerId}`,
);
/** SQL: whether an account `a` must enrol a second factor first. */
const lacksFactor = `a.requires_second_factor = 1 and not exists (
       select 1 from second_factors f where f.account_pk = a.pk and f.confirmed_at is not null)`;
// One read for each access token: its session, the account, and a signing key that is not revoked.
export const stateColumns = `a.id as "accountId", case when s.account_epoch = a.session_epoch then 1 else 0 end as "isCurrentEpoch",
     a.disabled_at as "accountDisabledAt", a.role as "accountRole",
     case when ${lacksFactor} then 1 else 0 end as "mustEnrol", s.created_at as "createdAt", s.idle_expires_at as "idleExpiresAt", s.expires_at as "expiresAt"`;
const selectState = sqlMany<SessionState>('select_session_state', {
  sqlite: `select ${stateColumns}
   from sessions s join accounts a on a.pk = s.account_pk join signing_keys k on k.kid = $2 and k.revoked_at is null
   where s.id = $1 and s.kind = 'tokens'`,
  postgres: `select lookup.ordinal, ${stateColumns}
   from unnest($1::text[], $2::text[]) with ordinality as lookup (id, kid, ordinal)
     join sessions s on s.id = lookup.id and s.kind = 'tokens' join accounts a on a.pk = s.account_pk
     join signing_keys k on k.kid = lookup.kid and k.revoked_at is null`,
});
// The same check in the transaction of a change. On PostgreSQL both rows are locked, in the order in which a sign-in locks
// them. A concurrent end of the session waits, so no change commits after it.
const lockValidText = `select s.id from accounts a join sessions s on s.account_pk = a.pk and s.account_epoch = a.session_epoch
   where s.id = $1 and a.id = $2 and ${timesText('$3', 's.')} and a.disabled_at is null
     and not exists (select 1 from signing_keys where kid = $4 and revoked_at is not null) and ($5 = 0 or a.role = 'admin')`;
const lockValid = sql<{ id: string }>('lock_live_session', {
  sqlite: lockValidText,
  postgres: `${lockValidText} for update`,
});
const selectContinuing = sql<{ id: string }>('select_continuing_session', lockValidText);
const selectUnenrolled = sql<{ id: string }>(
  'select_account_without_required_factor',
  `select a.id from accounts a where a.id = $1 and ${lacksFactor}`,
);
const listOwn = sql<SessionRow>(
  'list_account_sessions',
  `select id, created_at as "createdAt", rotated_at as "rotatedAt", idle_expires_at as "idleExpiresAt", client_ip as "clientIp", user_agent as "userAgent"
   from sessions where account_pk = (select pk from accounts where id = $2) and ${isValid}
   order by created_at desc, id desc`,
);
const deleteOwn = sql<{ id: string }>(
  'delete_own_session',
  `delete from sessions where id = $2 and account_pk = (select pk from accounts where id = $3) and ${isValid} returning id`,
);
const keepSession = sql(
  'keep_session',
  `update sessions set account_epoch = (select session_epoch from accounts where accounts.pk = sessions.account_pk)
   where id = $2 and account_pk = (select pk from accounts where id = $1)`,
);
const deleteOthers = sql<{ id: string; isValid: number }>(
  'delete_other_sessions',
  `delete from sessions where account_pk = (select pk from accounts where id = $1) and id <> $2
   returning id, case when ${timesText('$3')}
     and account_epoch + 1 = (select session_epoch from accounts where accounts.pk = sessions.account_pk) then 1 else 0 end as "isValid"`,
);
const deleteAll = sql('delete_all_sessions', 'delete from sessions');
const deleteExpired = sql(
  'delete_expired_sessions',
  `delete from sessions where id in (select id from sessions where expires_at <= $1 limit $2)`,
);

/**
 * Inserts the session and ends the account's oldest sessions beyond the limit.
 * @throws DomainError `invalid_credentials` when the account has changed since; nothing is stored then
 */
export const createSession = (db: Db, session: NewSession, sessionsMax: number): Promise<void> =>
  db.transaction((tx) => createSessionTx(tx, session, sessionsMax));

/** As {@link createSession}. Its statements are issued before it returns; only the events of ended sessions follow. */
export async function createSessionTx(tx: Transaction, session: NewSession, sessionsMax: number): Promise<void> {
  const { id, kind = 'tokens', accountId, accountEpoch, tokenHash, now, idleExpiresAt, expiresAt } = session;
  const { clientIp, userAgent } = session;
  const principal: Principal = { kind: 'account', accountId, sessionId: id };
  const times = [now, tokenHash, idleExpiresAt, expiresAt];
  const details = session.details && Object.keys(session.details).length > 0 ? { details: session.details } : {};
  const [, , , oldest] = await allInOrder([
    tx.run(insertSession, [id, accountId, accountEpoch, ...times, clientIp, userAgent, kind]).then(assertInserted),
    recordEventTx(tx, { at: now, principal, action: 'session.created', accountId, target: id, ...details }),
    tx.run(deleteEnded, [accountId, accountEpoch, now]),
    tx.all(deleteOldest, [accountId, sessionsMax]),
  ]);
  for (const { id: target } of oldest)
    await recordEventTx(tx, { at: now, principal, action: 'session.evicted', accountId, target });
}

/** @throws DomainError `invalid_credentials` */
function assertInserted(rows: number): void {
  if (rows === 0) throw new DomainError('invalid_credentials');
}

/** The part of a session that its account may read. */
export interface SessionRow {
  readonly id: string;
  readonly createdAt: number;
  readonly rotatedAt: number;
  /** Not later than the end of the session. */
  readonly idleExpiresAt: number;
  readonly clientIp: string;
  readonly userAgent: string;
}

/** Valid sessions, newest first. */
export const listAccountSessions = (db: Db, accountId: string, now: number): Promise<SessionRow[]> =>
  db.all(listOwn, [now, accountId]);

export interface Rotation {
  readonly sessionId: string;
  readonly generation: number;
  readonly tokenHash: Uint8Array;
  readonly successorHash: Uint8Array;
  readonly now: number;
  /** A token that was issued after this time is too recent to be rotated. */
  readonly issuedUntil: number;
  /** Not later than the end of the session. */
  readonly idleExpiresAt: number;
}

/**
 * The only change without an audit event: a rotation changes no rights of the account, and its events outnumbered all
 * others (docs/audit.md).
 * @returns undefined when the token is not the current one of a valid session, or was issued too recently
 */
export async function rotateRefreshToken(db: Db, rotation: Rotation): Promise<SessionGeneration | undefined> {
  const { sessionId, generation, tokenHash, successorHash, now, issuedUntil, idleExpiresAt } = rotation;
  return db.transaction(async (tx) => {
    const values = [now, sessionId, generation, tokenHash, successorHash, idleExpiresAt, issuedUntil];
    // On PostgreSQL, a statement that waited for the session's row reads the account as of before the wait. When another
    // change keeps this session and raises the epoch, the two differ. A second statement reads both as they are now.
    return (await tx.get(rotate, values)) ?? tx.get(rotate, values);
  });
}

/** Valid sessions by id, in the order of the lookups, from one snapshot taken after the call. */
export const findLiveSessions = (
  db: Db,
  lookups: readonly (readonly [now: number, id: string])[],
): Promise<(SessionGeneration | undefined)[]> => db.getMany(selectValid, lookups);

export const findLiveSession = async (db: Db, id: string, now: number): Promise<SessionGeneration | undefined> =>
  (await findLiveSessions(db, [[now, id]]))[0];

/** States of sessions, each with the key that signed the token, in the order of the lookups, from one snapshot taken after the call. */
export const findSessionStates = (
  db: Db,
  lookups: readonly (readonly [id: string, kid: string])[],
): Promise<(SessionState | undefined)[]> => db.getMany(selectState, lookups);

/**
 * First in the transaction of every change that a principal makes: the access token was verified when the request began,
 * and its body may have taken seconds to arrive.
 * @throws DomainError `invalid_access_token` when the session of an account has ended; never for other principals
 */
export async function assertSessionValidTx(tx: Transaction, { principal, now }: Act): Promise<void> {
  // An API key may make only changes that `assertMayActForTx` checks.
  if (principal.kind === 'key' || principal.kind === 'canary') throw new Error('an API key has no session');
  if (principal.kind === 'portal') throw new Error('a portal session is no session of an account');
  if (principal.kind !== 'account') return;
  const { accountId, sessionId, kid = null, actsAs } = principal;
  const mustAdminister = actsAs === 'administrator' ? 1 : 0;
  const locked = mustAdminister ? lockAdministrationTx(tx) : undefined;
  const valid = tx.get(lockValid, [sessionId, accountId, now, kid, mustAdminister]);
  const [, session] = await allInOrder([locked, valid]);
  if (!session) throw new DomainError('invalid_access_token');
}

/**
 * For a change that a request of another client makes for an account. The caller has locked it.
 * @throws DomainError `second_factor_enrolment_required`
 */
export async function assertEnrolledTx(tx: Transaction, accountId: string): Promise<void> {
  if (await tx.get(selectUnenrolled, [accountId])) throw new DomainError('second_factor_enrolment_required');
}

/**
 * For a response that takes long: whether its caller may still receive it, by the session, the account, the role and the key
 * that signed the access token.
 * @throws DomainError `invalid_access_token`
 */
export async function assertSessionContinues(
  reader: Pick<Db, 'get'>,
  principal: AccountPrincipal,
  now: number,
): Promise<void> {
  const { accountId, sessionId, kid = null, actsAs } = principal;
  const mustAdminister = actsAs === 'administrator' ? 1 : 0;
  const session = await reader.get(selectContinuing, [sessionId, accountId, now, kid, mustAdminister]);
  if (!session) throw new DomainError('invalid_access_token');
}

/** @returns whether the account had the session, and it was valid @throws DomainError `invalid_access_token` */
export const endOwnSession = (db: Db, principal: AccountPrincipal, id: string, now: number): Promise<boolean> =>
  db.transaction(async (tx) => {
    await assertSessionValidTx(tx, { principal, now });
    return endAccountSessionTx(tx, { principal, now }, principal.accountId, id);
  });

/** @returns whether the account had the session, and it was valid */
export async function endAccountSessionTx(
  tx: Transaction,
  { principal, now }: Act,
  accountId: string,
  id: string,
): Promise<boolean> {
  if (!(await tx.get(deleteOwn, [now, id, accountId]))) return false;
  await recordEventTx(tx, { at: now, principal, action: 'session.ended', accountId, target: id });
  return true;
}

/** Ends all sessions of the account except the principal's own. @returns their number @throws DomainError `invalid_access_token` */
export const endOtherSessions = (db: Db, principal: AccountPrincipal, now: number): Promise<number> =>
  db.transaction(async (tx) => {
    await assertSessionValidTx(tx, { principal, now });
    return endOtherSessionsTx(tx, principal, now);
  });

/** As {@link endOtherSessions}. Also ends sessions that are being created at the same time. */
export async function endOtherSessionsTx(tx: Transaction, principal: AccountPrincipal, now: number): Promise<number> {
  const { accountId, sessionId } = principal;
  await endSessionsTx(tx, accountId, now);
  const others = await tx.all(deleteOthers, [accountId, sessionId, now]);
  await keepSessionTx(tx, accountId, sessionId);
  const ended = others.filter((other) => other.isValid === 1);
  for (const { id } of ended) {
    await recordEventTx(tx, { at: now, principal, action: 'session.ended', accountId, target: id });
  }
  return ended.length;
}

/** The session stays valid, although the account's sessions have been ended in this transaction. */
export const keepSessionTx = async (tx: Transaction, accountId: string, id: string): Promise<void> =>
  void (await tx.run(keepSession, [accountId, id]));

/** @returns whether the session existed */
export const endSession = (db: Db, act: Act, id: string, action?: AuditAction): Promise<boolean> =>
  db.transaction((tx) => endSessionTx(tx, act, id, action));

/** As {@link endSession}. */
export async function endSessionTx(
  tx: Transaction,
  { principal, now }: Act,
  id: string,
  action: AuditAction = 'session.ended',
): Promise<boolean> {
  const ended = await tx.get(deleteSession, [id]);
  if (!ended) return false;
  await recordEventTx(tx, { at: now, principal, action, accountId: ended.accountId, target: id });
  return true;
}

/** After a rotation of the root key. The caller raises the epochs of all accounts. @returns the number of sessions */
export const deleteAllSessionsTx = (tx: Transaction): Promise<number> => tx.run(deleteAll);

/** @returns the number of deleted sessions */
export const deleteExpiredSessions = (db: Db, now: number, rowsMax: number): Promise<number> =>
  db.transaction((tx) => tx.run(deleteExpired, [now, rowsMax]));
