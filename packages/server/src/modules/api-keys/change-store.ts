/** Changes and rotations of API keys, and the details of one key. */
import { allInOrder } from '../../foundation/all-in-order.ts';
import { lookupOf } from '../../foundation/crypto/keyed-hash.ts';
import type { Db, Reader, Transaction } from '../../foundation/database/db.ts';
import { hasSameName } from '../../foundation/database/joiners.ts';
import { databaseTime, sql, type Dialect } from '../../foundation/database/sql.ts';
import { fold } from '../../foundation/fold.ts';
import { recordPrefixTx } from './creation-store.ts';
import type { ClientIdentity } from './client-identity.ts';
import { identityColumns, type KeyRow } from './store.ts';
import { joinQuotaUse, quotaUseColumns, type QuotaUseRow } from '../key-limits/quota-use.ts';

/** A key with everything that a change may need. */
export interface KeyDetailsRow extends KeyRow, QuotaUseRow {
  readonly accountId: string;
  /** CIDR ranges, separated by spaces. */
  readonly addresses: string | null;
  /** JSON. */
  readonly metadata: string | null;
  readonly revision: number;
  readonly keyHash: Uint8Array;
  /** Identifies the previous secret, even one that has expired; null without one. */
  readonly previousLookup: number | null;
  /** Of the previous secret, even if it has expired; null without one. */
  readonly previousExpiresAt: number | null;
  /** Before the rotation; {@link ShownKey} has later ones. */
  readonly previousLastUsedAt: number | null;
  readonly previousPublicKey: string | null;
  readonly previousTrust: string | null;
  readonly previousIssuerId: number | null;
  /** Scopes that the catalogue withholds, separated by spaces. Set only for a response. */
  readonly withheld?: string | undefined;
  /** The time of the database at the read, for a key with a previous secret; null on SQLite. */
  readonly readAt: number | null;
}

const details = (
  dialect: Dialect,
): string => `select k.id, a.id as "accountId", k.nickname, k.scopes, k.scopes_need_role as "needsRole", a.role as "ownerRole",
     k.expires_at as "expiresAt", k.disabled_at as "disabledAt", k.disabled_reason as "disabledReason", k.leaked_at as "leakedAt", k.addresses, k.limits, k.metadata, k.environment,
     k.hint, ${identityColumns}, k.created_at as "createdAt",
     k.updated_at as "updatedAt", k.revision, k.key_hash as "keyHash", s.lookup as "previousLookup", s.expires_at as "previousExpiresAt",
     s.last_used_at as "previousLastUsedAt", s.public_key as "previousPublicKey", s.trust as "previousTrust", s.issuer_id as "previousIssuerId",
     case when s.key_id is not null then ${databaseTime[dialect]} end as "readAt",
     ${quotaUseColumns(dialect)}
   from api_keys k join accounts a on a.pk = k.account_pk left join api_key_secrets s on s.key_id = k.id ${joinQuotaUse('k')}
   where k.id = $1`;
const selectDetails = sql<KeyDetailsRow>('select_api_key_details', {
  sqlite: details('sqlite'),
  postgres: details('postgres'),
});
const lock = sql<{ id: number }>('lock_api_key', {
  sqlite: 'select id from api_keys where id = $1',
  postgres: 'select id from api_keys where id = $1 for update',
});
const updateIn = (
  dialect: Dialect,
): string => `update api_keys set nickname = $2, scopes = $3, scopes_need_role = $4, expires_at = $5, disabled_at = $6,
     disabled_reason = $7, addresses = $8, metadata = $9, limits = $10, updated_at = $11, folded = $12, revision = revision + 1
   where id = $1
     and not ${hasSameName(dialect, 'api_keys k where k.account_pk = api_keys.account_pk and k.id <> $1', 'k.nickname', '$2')}`;
const update = sql('update_api_key', { sqlite: updateIn('sqlite'), postgres: updateIn('postgres') });
const replaceSecret = sql(
  'replace_api_key_secret',
  // A rotation enables a key that is disabled because its secret leaked. Another reason stays.
  `update api_keys set lookup = $2, key_hash = $3, hint = $4, public_key = $5, trust = $6, issuer_id = $7, updated_at = $8, revision = revision + 1, leaked_at = null,
     disabled_at = case when disabled_reason = 'leaked' then null else disabled_at end,
     disabled_reason = case when disabled_reason = 'leaked' then null else disabled_reason end
   where id = $1`,
);
const insertPrevious = sql(
  'insert_previous_api_key_secret',
  `insert into api_key_secrets (lookup, key_hash, key_id, expires_at, last_used_at, public_key, trust, issuer_id)
   values ($1, $2, $3, $4, $5, $6, $7, $8)`,
);
const deletePrevious = sql('delete_previous_api_key_secret', `delete from api_key_secrets where key_id = $1`);
const endedText = `select lookup from api_key_secrets where expires_at < $1 limit $2`;
const deleteEnded = sql('delete_ended_api_key_secrets', {
  sqlite: `delete from api_key_secrets where lookup in (${endedText})`,
  // Skips the secrets of keys that are being changed: housekeeping does not wait for locks.
  postgres: `delete from api_key_secrets where lookup in (${endedText} for update skip locked)`,
});
const touch = sql(
  'touch_changed_api_key',
  `update api_keys set updated_at = $2, revision = revision + 1 where id = $1`,
);

export const findKeyDetails = (reader: Reader, id: number): Promise<KeyDetailsRow | undefined> =>
  reader.get(selectDetails, [id]);

/** Locks the key until the end of the transaction. The details are read after the lock, so they contain all earlier changes. */
export async function lockKeyTx(tx: Transaction, id: number): Promise<KeyDetailsRow | undefined> {
  const [, row] = await allInOrder([tx.get(lock, [id]), tx.get(selectDetails, [id])]);
  return row;
}

/**
 * Stores the key as it is after a change. The caller has locked it and, for a new nickname, the account.
 * @returns false if another key of the account has the nickname
 */
export async function storeChangeTx(tx: Transaction, key: KeyDetailsRow): Promise<boolean> {
  const { id, nickname, scopes, needsRole, expiresAt, disabledAt, disabledReason, addresses, metadata, limits } = key;
  const state = [nickname, scopes, needsRole, expiresAt, disabledAt, disabledReason, addresses, metadata, limits];
  return (await tx.run(update, [id, ...state, key.updatedAt, fold(nickname)])) > 0;
}

/** The next secret, public key or trust of a key. */
export interface NewSecret {
  readonly hash: Buffer;
  /** Null without a secret. */
  readonly hint: string | null;
  /** Null without a secret. */
  readonly prefix: string | null;
  readonly identity: ClientIdentity;
}

/** What a rotation makes of a key whose secret has leaked: {@link replaceSecretTx}. */
export const withoutLeak = (before: KeyDetailsRow): KeyDetailsRow => ({
  ...before,
  leakedAt: null,
  ...(before.disabledReason === 'leaked' ? { disabledAt: null, disabledReason: null } : {}),
});

/** Replaces the current secret, public key or trust of a locked key, which ends. The key becomes {@link withoutLeak}. */
export function replaceSecretTx(
  tx: Transaction,
  before: KeyDetailsRow,
  { hash, hint, prefix, identity: { publicKey, trust, issuerId } }: NewSecret,
  at: number,
): void {
  if (prefix !== null) recordPrefixTx(tx, { prefix, environment: before.environment });
  tx.enqueue(replaceSecret, [before.id, lookupOf(hash), hash, hint, publicKey, trust, issuerId, at]);
}

/**
 * Replaces the current secret, public key or trust of a locked key. It becomes the previous one, instead of an earlier one.
 * @param secret the new one, with the end of the overlap; null without one
 * @param secret.lastUsedAt the last use of the replaced one; null if none is known
 */
export function storeRotationTx(
  tx: Transaction,
  before: KeyDetailsRow,
  {
    previousExpiresAt,
    lastUsedAt,
    ...secret
  }: NewSecret & { readonly previousExpiresAt: number | null; readonly lastUsedAt: number | null },
  at: number,
): void {
  const { id, keyHash, publicKey, trust, issuerId } = before;
  const replaced = [lookupOf(Buffer.from(keyHash)), keyHash, id, previousExpiresAt, lastUsedAt];
  tx.enqueue(deletePrevious, [id]);
  replaceSecretTx(tx, before, secret, at);
  if (previousExpiresAt !== null) tx.enqueue(insertPrevious, [...replaced, publicKey, trust, issuerId]);
}

/** Ends the previous secret of a locked key. */
export function endPreviousTx(tx: Transaction, id: number, at: number): void {
  tx.enqueue(deletePrevious, [id]);
  tx.enqueue(touch, [id, at]);
}

/**
 * Deletes previous secrets that ended long ago.
 * @param before the end, in milliseconds
 * @returns the number of deleted secrets
 */
export const deleteEndedSecrets = (db: Db, before: number, rowsMax: number): Promise<number> =>
  db.transaction((tx) => tx.run(deleteEnded, [before, rowsMax]));
