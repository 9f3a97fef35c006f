/** The table of signing keys. */
import type { Guard, Principal } from '../../foundation/principal.ts';
import { recordEventTx } from '../audit/audit.ts';
import type { Db, ReadOptions, Transaction } from '../../foundation/database/db.ts';
import { onList } from '../../foundation/database/json-lists.ts';
import { sql } from '../../foundation/database/sql.ts';

/** The state of a key depends on its own times and those of the other keys. */
export interface SigningKeyTimes {
  readonly kid: string;
  readonly alg: string;
  readonly createdAt: number;
  readonly activatesAt: number;
  readonly revokedAt: number | null;
}

export interface SigningKeyRow extends SigningKeyTimes {
  readonly publicJwk: string;
  readonly privateJwk: Uint8Array;
}

const times = `kid, alg, created_at as "createdAt", activates_at as "activatesAt", revoked_at as "revokedAt"`;
const order = 'order by activates_at, created_at, kid';

// One row per rotation, newest last.
const listKeys = sql<SigningKeyRow>(
  'list_signing_keys',
  `select ${times}, public_jwk as "publicJwk", private_jwk as "privateJwk" from signing_keys ${order}`,
);
// Read for each access token, so without the keys themselves.
const listTimes = sql<SigningKeyTimes>('list_signing_key_times', `select ${times} from signing_keys ${order}`);
const insertKey = sql(
  'insert_signing_key',
  `insert into signing_keys (kid, alg, public_jwk, private_jwk, created_at, activates_at, revoked_at)
   values ($1, $2, $3, $4, $5, $6, null)`,
);
// The insert itself decides whether a first key is needed: several instances may start at once, with different clocks.
// So a key that was created to sign at once counts even when its activation is slightly in the future.
const insertFirstKey = sql(
  'insert_first_signing_key',
  `insert into signing_keys (kid, alg, public_jwk, private_jwk, created_at, activates_at, revoked_at)
   select $1, $2, $3, $4, $5, $6, null
   where not exists (
     select 1 from signing_keys
     where alg = $2 and revoked_at is null and (activates_at <= $6 or activates_at <= created_at)
   )`,
);
const insertNextKey = sql(
  'insert_next_signing_key',
  `insert into signing_keys (kid, alg, public_jwk, private_jwk, created_at, activates_at, revoked_at)
   select $1, $2, $3, $4, $5, $6, null
   where not exists (select 1 from signing_keys where alg = $2 and revoked_at is null and activates_at > $5)`,
);
// The creation of a key depends on the other keys, so PostgreSQL needs a lock. SQLite has one writer.
const lockKeys = sql('lock_signing_keys', {
  sqlite: `select null`,
  postgres: `lock table signing_keys in share row exclusive mode`,
});
const revokeOtherKeys = sql<{ kid: string }>(
  'revoke_other_signing_keys',
  `update signing_keys set revoked_at = $2 where kid <> $1 and revoked_at is null returning kid`,
);

const revokeListed = sql(
  'replay_revoked_signing_keys',
  onList(`update signing_keys set revoked_at = $2 where revoked_at is null and kid in ({ids})`),
);

export const listSigningKeys = (db: Db, options?: ReadOptions): Promise<SigningKeyRow[]> =>
  db.all(listKeys, [], options);
export const listSigningKeyTimes = (db: Db): Promise<SigningKeyTimes[]> => db.all(listTimes, [], { isShared: true });

const valuesOf = (key: SigningKeyRow) =>
  [key.kid, key.alg, key.publicJwk, key.privateJwk, key.createdAt, key.activatesAt] as const;

/** Adds the key unless another key of its algorithm is active by then. */
export async function createFirstSigningKey(db: Db, key: SigningKeyRow): Promise<void> {
  await db.transaction(async (tx) => {
    await tx.all(lockKeys);
    if ((await tx.run(insertFirstKey, valuesOf(key))) === 0) return;
    const principal: Principal = { kind: 'system' };
    await recordEventTx(tx, { at: key.createdAt, principal, action: 'signing_key.created', target: key.kid });
  });
}

/**
 * Adds the next key unless another one of its algorithm waits to be activated. The guard runs after the lock of the keys: it
 * locks the key of the principal's access token, which the other order of two rotations would turn into a deadlock.
 * @returns false if another one waits
 * @throws the error of the guard
 */
export const createNextSigningKey = (
  db: Db,
  principal: Principal,
  key: SigningKeyRow,
  guard?: Guard,
): Promise<boolean> =>
  db.transaction(async (tx) => {
    await tx.all(lockKeys);
    await guard?.(tx, { principal, now: key.createdAt });
    if ((await tx.run(insertNextKey, valuesOf(key))) === 0) return false;
    await recordEventTx(tx, { at: key.createdAt, principal, action: 'signing_key.created', target: key.kid });
    return true;
  });

/** Adds a key and revokes all others. @returns the number of revoked keys @throws the error of the guard */
export const replaceSigningKeys = (db: Db, principal: Principal, key: SigningKeyRow, guard?: Guard): Promise<number> =>
  db.transaction((tx) => replaceSigningKeysTx(tx, principal, key, guard));

/** As {@link replaceSigningKeys}; also a part of a rotation of the root key. */
export async function replaceSigningKeysTx(
  tx: Transaction,
  principal: Principal,
  key: SigningKeyRow,
  guard?: Guard,
): Promise<number> {
  const { kid: target, createdAt: at } = key;
  await tx.all(lockKeys);
  await guard?.(tx, { principal, now: at });
  await tx.run(insertKey, valuesOf(key));
  await recordEventTx(tx, { at, principal, action: 'signing_key.created', target });
  const revoked = await tx.all(revokeOtherKeys, [target, at]);
  for (const { kid } of revoked) await recordEventTx(tx, { at, principal, action: 'signing_key.revoked', target: kid });
  return revoked.length;
}

/** For a replay of the deletion journal, which records the events. */
export const revokeSigningKeysTx = async (tx: Transaction, kids: readonly string[], now: number): Promise<void> =>
  void (await tx.run(revokeListed, [JSON.stringify(kids), now]));
