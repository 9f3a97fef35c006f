/** The tables of API keys and of their prefixes. */
import type { DisabledReason } from '@keyreeve/contract';
import type { Act } from '../../foundation/principal.ts';
import { recordEventsTx } from '../audit/audit.ts';
import type { Db, Transaction } from '../../foundation/database/db.ts';
import { onList } from '../../foundation/database/json-lists.ts';
import { sql, sqlMany } from '../../foundation/database/sql.ts';
import type { ClientIdentity } from './client-identity.ts';
import { lockOwnerTx, type RecordedPrefix } from './creation-store.ts';

export interface KeyRow extends ClientIdentity {
  readonly id: number;
  readonly nickname: string;
  /** Separated by spaces. */
  readonly scopes: string;
  /** 1 when reserved scopes are in force only while the owner is an administrator; otherwise 0. */
  readonly needsRole: number;
  readonly ownerRole: string;
  readonly expiresAt: number | null;
  readonly disabledAt: number | null;
  readonly disabledReason: DisabledReason | null;
  /** When the current secret was reported as leaked; it has ended. Null: not since the last rotation. */
  readonly leakedAt: number | null;
  readonly hint: string | null;
  /** 1 if the key has a trust and its issuer exists; otherwise 0. */
  readonly hasIssuer: number;
  /** The name of a further environment; null for the first one. */
  readonly environment: string | null;
  readonly createdAt: number;
  readonly updatedAt: number;
}

const listPrefixes = sql<RecordedPrefix>(
  'list_key_prefixes',
  `select prefix, environment from key_prefixes order by prefix`,
);
/** The columns of what a key `k` has instead of a secret. */
export const identityColumns = `k.public_key as "publicKey", k.trust, k.issuer_id as "issuerId",
     case when k.issuer_id is not null and exists (select 1 from issuers i where i.id = k.issuer_id) then 1 else 0 end as "hasIssuer"`;
/** The columns of {@link KeyRow}, of a key `k` and its account `a`. */
export const shownColumns = `k.id, k.nickname, k.scopes, k.scopes_need_role as "needsRole", a.role as "ownerRole",
     k.expires_at as "expiresAt", k.disabled_at as "disabledAt", k.disabled_reason as "disabledReason", k.leaked_at as "leakedAt", k.hint, k.environment, ${identityColumns},
     k.created_at as "createdAt", k.updated_at as "updatedAt"`;
const list = `select ${shownColumns} from api_keys k join accounts a on a.pk = k.account_pk where a.id = $1`;
const listKeys = sql<KeyRow>('list_api_keys', `${list} order by k.created_at, k.id`);
const pageKeys = sql<KeyRow>(
  'page_api_keys',
  `${list} and (k.created_at > $2 or k.created_at = $2 and k.id > $3) order by k.created_at, k.id limit $4`,
);
const countBeyond = sql<{ count: number }>(
  'count_api_keys_beyond',
  'select count(*) as count from api_keys where expires_at is null or expires_at > $1',
);
const deleteAccountKeys = sql<{ id: number; nickname: string }>(
  'delete_account_api_keys',
  onList(`delete from api_keys where account_pk = (select pk from accounts where id = $2) and updated_at >= $3
   and id not in ({numbers}) returning id, nickname`),
);
const selectOwners = sqlMany<{ accountId: string }>('select_api_key_owners', {
  sqlite: `select a.id as "accountId" from api_keys k join accounts a on a.pk = k.account_pk where k.id = $1`,
  postgres: `select requested.ordinal, a.id as "accountId" from unnest($1::bigint[]) with ordinality as requested (id, ordinal)
     join api_keys k on k.id = requested.id join accounts a on a.pk = k.account_pk`,
});
/** The prefixes of all keys that were created here, including deleted keys. */
export const listKeyPrefixes = (reader: Pick<Db, 'all'>): Promise<RecordedPrefix[]> => reader.all(listPrefixes);

export const listAccountKeys = (reader: Pick<Db, 'all'> | Transaction, accountId: string): Promise<KeyRow[]> =>
  reader.all(listKeys, [accountId]);

/** The owners of keys, in the order of their ids. */
export const findKeyOwners = (db: Db, ids: readonly number[]): Promise<({ accountId: string } | undefined)[]> =>
  db.getMany(
    selectOwners,
    ids.map((id) => [id]),
  );

/** @returns the number of keys that never expire, or later than this time, in milliseconds */
export const countKeysBeyond = async (reader: Pick<Db, 'get'>, latest: number): Promise<number> =>
  (await reader.get(countBeyond, [latest]))?.count ?? 0;

/** At most `count` keys after the key with this time and id, oldest first. */
export const pageAccountKeys = (
  db: Db,
  accountId: string,
  after: { readonly createdAt: number; readonly id: number },
  count: number,
): Promise<KeyRow[]> => db.all(pageKeys, [accountId, after.createdAt, after.id, count]);

/** @returns the id of the account that the key belongs to */
export const findKeyOwner = async (db: Db, id: number): Promise<string | undefined> =>
  (await findKeyOwners(db, [id]))[0]?.accountId;

export interface KeysToDelete {
  /** Only keys that were created, changed or rotated since; milliseconds since 1970. */
  readonly changedSince?: number;
  readonly keptIds?: readonly number[];
}

/**
 * Deletes the keys of an account, with an audit event for each. On PostgreSQL the lock of the account's row prevents
 * concurrent creations.
 * @param which all keys by default
 * @returns their ids, in order, for the deletion journal
 */
export async function deleteAccountKeysTx(
  tx: Transaction,
  { principal, now }: Act,
  accountId: string,
  { changedSince = 0, keptIds = [] }: KeysToDelete = {},
): Promise<number[]> {
  await lockOwnerTx(tx, accountId);
  const values = [JSON.stringify(keptIds), accountId, changedSince];
  const deleted = (await tx.all(deleteAccountKeys, values)).toSorted((a, b) => a.id - b.id);
  await recordEventsTx(
    tx,
    deleted.map(({ id, nickname }) => ({
      at: now,
      principal,
      action: 'api_key.deleted',
      accountId,
      target: String(id),
      details: { nickname },
    })),
  );
  return deleted.map(({ id }) => id);
}
