/** Leaked secrets of API keys: finds them by their hashes, and ends them. */
import type { DisabledReason } from '@keyreeve/contract';
import { allInOrder } from '../../foundation/all-in-order.ts';
import { lookupOf } from '../../foundation/crypto/keyed-hash.ts';
import type { Db, Reader, Transaction } from '../../foundation/database/db.ts';
import { databaseTime, sql, sqlMany, type Dialect } from '../../foundation/database/sql.ts';
import { randomHash } from './stored-hash.ts';

/** A key that has or had the secret. */
export interface SecretHolder {
  readonly keyId: number;
  readonly accountId: string;
}

/** When a secret was read. */
export interface ReadHolder extends SecretHolder {
  /** The program that made the key; null for another key. */
  readonly program: string | null;
}

/** A secret of a locked key, and what ending it needs. */
export interface FoundSecret extends SecretHolder {
  readonly secret: 'current' | 'previous';
  /** The stored hash, in lower-case hexadecimal. */
  readonly hash: string;
  readonly nickname: string;
  readonly hint: string | null;
  readonly disabledAt: number | null;
  readonly disabledReason: DisabledReason | null;
  readonly updatedAt: number;
  /** The end of the overlap of a previous secret, in milliseconds; null for a current one. */
  readonly overlapEndsAt: number | null;
  /** The time of the database; null on SQLite. */
  readonly readAt: number | null;
}

const holder = `k.id as "keyId", a.id as "accountId"`;
const readHolder = `${holder}, k.program`;
const owned = 'join accounts a on a.pk = k.account_pk';
const ofCurrent = (lookup: string, hash: string): string =>
  `join api_keys k on k.lookup = ${lookup} and k.key_hash = ${hash} ${owned}`;
const ofPrevious = (lookup: string, hash: string): string =>
  `join api_key_secrets s on s.lookup = ${lookup} and s.key_hash = ${hash} join api_keys k on k.id = s.key_id ${owned}`;
// Both tables in one snapshot: a rotation meanwhile hides no secret.
const selectHolders = sqlMany<ReadHolder>('select_holders_of_secrets', {
  sqlite: `select ${readHolder} from (select 1) requested ${ofCurrent('$1', '$2')}
   union all select ${readHolder} from (select 1) requested ${ofPrevious('$1', '$2')}`,
  postgres: `with requested as (select * from unnest($1::bigint[], $2::bytea[]) with ordinality as r (lookup, key_hash, ordinal))
   select requested.ordinal, ${readHolder} from requested ${ofCurrent('requested.lookup', 'requested.key_hash')}
   union all select requested.ordinal, ${readHolder} from requested ${ofPrevious('requested.lookup', 'requested.key_hash')}`,
});
const lockAccounts = sql<{ id: string }>('lock_accounts_of_leaked_secrets', {
  sqlite: 'select id from accounts where id in (select value from json_each($1))',
  postgres: `select id from accounts where id in (select value from json_array_elements_text($1::json))
   order by kind, id for no key update`,
});
const lockKeys = sql<{ id: number }>('lock_keys_of_leaked_secrets', {
  sqlite: 'select id from api_keys where id in (select value from json_each($1))',
  postgres: `select id from api_keys where id in (select value::bigint from json_array_elements_text($1::json))
   order by id for update`,
});
const given = {
  sqlite: `(select value ->> '$.hash' as hash, unhex(value ->> '$.hash') as key_hash, value ->> '$.lookup' as lookup
     from json_each($1)) requested`,
  postgres: `(select hash, decode(hash, 'hex') as key_hash, lookup
     from json_to_recordset($1::json) as listed (hash text, lookup bigint)) requested`,
} as const;
const found = (dialect: Dialect, secret: FoundSecret['secret'], overlapEnd: string, joins: string): string =>
  `select '${secret}' as secret, requested.hash, ${holder}, k.nickname, k.hint, k.disabled_at as "disabledAt", k.disabled_reason as "disabledReason",
     k.updated_at as "updatedAt", ${overlapEnd} as "overlapEndsAt", ${databaseTime[dialect]} as "readAt"
   from ${given[dialect]} ${joins}`;
const noTime = { sqlite: 'null', postgres: 'null::bigint' } as const;
const foundOfBoth = (dialect: Dialect): string =>
  `${found(dialect, 'current', noTime[dialect], ofCurrent('requested.lookup', 'requested.key_hash'))}
   union all ${found(dialect, 'previous', 's.expires_at', ofPrevious('requested.lookup', 'requested.key_hash'))}`;
const selectFound = sql<FoundSecret>('find_leaked_secrets', {
  sqlite: foundOfBoth('sqlite'),
  postgres: foundOfBoth('postgres'),
});
const endCurrent = sql(
  'end_leaked_secret',
  `update api_keys set lookup = $2, key_hash = $3, leaked_at = $4, disabled_at = $5, disabled_reason = $6, updated_at = $4,
     revision = revision + 1 where id = $1`,
);
const endPrevious = sql('end_leaked_previous_secret', 'delete from api_key_secrets where key_id = $1 and lookup = $2');
const insertLeaked = sql(
  'insert_leaked_secret',
  'insert into leaked_secrets (lookup, leaked_at) values ($1, $2) on conflict (lookup) do nothing',
);
const selectLeaked = sql<{ leakedAt: number }>(
  'select_leaked_secret',
  'select leaked_at as "leakedAt" from leaked_secrets where lookup = $1',
);
const touch = sql(
  'touch_key_of_leaked_secret',
  'update api_keys set updated_at = $2, revision = revision + 1 where id = $1',
);

/** The keys with these secrets, by their stored hashes, in order, from one snapshot taken after the call. */
export const findHolders = (db: Db, hashes: readonly Buffer[]): Promise<(ReadHolder | undefined)[]> =>
  db.getMany(
    selectHolders,
    hashes.map((hash) => [lookupOf(hash), hash]),
  );

/**
 * On PostgreSQL, locks keys and their accounts in the order of all such locks: the accounts of persons, other accounts by
 * their ids, keys by their ids. A deletion of an account locks its keys in any order, but after the account.
 */
export async function lockHoldersTx(tx: Transaction, holders: readonly SecretHolder[]): Promise<void> {
  const listOf = (ids: readonly (string | number)[]): string => JSON.stringify([...new Set(ids)]);
  await allInOrder([
    tx.all(lockAccounts, [listOf(holders.map(({ accountId }) => accountId))]),
    tx.all(lockKeys, [listOf(holders.map(({ keyId }) => keyId))]),
  ]);
}

/** The current and previous secrets with these stored hashes. Call it after {@link lockHoldersTx}. */
export const findLeakedSecretsTx = (tx: Transaction, hashes: readonly Buffer[]): Promise<FoundSecret[]> =>
  findSecrets(tx, hashes);

/** The current and previous secrets with these stored hashes, from one snapshot. Their keys may change meanwhile. */
export const findSecrets = (reader: Pick<Reader, 'all'>, hashes: readonly Buffer[]): Promise<FoundSecret[]> =>
  reader.all(selectFound, [
    JSON.stringify(hashes.map((hash) => ({ hash: hash.toString('hex'), lookup: lookupOf(hash) }))),
  ]);

/** @returns when the secret with this stored hash leaked, in milliseconds; undefined if it has not */
export const findLeakTime = async (db: Db, hash: Buffer): Promise<number | undefined> =>
  (await db.get(selectLeaked, [lookupOf(hash)]))?.leakedAt;

/**
 * Ends a secret of a locked key. The key of a current secret is disabled with the reason `leaked`; if it is disabled already,
 * the earlier reason stays. No text has the random bytes that replace the hash. The caller records the event.
 * @param at the time of the change, in milliseconds
 */
export function endLeakedSecretTx(tx: Transaction, leaked: FoundSecret, at: number): void {
  const { keyId, secret: kind, disabledAt, disabledReason } = leaked;
  rememberLeakedTx(tx, Buffer.from(leaked.hash, 'hex'), at);
  if (kind === 'previous') {
    tx.enqueue(endPrevious, [keyId, lookupOf(Buffer.from(leaked.hash, 'hex'))]);
    tx.enqueue(touch, [keyId, at]);
    return;
  }
  const replacement = randomHash();
  const reason: DisabledReason = disabledAt === null ? 'leaked' : (disabledReason ?? 'administrator');
  tx.enqueue(endCurrent, [keyId, lookupOf(replacement), replacement, at, disabledAt ?? at, reason]);
}

/** Prevents that a key gets the secret again: by an import, or by a creation with its hash. @param at milliseconds */
export function rememberLeakedTx(tx: Transaction, hash: Buffer, at: number): void {
  tx.enqueue(insertLeaked, [lookupOf(hash), at]);
}
