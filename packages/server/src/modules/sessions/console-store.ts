/** Rows of the sessions of the console: their state, their extension and the replacement of their secret. */
import type { AccountPrincipal } from '../../foundation/principal.ts';
import type { Db, Transaction } from '../../foundation/database/db.ts';
import { sql, sqlMany } from '../../foundation/database/sql.ts';
import { isValid, stateColumns, type SessionState } from './store.ts';

export interface ConsoleSessionState extends SessionState {
  readonly tokenHash: Uint8Array;
  /** The sign-in, the last confirmation or the last extension. */
  readonly rotatedAt: number;
  readonly authenticatedAt: number;
}

const columns = `${stateColumns}, s.token_hash as "tokenHash", s.rotated_at as "rotatedAt",
     coalesce(s.authenticated_at, s.created_at) as "authenticatedAt"`;
const selectState = sqlMany<ConsoleSessionState>('select_console_session', {
  sqlite: `select ${columns}
   from sessions s join accounts a on a.pk = s.account_pk where s.id = $1 and s.kind = 'console'`,
  postgres: `select lookup.ordinal, ${columns}
   from unnest($1::text[]) with ordinality as lookup (id, ordinal)
     join sessions s on s.id = lookup.id and s.kind = 'console' join accounts a on a.pk = s.account_pk`,
});
const extend = sql(
  'extend_console_session',
  `update sessions set rotated_at = $1, idle_expires_at = case when expires_at < $4 then expires_at else $4 end
   where id = $2 and kind = 'console' and token_hash = $3 and rotated_at <= $5 and ${isValid}`,
);
// One statement decides: of several confirmations with one secret, one finds the row unchanged.
const replaceSecret = sql(
  'replace_console_secret',
  `update sessions set generation = generation + 1, token_hash = $4, rotated_at = $1, authenticated_at = $1,
     idle_expires_at = case when expires_at < $5 then expires_at else $5 end
   where id = $2 and kind = 'console' and token_hash = $3 and ${isValid}`,
);
const setAuthenticatedAt = sql(
  'set_console_authenticated_at',
  `update sessions set authenticated_at = case when created_at < $2 then created_at else $2 end where id = $1`,
);

/** In the order of the ids, from one snapshot taken after the call. */
export const findConsoleSessions = (
  db: Db,
  lookups: readonly (readonly [id: string])[],
): Promise<(ConsoleSessionState | undefined)[]> => db.getMany(selectState, lookups);

export interface ConsoleSessionChange {
  readonly id: string;
  /** Keyed hash of the secret that the request presented. */
  readonly tokenHash: Uint8Array;
  readonly now: number;
  /** Not later than the end of the session. */
  readonly idleExpiresAt: number;
}

/**
 * An action of the person extends the session. Without an audit event: it changes no rights.
 * @param extendedUntil a session that was extended after this time is unchanged
 */
export const extendConsoleSession = (
  db: Db,
  { id, tokenHash, now, idleExpiresAt }: ConsoleSessionChange,
  extendedUntil: number,
): Promise<number> => db.transaction((tx) => tx.run(extend, [now, id, tokenHash, idleExpiresAt, extendedUntil]));

/** Requires {@link assertSessionValidTx}. @returns false if another request has replaced the secret */
export const replaceConsoleSecretTx = async (
  tx: Transaction,
  { sessionId }: AccountPrincipal,
  { tokenHash, now, idleExpiresAt }: Omit<ConsoleSessionChange, 'id'>,
  newHash: Uint8Array,
): Promise<boolean> => (await tx.run(replaceSecret, [now, sessionId, tokenHash, newHash, idleExpiresAt])) > 0;

/** The person proved the credentials before the session began. @param at milliseconds; at most the begin of the session counts */
export const setAuthenticatedAtTx = async (tx: Transaction, sessionId: string, at: number): Promise<void> =>
  void (await tx.run(setAuthenticatedAt, [sessionId, at]));
