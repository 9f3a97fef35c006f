/** Identity tokens that are accepted once, and have been used. */
import type { Db, Reader, Transaction } from '../../foundation/database/db.ts';
import { sql } from '../../foundation/database/sql.ts';

const insert = sql(
  'use_identity_token',
  `insert into used_tokens (issuer_id, token, expires_at) values ($1, $2, $3) on conflict do nothing`,
);
const select = sql<{ isUsed: number }>(
  'select_used_identity_token',
  `select 1 as "isUsed" from used_tokens where issuer_id = $1 and token = $2`,
);
const remove = sql(
  'delete_expired_used_tokens',
  `delete from used_tokens where (issuer_id, token) in
     (select issuer_id, token from used_tokens where expires_at < $1 order by expires_at limit $2)`,
);

/** An identity token of an issuer that accepts each once. */
export interface UsedToken {
  readonly issuerId: number;
  /** The SHA-256 of the claim `jti`. */
  readonly token: Uint8Array;
  /** When the token is too old to be accepted again, in milliseconds. */
  readonly expiresAt: number;
}

/** The row decides which of several rivals uses the token. @returns false if it was used before */
export const useTokenTx = async (tx: Transaction, { issuerId, token, expiresAt }: UsedToken): Promise<boolean> =>
  (await tx.run(insert, [issuerId, token, expiresAt])) > 0;

/** Rejects by a read what {@link useTokenTx} would reject. */
export const isTokenUsed = async (
  reader: Pick<Reader, 'get'>,
  { issuerId, token }: Pick<UsedToken, 'issuerId' | 'token'>,
): Promise<boolean> => (await reader.get(select, [issuerId, token])) !== undefined;

/** @returns the number of deleted rows, at most `max` */
export const deleteExpiredTokens = (db: Db, now: number, max: number): Promise<number> =>
  db.transaction((tx) => tx.run(remove, [now, max]));
