/** Keys whose hash is in the request, because another system made the secret: whether the hash is free, and the insert. */
import { lookupOf } from '../../foundation/crypto/keyed-hash.ts';
import type { Reader, Transaction } from '../../foundation/database/db.ts';
import { recordKeyImportTx } from '../../foundation/database/installation.ts';
import { sql, type SqlValue, type Statement } from '../../foundation/database/sql.ts';
import { DomainError } from '../../foundation/errors.ts';

/** A key with a given hash. Its id derives from the hash, so it stays the same after a rotation. */
export interface GivenHash {
  readonly id: number;
  /** 33 bytes. */
  readonly hash: Uint8Array;
  /** Milliseconds. */
  readonly now: number;
}

interface Holders {
  /** Keys with the hash or with its id. */
  readonly keys: number;
  readonly previousSecrets: number;
  /** 1 if the secret has leaked. */
  readonly leaked: number;
  /** Deletions of keys with the id, in any account. */
  readonly deleted: number;
}

const countHolders = sql<Holders>(
  'count_holders_of_hash',
  `select (select count(*) from api_keys where lookup = $1 or id = $2) as keys,
     (select count(*) from api_key_secrets where lookup = $1) as "previousSecrets",
     (select count(*) from leaked_secrets where lookup = $1) as leaked,
     (select count(*) from audit_events where action = 'api_key.deleted' and target = $3)
       + (select count(*) from deleted_keys where id = $2) as deleted`,
);

/** Rejects by a read what {@link insertGivenTx} would reject. @throws DomainError `secret_taken` */
export async function assertHashFree(reader: Pick<Reader, 'get'>, { id, hash }: GivenHash, heldMax = 0): Promise<void> {
  const stored = Buffer.from(hash.buffer, hash.byteOffset, hash.byteLength);
  const found = await reader.get(countHolders, [lookupOf(stored), id, String(id)]);
  const { keys = 0, previousSecrets = 0, leaked = 0, deleted = 0 } = found ?? {};
  if (keys > heldMax || previousSecrets > 0 || leaked > 0 || deleted > 0) throw new DomainError('secret_taken');
}

/**
 * Inserts the key, and then reads which others have its hash: on PostgreSQL, the insert waits for a rotation that makes the
 * hash the one of a previous secret, and the read sees it.
 * @param insert does nothing if any unique value is taken
 * @returns the number of inserted keys: 0 if the account has a key with the nickname
 * @throws DomainError `secret_taken`
 */
export async function insertGivenTx(
  tx: Transaction,
  insert: Statement<never>,
  values: readonly SqlValue[],
  given: GivenHash,
): Promise<number> {
  const inserted = await tx.run(insert, values);
  await assertHashFree(tx, given, inserted);
  // From now on, all instances look for the texts of other systems.
  await recordKeyImportTx(tx, given.now);
  return inserted;
}
