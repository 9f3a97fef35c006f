/** Rows of API keys. */
import type { Principal } from '../../foundation/principal.ts';
import { recordEvent, recordEvents } from '../audit/audit.ts';
import { lookupOf } from '../../foundation/crypto/keyed-hash.ts';
import type { Db, Transaction } from '../../foundation/database/db.ts';
import { sql, sqlMany } from '../../foundation/database/sql.ts';
import { DomainError } from '../../foundation/errors.ts';
import { countCreationTx, type KeyCreationLimits } from '../rate-limits/key-creation-limits.ts';
import { assertSessionLives } from '../sessions/store.ts';

export interface KeyRow {
  readonly id: number;
  readonly nickname: string;
  readonly scopes: string;
  /** 1 when its scopes of Keyreeve itself count only while its account is an administrator's. */
  readonly needsRole: number;
  readonly ownerRole: string;
  readonly expiresAt: number | null;
  readonly lastUsedAt: number | null;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** What a verification needs of a key and its account. */
export interface KeyState {
  readonly id: number;
  readonly accountId: string;
  readonly nickname: string;
  readonly scopes: string;
  /** As of a {@link KeyRow}. */
  readonly needsRole: number;
  readonly ownerRole: string;
  readonly expiresAt: number | null;
  readonly lastUsedAt: number | null;
  readonly createdAt: number;
  readonly accountDisabledAt: number | null;
}

export interface NewKey {
  readonly id: number;
  readonly hash: Buffer;
  readonly accountId: string;
  readonly nickname: string;
  readonly scopes: readonly string[];
  /** As of a {@link KeyRow}; false unless an account grants itself a scope of Keyreeve. */
  readonly needsRole?: boolean;
  readonly expiresAt: number | null;
  readonly now: number;
  /** Recorded with the key; absent when the caller knows that it is recorded. */
  readonly prefix?: string | undefined;
}

const lockText = `select pk, unverified_since as "unverifiedSince" from accounts where id = $1`;
// On PostgreSQL the account's row is the lock under which its keys are counted; SQLite has one writer anyway.
const lockAccount = sql<{ pk: number; unverifiedSince: number | null }>('lock_key_owner', {
  sqlite: lockText,
  postgres: `${lockText} for update`,
});
const countKeys = sql<{ count: number }>(
  'count_api_keys',
  `select count(*) as count from api_keys where account_pk = $1`,
);
// The unique index decides about the nickname.
const insertKey = sql(
  'insert_api_key',
  `insert into api_keys (lookup, key_hash, id, account_pk, nickname, scopes, expires_at, last_used_at, created_at, updated_at, scopes_need_role)
   values ($1, $2, $3, $4, $5, $6, $7, null, $8, $8, $9) on conflict (account_pk, nickname) do nothing`,
);
const insertPrefix = sql(
  'insert_key_prefix',
  `insert into key_prefixes (prefix, first_used_at) values ($1, $2) on conflict (prefix) do nothing`,
);
// Keys without a recorded prefix are those of a program that recorded none.
const insertEarlierPrefix = sql(
  'insert_earlier_key_prefix',
  `insert into key_prefixes (prefix, first_used_at)
   select $1, $2 where not exists (select 1 from key_prefixes) and exists (select 1 from api_keys)
   on conflict (prefix) do nothing`,
);
const listPrefixes = sql<{ prefix: string }>('list_key_prefixes', `select prefix from key_prefixes order by prefix`);
const shownColumns = `k.id, k.nickname, k.scopes, k.scopes_need_role as "needsRole", a.role as "ownerRole",
     k.expires_at as "expiresAt", k.last_used_at as "lastUsedAt", k.created_at as "createdAt", k.updated_at as "updatedAt"`;
const listKeys = sql<KeyRow>(
  'list_api_keys',
  `select ${shownColumns}
   from api_keys k join accounts a on a.pk = k.account_pk where a.id = $1 order by k.created_at, k.id`,
);
const pageKeys = sql<KeyRow>(
  'page_api_keys',
  `select ${shownColumns}
   from api_keys k join accounts a on a.pk = k.account_pk
   where a.id = $1 and (k.created_at > $2 or k.created_at = $2 and k.id > $3) order by k.created_at, k.id limit $4`,
);
const deleteOwnKey = sql<{ nickname: string }>(
  'delete_api_key',
  `delete from api_keys where id = $1 and account_pk = (select pk from accounts where id = $2) returning nickname`,
);
const deleteAccountKeys = sql<{ id: number; nickname: string }>(
  'delete_account_api_keys',
  `delete from api_keys where account_pk = (select pk from accounts where id = $1) and created_at >= $2
   returning id, nickname`,
);
const selectOwner = sql<{ accountId: string }>(
  'select_api_key_owner',
  `select a.id as "accountId" from api_keys k join accounts a on a.pk = k.account_pk where k.id = $1`,
);
const selectOwners = sqlMany<{ accountId: string }>('select_api_key_owners', {
  sqlite: `select a.id as "accountId" from api_keys k join accounts a on a.pk = k.account_pk where k.id = $1`,
  postgres: `select asked.ordinal, a.id as "accountId" from unnest($1::bigint[]) with ordinality as asked (id, ordinal)
     join api_keys k on k.id = asked.id join accounts a on a.pk = k.account_pk`,
});
/** What a creation rests on. */
export interface CreationState {
  readonly unverifiedSince: number | null;
  readonly held: number;
  readonly isTaken: number;
}
const stateForCreation = (id: string, nickname: string): string => `a.unverified_since as "unverifiedSince",
     (select count(*) from api_keys k where k.account_pk = a.pk) as held,
     (select count(*) from api_keys k where k.account_pk = a.pk and k.nickname = ${nickname}) as "isTaken"
   from ${id}`;
const selectForCreation = sqlMany<CreationState>('select_for_api_key_creation', {
  sqlite: `select ${stateForCreation('accounts a where a.id = $1', '$2')}`,
  postgres: `select asked.ordinal, ${stateForCreation(
    'unnest($1::text[], $2::text[]) with ordinality as asked (id, nickname, ordinal) join accounts a on a.id = asked.id',
    'asked.nickname',
  )}`,
});
// The read of every verification: the key by its hash, with its account in the same snapshot. The hash is a MAC that
// nobody outside can steer, so how long the comparison takes tells nothing.
const stateColumns = `k.id, a.id as "accountId", k.nickname, k.scopes, k.scopes_need_role as "needsRole", a.role as "ownerRole", k.expires_at as "expiresAt",
     k.last_used_at as "lastUsedAt", k.created_at as "createdAt", a.disabled_at as "accountDisabledAt"`;
const selectState = sqlMany<KeyState>('select_api_key_state', {
  sqlite: `select ${stateColumns}
   from api_keys k join accounts a on a.pk = k.account_pk
   where k.lookup = $1 and k.key_hash = $2`,
  postgres: `select asked.ordinal, ${stateColumns}
   from unnest($1::bigint[], $2::bytea[]) with ordinality as asked (lookup, key_hash, ordinal)
     join api_keys k on k.lookup = asked.lookup and k.key_hash = asked.key_hash
     join accounts a on a.pk = k.account_pk`,
});
// Many at once: one statement for a batch, the ids and times as a JSON object.
const touchKeysStatement = sql('touch_api_keys', {
  sqlite: `update api_keys set last_used_at = used.at
   from (select cast(key as integer) as id, value as at from json_each($1)) as used
   where api_keys.id = used.id and (last_used_at is null or last_used_at < used.at)`,
  // A key that somebody else changes now is left out: no deletion ever waits for this.
  postgres: `update api_keys set last_used_at = used.at
   from (select k.id, (j.value)::bigint as at from json_each_text($1::json) j join api_keys k on k.id = j.key::bigint
     order by k.id for update of k skip locked) as used
   where api_keys.id = used.id and (last_used_at is null or last_used_at < used.at)`,
});

/**
 * @throws DomainError `invalid_access_token`, `account_not_found`, `email_unverified`, `key_limit_reached`,
 *   `nickname_taken`, `too_many_creations`; nothing is kept then
 */
export async function createKey(
  db: Db,
  principal: Principal,
  key: NewKey,
  keysMax: number,
  throttle: KeyCreationLimits | undefined,
): Promise<void> {
  const { id, hash, accountId, nickname, scopes, needsRole = false, expiresAt, now, prefix } = key;
  await db.transaction(async (tx) => {
    await assertSessionLives(tx, principal, now);
    const account = await tx.get(lockAccount, [accountId]);
    assertMayCreate(account);
    if (throttle) await countCreationTx(tx, throttle, accountId, now);
    const held = (await tx.get(countKeys, [account.pk]))?.count ?? 0;
    assertRoomForKey(held, keysMax);
    const values = [
      lookupOf(hash),
      hash,
      id,
      account.pk,
      nickname,
      scopes.join(' '),
      expiresAt,
      now,
      needsRole ? 1 : 0,
    ];
    if ((await tx.run(insertKey, values)) === 0) throw new DomainError('nickname_taken');
    if (prefix !== undefined) await tx.run(insertPrefix, [prefix, now]);
    await recordEvent(tx, {
      at: now,
      principal,
      action: 'api_key.created',
      accountId,
      target: String(id),
      details: { nickname, scopes },
    });
  });
}

/** The prefixes of keys that were created here, also of deleted ones. */
export const listKeyPrefixes = async (reader: Pick<Db, 'all'>): Promise<string[]> =>
  (await reader.all(listPrefixes)).map(({ prefix }) => prefix);

/** Assumes this prefix for existing keys when none is recorded: version 0.1.0 recorded none. */
export async function recordEarlierPrefix(db: Db, prefix: string, now: number): Promise<void> {
  if ((await listKeyPrefixes(db)).length > 0) return;
  await db.transaction((tx) => tx.run(insertEarlierPrefix, [prefix, now]));
}

export const listAccountKeys = (reader: Pick<Db, 'all'> | Transaction, accountId: string): Promise<KeyRow[]> =>
  reader.all(listKeys, [accountId]);

/** The accounts that keys belong to, by the ids of the keys, in order. */
export const findKeyOwners = (db: Db, ids: readonly number[]): Promise<({ accountId: string } | undefined)[]> =>
  db.getMany(
    selectOwners,
    ids.map((id) => [id]),
  );

/** At most `count` keys, in the order of the list, that come after the one with this time and id. */
export const pageAccountKeys = (
  db: Db,
  accountId: string,
  after: { readonly createdAt: number; readonly id: number },
  count: number,
): Promise<KeyRow[]> => db.all(pageKeys, [accountId, after.createdAt, after.id, count]);

/** @returns the id of the account that the key belongs to */
export const findKeyOwner = async (db: Db, id: number): Promise<string | undefined> =>
  (await findKeyOwners(db, [id]))[0]?.accountId;

/** What creations rest on, in order. */
export const findForCreation = (
  db: Db,
  questions: readonly (readonly [accountId: string, nickname: string])[],
): Promise<(CreationState | undefined)[]> => db.getMany(selectForCreation, questions);

/** @throws DomainError `account_not_found`, `email_unverified` */
export function assertMayCreate(account: Pick<CreationState, 'unverifiedSince'> | undefined): asserts account {
  if (!account) throw new DomainError('account_not_found');
  if (account.unverifiedSince !== null) throw new DomainError('email_unverified');
}

/** @throws DomainError `key_limit_reached` */
export function assertRoomForKey(held: number, keysMax: number): void {
  if (held >= keysMax)
    throw new DomainError('key_limit_reached', { detail: `An account has at most ${keysMax} keys.` });
}

/**
 * @returns `foreign` when the key is another account's, `unknown` when no key has the id
 * @throws DomainError `invalid_access_token`
 */
export async function deleteKey(
  db: Db,
  principal: Principal,
  accountId: string,
  id: number,
  now: number,
): Promise<'deleted' | 'foreign' | 'unknown'> {
  return db.transaction(async (tx) => {
    await assertSessionLives(tx, principal, now);
    if (await deleteTx(tx, principal, accountId, id, now)) return 'deleted';
    return (await tx.get(selectOwner, [id])) ? 'foreign' : 'unknown';
  });
}

/** The rest of a deletion that was allowed and may have happened: nothing remains to be judged. */
export const finishDeletion = (
  db: Db,
  principal: Principal,
  accountId: string,
  id: number,
  now: number,
): Promise<boolean> => db.transaction((tx) => deleteTx(tx, principal, accountId, id, now));

/**
 * All of an account's keys, each with its event. On PostgreSQL the account's row is locked, so that none is made
 * meanwhile.
 * @param createdSince leaves older ones alone, in milliseconds
 * @returns their ids, in order: the journal of deletions is to have them
 */
export async function deleteAccountKeysTx(
  tx: Transaction,
  principal: Principal,
  accountId: string,
  now: number,
  createdSince = 0,
): Promise<number[]> {
  await tx.get(lockAccount, [accountId]);
  const deleted = (await tx.all(deleteAccountKeys, [accountId, createdSince])).toSorted((a, b) => a.id - b.id);
  await recordEvents(
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

/** The rest of a deletion of all that was allowed and may have happened: nothing remains to be judged. */
export const finishDeletingKeys = (db: Db, principal: Principal, accountId: string, now: number): Promise<number[]> =>
  db.transaction((tx) => deleteAccountKeysTx(tx, principal, accountId, now));

/** @returns whether the account had the key */
async function deleteTx(
  tx: Transaction,
  principal: Principal,
  accountId: string,
  id: number,
  now: number,
): Promise<boolean> {
  const deleted = await tx.get(deleteOwnKey, [id, accountId]);
  if (!deleted) return false;
  const details = { nickname: deleted.nickname };
  await recordEvent(tx, { at: now, principal, action: 'api_key.deleted', accountId, target: String(id), details });
  return true;
}

/** States of keys by their stored hashes, in order, from one snapshot taken after the call. */
export const findKeyStates = (db: Db, hashes: readonly Buffer[]): Promise<(KeyState | undefined)[]> =>
  db.getMany(
    selectState,
    hashes.map((hash) => [lookupOf(hash), hash]),
  );

/** Never moves a time back, nor `updated_at`. */
export async function touchKeys(db: Db, usedAtById: ReadonlyMap<number, number>): Promise<void> {
  const values = JSON.stringify(Object.fromEntries(usedAtById));
  await db.transaction((tx) => tx.run(touchKeysStatement, [values]));
}
