/** Inserts short-lived secrets that were issued for the secret of a key. They end with that secret. */
import { lookupOf } from '../../foundation/crypto/keyed-hash.ts';
import type { Transaction } from '../../foundation/database/db.ts';
import { mayJudge } from '../../foundation/database/key-rules.ts';
import { databaseTime, sql } from '../../foundation/database/sql.ts';
import type { NewShortLivedSecret } from './store.ts';

const lockKey = sql<{ readAt: number | null }>('lock_api_key_for_client', {
  sqlite: `select ${databaseTime.sqlite} as "readAt" from api_keys where id = $1`,
  postgres: `select ${databaseTime.postgres} as "readAt" from api_keys where id = $1 for no key update`,
});
const countLive = sql<{ live: number }>(
  'count_live_short_lived_secrets',
  'select count(*) as live from short_lived_secrets where key_id = $1 and expires_at > $2',
);
// Inserts nothing for a key, account or secret that is no longer valid.
const insertSecret = sql(
  'insert_short_lived_secret_for_client',
  `insert into short_lived_secrets (lookup, key_hash, key_id, issued_by, assertion_id, created_at, expires_at)
   select $1, $2, k.id, $4, $5, $6, $7 from api_keys k join accounts a on a.pk = k.account_pk
   where k.id = $3 and k.disabled_at is null and a.disabled_at is null and k.public_key is null and k.trust is null
     and ${mayJudge} and (k.expires_at is null or k.expires_at > $6) and (k.lookup = $4 or exists (
       select 1 from api_key_secrets p where p.lookup = $4 and p.key_id = k.id and p.public_key is null and p.trust is null
         and p.expires_at > $6))`,
);

/**
 * Locks the key on PostgreSQL, so that its exchanges run in turn, and a change of it is visible to the statements after this one.
 * @returns the time of a PostgreSQL database
 */
export const lockKeyTx = async (tx: Transaction, keyId: number): Promise<number | null> =>
  (await tx.get(lockKey, [keyId]))?.readAt ?? null;

/** The valid short-lived secrets of a key. */
export const countLiveTx = async (tx: Transaction, keyId: number, now: number): Promise<number> =>
  (await tx.get(countLive, [keyId, now]))?.live ?? 0;

/** @returns false, and stores nothing, if the key, its account or the secret that issues it is not valid */
export async function insertForSecretTx(
  tx: Transaction,
  { hash, keyId, issuedBy, now, expiresAt }: Omit<NewShortLivedSecret, 'assertionId'>,
): Promise<boolean> {
  const lookup = lookupOf(hash);
  // Unique, and with a space, which no `jti` of an assertion has.
  const assertionId = `client ${lookup}`;
  return (await tx.run(insertSecret, [lookup, hash, keyId, issuedBy, assertionId, now, expiresAt])) === 1;
}
