/** The table of short-lived secrets, which clients get for what proves who they are. */
import { limits } from '@keyreeve/contract';
import { allInOrder } from '../../foundation/all-in-order.ts';
import { aheadMsMax, type Clock } from '../../foundation/clock.ts';
import { lookupOf } from '../../foundation/crypto/keyed-hash.ts';
import type { Db, Transaction } from '../../foundation/database/db.ts';
import { mayJudge } from '../../foundation/database/key-rules.ts';
import { databaseTime, sql, sqlMany, type Dialect } from '../../foundation/database/sql.ts';
import { DomainError } from '../../foundation/errors.ts';
import type { IssuerRow } from '../issuers/store.ts';

export interface NewShortLivedSecret {
  /** The stored hash. */
  readonly hash: Buffer;
  readonly keyId: number;
  /** The lookup of the public key or the trust that the client has proved. */
  readonly issuedBy: number;
  /** The claim `jti` of the assertion; undefined if there is none. */
  readonly assertionId?: string;
  /** Of an identity token, with the version whose rules it met. */
  readonly issuer?: Pick<IssuerRow, 'id' | 'version'>;
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly expiresAt: number;
}

/** The key of a short-lived secret. */
export interface OwnerOfShortLived {
  readonly keyId: number;
  readonly nickname: string;
  readonly accountId: string;
}

const lockText = (dialect: Dialect): string =>
  `select ${databaseTime[dialect]} as "readAt" from api_keys where id = $1`;
// On PostgreSQL, the exchanges of a key run in turn, so that their number of valid secrets is exact. A change, rotation or
// deletion of the key is visible to the statements after this one. SQLite has one writer.
const lockKey = sql<{ readAt: number | null }>('lock_api_key_for_exchange', {
  sqlite: lockText('sqlite'),
  postgres: `${lockText('postgres')} for no key update`,
});
// Inserts nothing for an assertion that was used, for a key, account, public key or trust that is no longer valid, and for an
// issuer that has accepted fewer tokens since.
const insertText = (
  type: string,
): string => `insert into short_lived_secrets (lookup, key_hash, key_id, issued_by, assertion_id, created_at, expires_at, issuer_id, issuer_version)
   select $1, $2, k.id, $4, $5, $6, $7, $8${type}, $9${type} from api_keys k join accounts a on a.pk = k.account_pk
   where k.id = $3 and k.disabled_at is null and a.disabled_at is null and ${mayJudge}
     and (k.expires_at is null or k.expires_at > $6) and (k.lookup = $4 or exists (
       select 1 from api_key_secrets p where p.lookup = $4 and p.key_id = k.id and p.expires_at > $6))
     and ($8${type} is null or exists (select 1 from issuers i where i.id = $8 and i.version = $9))
   on conflict (key_id, assertion_id) do nothing`;
const insertSecret = sql('insert_short_lived_secret', { sqlite: insertText(''), postgres: insertText('::bigint') });
// They would count until long after the correction of the clock. Clients exchange again.
const endAhead = sql(
  'end_short_lived_secrets_ahead',
  `update short_lived_secrets set expires_at = 0 where key_id = $1 and expires_at > $2 and created_at - ${aheadMsMax} > $2`,
);
const countLive = sql<{ live: number; firstEnd: number | null }>(
  'count_live_short_lived_secrets',
  `select count(*) as live, min(expires_at) as "firstEnd" from short_lived_secrets where key_id = $1 and expires_at > $2`,
);
// $3: the new secret, which may have the same time as older ones. Ends nothing if it was not inserted. An ended secret expires
// at 0, not now: the clock that decides whether it is valid may be behind that of this process, or be set back.
const endOldest = sql(
  'end_oldest_short_lived_secrets',
  `update short_lived_secrets set expires_at = 0
   where key_id = $1 and expires_at > $2 and lookup <> $3 and lookup not in (
     select lookup from short_lived_secrets where key_id = $1 and expires_at > $2 and lookup <> $3
     order by created_at desc, lookup desc limit $4)
   and exists (select 1 from short_lived_secrets where lookup = $3)`,
);
const endAll = sql('end_all_short_lived_secrets', `update short_lived_secrets set expires_at = 0 where expires_at > 0`);
const endSecret = sql<{ keyId: number }>(
  'end_short_lived_secret',
  `update short_lived_secrets set expires_at = 0 where lookup = $1 and key_hash = $2 and expires_at > 0
   returning key_id as "keyId"`,
);
const owner = 's.key_id as "keyId", k.nickname, a.id as "accountId"';
const joined = 'join api_keys k on k.id = s.key_id join accounts a on a.pk = k.account_pk';
const selectOwners = sqlMany<OwnerOfShortLived>('select_short_lived_secret_owners', {
  sqlite: `select ${owner} from short_lived_secrets s ${joined} where s.lookup = $1 and s.key_hash = $2`,
  postgres: `select requested.ordinal, ${owner}
   from unnest($1::bigint[], $2::bytea[]) with ordinality as requested (lookup, key_hash, ordinal)
     join short_lived_secrets s on s.lookup = requested.lookup and s.key_hash = requested.key_hash ${joined}`,
});
// $1: the time of the process; $3: 1 if the time of a PostgreSQL database decides. The subquery is evaluated once, so that
// the index is used.
const oldText = (dialect: Dialect): string => `select lookup from short_lived_secrets where created_at <
     (select case when $3 = 1 then coalesce(${databaseTime[dialect]}, $1) else $1 end) - ${limits.shortLivedSecretKeptSeconds * 1_000} limit $2`;
const deleteOld = sql('delete_old_short_lived_secrets', {
  sqlite: `delete from short_lived_secrets where lookup in (${oldText('sqlite')})`,
  postgres: `delete from short_lived_secrets where lookup in (${oldText('postgres')} for update skip locked)`,
});

/**
 * Exchanges of the key, and its changes, run in turn until the end of the transaction.
 * @returns the time of a PostgreSQL database
 */
export const lockKeyForExchangeTx = async (tx: Transaction, keyId: number): Promise<number | null> =>
  (await tx.get(lockKey, [keyId]))?.readAt ?? null;

/**
 * Stores a secret and ends the oldest ones beyond `limits.shortLivedSecretsMax`, and those that began while a clock was ahead. Locks the
 * key.
 * @returns false, and stores nothing, if the assertion was used, or the key, its account or its public key is not valid
 */
export async function insertShortLivedTx(tx: Transaction, secret: NewShortLivedSecret): Promise<boolean> {
  const { hash, keyId, now } = secret;
  const locked = lockKeyForExchangeTx(tx, keyId);
  const endedAhead = tx.run(endAhead, [keyId, now]);
  const inserted = insertTx(tx, secret);
  const ended = tx.run(endOldest, [keyId, now, lookupOf(hash), limits.shortLivedSecretsMax - 1]);
  const [, , isInserted] = await allInOrder([locked, endedAhead, inserted, ended]);
  return isInserted;
}

/**
 * Stores a secret of a key that has no public key. The caller has locked the key. A matrix of jobs must not end its own secrets, so the bound
 * refuses a further one. Ends those that began while a clock was ahead.
 * @returns false, and stores nothing, if the key, its account, its trust or the issuer is not valid
 * @throws DomainError `too_many_exchanges` at `limits.trustLiveSecretsMax`
 */
export async function insertBoundedShortLivedTx(tx: Transaction, secret: NewShortLivedSecret): Promise<boolean> {
  const { keyId, now } = secret;
  const [, , isInserted] = await allInOrder([
    tx.run(endAhead, [keyId, now]),
    tx.get(countLive, [keyId, now]).then((row) => assertBelowBound(row, now)),
    insertTx(tx, secret),
  ]);
  return isInserted;
}

async function insertTx(tx: Transaction, secret: NewShortLivedSecret): Promise<boolean> {
  const { hash, keyId, issuedBy, issuer, now, expiresAt } = secret;
  const lookup = lookupOf(hash);
  // Without an assertion, the number is unique. No `jti` is so short or has a space.
  const { assertionId = `lookup ${lookup}` } = secret;
  const row = [lookup, hash, keyId, issuedBy, assertionId, now, expiresAt, issuer?.id ?? null, issuer?.version ?? null];
  return (await tx.run(insertSecret, row)) === 1;
}

function assertBelowBound(
  row: { readonly live: number; readonly firstEnd: number | null } | undefined,
  now: number,
): void {
  const { live = 0, firstEnd = null } = row ?? {};
  if (live < limits.trustLiveSecretsMax) return;
  const retryAfterSeconds = Math.max(1, Math.ceil(((firstEnd ?? now) - now) / 1_000));
  throw new DomainError('too_many_exchanges', { retryAfterSeconds });
}

/**
 * Ends one short-lived secret, such as a leaked one. Its row stays, so that its assertion cannot be used again. The caller
 * takes no lock of a key or an account afterwards.
 * @param hash the stored hash of the secret
 * @returns the id of its key; undefined if there is no such secret or it was ended before
 */
export const endShortLivedTx = async (tx: Transaction, hash: Buffer): Promise<number | undefined> =>
  (await tx.get(endSecret, [lookupOf(hash), hash]))?.keyId;

/** After a rotation of the root key, and a replay of the deletion journal. The clients exchange new ones. @returns the number of ended secrets */
export const endAllShortLivedTx = (tx: Transaction): Promise<number> => tx.run(endAll);

/** The keys of short-lived secrets, also of those that have ended, in the order of their stored hashes. Waits for no write. */
export const findShortLivedOwners = (
  db: Pick<Db, 'getMany'>,
  hashes: readonly Buffer[],
): Promise<(OwnerOfShortLived | undefined)[]> =>
  db.getMany(
    selectOwners,
    hashes.map((hash) => [lookupOf(hash), hash]),
  );

/**
 * Deletes secrets that were issued more than `limits.shortLivedSecretKeptSeconds` ago: their assertions have expired. Their
 * times are of the database on PostgreSQL. An instance whose clock is ahead would otherwise let assertions be used again.
 * @returns the number of deleted secrets
 */
export const deleteOldShortLived = (db: Db, clock: Clock, rowsMax: number): Promise<number> =>
  db.transaction((tx) => tx.run(deleteOld, [clock.now(), rowsMax, clock.isSystem === true ? 1 : 0]));
