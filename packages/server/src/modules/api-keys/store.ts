/** The tables of API keys and of their prefixes. */
import type { DisabledReason } from '@keyreeve/contract';
import type { Act, Principal } from '../../foundation/principal.ts';
import { recordEventTx, recordEventsTx } from '../audit/audit.ts';
import { lookupOf } from '../../foundation/crypto/keyed-hash.ts';
import type { Db, Transaction } from '../../foundation/database/db.ts';
import { onList } from '../../foundation/database/json-lists.ts';
import { sql, sqlMany, type Dialect } from '../../foundation/database/sql.ts';
import { allInOrder } from '../../foundation/all-in-order.ts';
import { hasSameName } from '../../foundation/database/joiners.ts';
import { DomainError } from '../../foundation/errors.ts';
import { fold } from '../../foundation/fold.ts';
import { toLimits } from '../key-limits/definition.ts';
import { isCountedCreator } from '../rate-limits/key-change-limits.ts';
import { countCreationTx, type KeyCreationLimits } from '../rate-limits/key-creation-limits.ts';
import { assertMayGrant, pointerIn } from '../scope-catalogue/grants.ts';
import { assertMayActForTx } from '../service-accounts/acting.ts';
import { insertGivenTx } from './given-hash-store.ts';
import type { CreationNotices } from './creation-notices.ts';
import { thumbprintOf } from './public-key.ts';

export interface KeyRow {
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
  /** The stored form; null for a key with a secret. */
  readonly publicKey: string | null;
  /** The name of a further environment; null for the first one. */
  readonly environment: string | null;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export interface NewKey {
  readonly id: number;
  readonly hash: Buffer;
  /** The part of the secret that may be shown; null if the secret is not known. */
  readonly hint: string | null;
  /** Whether the hash was in the request. */
  readonly isGiven?: boolean;
  /** The stored form. The hash is then random. */
  readonly publicKey?: string;
  readonly accountId: string;
  readonly nickname: string;
  readonly scopes: readonly string[];
  /** As in {@link KeyRow}; true when an administrator grants a reserved scope. */
  readonly needsRole?: boolean;
  readonly expiresAt: number | null;
  /** CIDR ranges, separated by spaces; null: any IP address. */
  readonly addresses?: string | null;
  /** JSON in canonical form. */
  readonly limits?: string | null;
  /** JSON. */
  readonly metadata?: string | null;
  /** The name of a further environment; null or absent for the first one. */
  readonly environment?: string | null;
  readonly now: number;
  /** Scopes that the scope catalogue must allow the account to grant. */
  readonly grants?: readonly string[];
  /** Absent when it is already recorded. */
  readonly prefix?: string | undefined;
}

const lockText = `select pk, unverified_since as "unverifiedSince" from accounts where id = $1`;
// On PostgreSQL the lock of the account's row keeps the count of its keys exact. SQLite has one writer.
const lockAccount = sql<{ pk: number; unverifiedSince: number | null }>('lock_key_owner', {
  sqlite: lockText,
  postgres: `${lockText} for update`,
});
const countKeys = sql<{ count: number }>(
  'count_api_keys',
  `select count(*) as count from api_keys where account_pk = (select pk from accounts where id = $1)`,
);
// The account is locked. The unique index does not ignore joiners.
const insertIn = (
  dialect: Dialect,
  conflict: string,
): string => `insert into api_keys (lookup, key_hash, id, account_pk, nickname, scopes, expires_at, created_at, updated_at, scopes_need_role, hint, addresses, limits, metadata, environment, public_key, folded)
   select $1, $2, $3, pk, $5, $6, $7, $8, $8, $9, $10, $11, $12, $13, $14, $15, $16 from accounts where id = $4
     and not ${hasSameName(dialect, 'api_keys k where k.account_pk = accounts.pk', 'k.nickname', '$5')}
   on conflict ${conflict} do nothing`;
const insertText = (conflict: string): Record<Dialect, string> => ({
  sqlite: insertIn('sqlite', conflict),
  postgres: insertIn('postgres', conflict),
});
const insertKey = sql('insert_api_key', insertText('(account_pk, nickname)'));
const insertGivenKey = sql('insert_api_key_with_given_hash', insertText(''));
const insertPrefix = sql(
  'insert_key_prefix',
  `insert into key_prefixes (prefix, environment) values ($1, $2) on conflict (prefix) do nothing`,
);
const listPrefixes = sql<RecordedPrefix>(
  'list_key_prefixes',
  `select prefix, environment from key_prefixes order by prefix`,
);
/** The columns of {@link KeyRow}, of a key `k` and its account `a`. */
export const shownColumns = `k.id, k.nickname, k.scopes, k.scopes_need_role as "needsRole", a.role as "ownerRole",
     k.expires_at as "expiresAt", k.disabled_at as "disabledAt", k.disabled_reason as "disabledReason", k.leaked_at as "leakedAt", k.hint, k.environment, k.public_key as "publicKey",
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
const deleteOwnKey = sql<{ nickname: string }>(
  'delete_api_key',
  `delete from api_keys where id = $1 and account_pk = (select pk from accounts where id = $2) returning nickname`,
);
const deleteAccountKeys = sql<{ id: number; nickname: string }>(
  'delete_account_api_keys',
  onList(`delete from api_keys where account_pk = (select pk from accounts where id = $2) and updated_at >= $3
   and id not in ({numbers}) returning id, nickname`),
);
const selectOwner = sql<{ accountId: string }>(
  'select_api_key_owner',
  `select a.id as "accountId" from api_keys k join accounts a on a.pk = k.account_pk where k.id = $1`,
);
const selectOwners = sqlMany<{ accountId: string }>('select_api_key_owners', {
  sqlite: `select a.id as "accountId" from api_keys k join accounts a on a.pk = k.account_pk where k.id = $1`,
  postgres: `select requested.ordinal, a.id as "accountId" from unnest($1::bigint[]) with ordinality as requested (id, ordinal)
     join api_keys k on k.id = requested.id join accounts a on a.pk = k.account_pk`,
});
/** A prefix with which keys were created. */
export interface RecordedPrefix {
  readonly prefix: string;
  /** The environment of the first such key; null: the first one. */
  readonly environment: string | null;
}
/** The state that decides whether a key may be created. */
export interface CreationState {
  readonly unverifiedSince: number | null;
  readonly keyCount: number;
  /** 1 when a key of the account has the nickname, apart from joiners; otherwise 0. */
  readonly isTaken: number;
}
const stateForCreation = (
  dialect: Dialect,
  id: string,
  nickname: string,
): string => `a.unverified_since as "unverifiedSince",
     (select count(*) from api_keys k where k.account_pk = a.pk) as "keyCount",
     case when ${hasSameName(dialect, 'api_keys k where k.account_pk = a.pk', 'k.nickname', nickname)} then 1 else 0 end as "isTaken"
   from ${id}`;
const selectForCreation = sqlMany<CreationState>('select_for_api_key_creation', {
  sqlite: `select ${stateForCreation('sqlite', 'accounts a where a.id = $1', '$2')}`,
  postgres: `select requested.ordinal, ${stateForCreation(
    'postgres',
    'unnest($1::text[], $2::text[]) with ordinality as requested (id, nickname, ordinal) join accounts a on a.id = requested.id',
    'requested.nickname',
  )}`,
});
export interface CreationRules {
  readonly keysMax: number;
  readonly creationLimits?: KeyCreationLimits | undefined;
  readonly creationNotices?: CreationNotices | undefined;
}
/**
 * Its statements are sent together, followed by the audit event and the commit.
 * @throws DomainError `invalid_access_token`, `account_not_found`, `email_unverified`, `too_many_creations`,
 *   `key_limit_reached`, `secret_taken`, `nickname_taken`, the first of them that applies; nothing is stored then
 */
export async function createKey(
  db: Db,
  principal: Principal,
  key: NewKey,
  { keysMax, creationLimits, creationNotices }: CreationRules,
): Promise<void> {
  const { id, hash, hint, accountId, nickname, scopes, needsRole = false, expiresAt, now, prefix, isGiven } = key;
  const { addresses = null, limits = null, metadata = null, environment = null, publicKey = null, grants = [] } = key;
  const role = needsRole ? 1 : 0;
  const own = [
    id,
    accountId,
    nickname,
    scopes.join(' '),
    expiresAt,
    now,
    role,
    hint,
    addresses,
    limits,
    metadata,
    environment,
    publicKey,
    fold(nickname),
  ];
  const values = [lookupOf(hash), hash, ...own];
  const details = {
    nickname,
    scopes,
    ...(limits === null ? {} : { limits: toLimits(limits) }),
    ...(environment === null ? {} : { environment }),
    ...(isGiven ? { given: true } : {}),
    ...(publicKey === null ? {} : { publicKey: thumbprintOf(publicKey) }),
  };
  await db.transaction(async (tx) => {
    await allInOrder([
      assertMayActForTx(tx, principal, accountId, now),
      tx.get(lockAccount, [accountId]).then(assertMayCreate),
      creationLimits && isCountedCreator(principal) && countCreationTx(tx, creationLimits, principal, now),
      tx.get(countKeys, [accountId]).then((row) => assertBelowKeyLimit(row?.count ?? 0, keysMax)),
      assertMayGrant(tx, accountId, grants, pointerIn(scopes)),
      (isGiven ? insertGivenTx(tx, insertGivenKey, values, key) : tx.run(insertKey, values)).then(assertInserted),
      prefix !== undefined && recordPrefixTx(tx, { prefix, environment }),
      recordEventTx(tx, { at: now, principal, action: 'api_key.created', accountId, target: String(id), details }),
    ]);
    if (creationNotices?.isNeeded(principal, accountId)) await creationNotices.queueTx(tx, principal, key);
  });
}

/** Records the prefix of a new secret, unless it is recorded. */
export const recordPrefixTx = (tx: Transaction, { prefix, environment }: RecordedPrefix): void =>
  tx.enqueue(insertPrefix, [prefix, environment]);

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

/** On PostgreSQL, locks the account whose keys change: no other key of it gets a nickname meanwhile. */
export const lockOwnerTx = async (tx: Transaction, accountId: string): Promise<void> =>
  void (await tx.get(lockAccount, [accountId]));

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

/** The states for creations, in the order of the lookups. */
export const findForCreation = (
  db: Db,
  lookups: readonly (readonly [accountId: string, nickname: string])[],
): Promise<(CreationState | undefined)[]> => db.getMany(selectForCreation, lookups);

/** @throws DomainError `account_not_found`, `email_unverified` */
export function assertMayCreate(account: Pick<CreationState, 'unverifiedSince'> | undefined): asserts account {
  if (!account) throw new DomainError('account_not_found');
  if (account.unverifiedSince !== null) throw new DomainError('email_unverified');
}

/** @throws DomainError `nickname_taken` */
function assertInserted(rows: number): void {
  if (rows === 0) throw new DomainError('nickname_taken');
}

/** @throws DomainError `key_limit_reached` */
export function assertBelowKeyLimit(keyCount: number, keysMax: number): void {
  if (keyCount >= keysMax)
    throw new DomainError('key_limit_reached', { detail: `An account has at most ${keysMax} keys.` });
}

/**
 * @throws DomainError `invalid_access_token`; `not_key_owner` when the key is another account's, `key_not_found` when no
 *   key has the id
 */
export const deleteKeyTx = async (tx: Transaction, act: Act, accountId: string, id: number): Promise<void> =>
  void (await allInOrder([
    assertMayActForTx(tx, act.principal, accountId, act.now),
    finishDeletionTx(tx, act, accountId, id),
  ]));

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
  await tx.get(lockAccount, [accountId]);
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

/**
 * Repeats a deletion that was allowed and whose outcome is unknown. The statements are sent together. The owner of the key,
 * which decides the error, is read after the deletion.
 * @throws DomainError `not_key_owner`, `key_not_found`; nothing is recorded then
 */
export async function finishDeletionTx(
  tx: Transaction,
  { principal, now }: Act,
  accountId: string,
  id: number,
): Promise<void> {
  const deleted = tx.get(deleteOwnKey, [id, accountId]);
  const otherOwner = tx.get(selectOwner, [id]);
  const details = allInOrder([deleted, otherOwner]).then(([key, owner]) => {
    if (!key) throw new DomainError(owner ? 'not_key_owner' : 'key_not_found');
    return { nickname: key.nickname };
  });
  await recordEventTx(tx, { at: now, principal, action: 'api_key.deleted', accountId, target: String(id), details });
}
