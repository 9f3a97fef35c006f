/** The creation of an API key, which the writer thread of SQLite runs (`procedures.ts`). */
import type { Principal } from '../../foundation/principal.ts';
import { allInOrder } from '../../foundation/all-in-order.ts';
import { hasSameName } from '../../foundation/database/joiners.ts';
import { sql, sqlMany, type Dialect, type SqlValue } from '../../foundation/database/sql.ts';
import type { Db, Transaction } from '../../foundation/database/db.ts';
import { DomainError } from '../../foundation/errors.ts';
import { recordEventTx, type AuditDetails } from '../audit/audit.ts';
import { countTx, type WindowCounter } from '../rate-limits/window-counter.ts';
import { assertMayGrant, pointerIn } from '../scope-catalogue/grants.ts';
import { assertMayActForTx } from '../service-accounts/acting.ts';
import { insertGivenTx } from './given-hash-store.ts';

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
): string => `insert into api_keys (lookup, key_hash, id, account_pk, nickname, scopes, expires_at, created_at, updated_at, scopes_need_role, hint, addresses, limits, metadata, environment, public_key, folded, trust, issuer_id, rules)
   select $1, $2, $3, pk, $5, $6, $7, $8, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19 from accounts where id = $4
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

/** A new key as a row, and what its creation depends on. */
export interface Creation {
  readonly creator: Principal;
  readonly accountId: string;
  readonly id: number;
  readonly hash: Uint8Array;
  /** Whether the hash was in the request. */
  readonly isGiven: boolean;
  /** Of the insert statement. */
  readonly values: readonly SqlValue[];
  readonly scopes: readonly string[];
  /** Scopes that the scope catalogue must allow the account to grant. */
  readonly grants: readonly string[];
  readonly keysMax: number;
  /** Undefined if the creator's creations are not counted. */
  readonly counter: WindowCounter | undefined;
  /** Undefined if the prefix is recorded. */
  readonly prefix: RecordedPrefix | undefined;
  /** Of the audit event. */
  readonly details: AuditDetails;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/**
 * Its statements are sent together, followed by the audit event and the commit.
 * @throws DomainError `invalid_access_token`, `account_not_found`, `email_unverified`, `too_many_creations`,
 *   `key_limit_reached`, `secret_taken`, `nickname_taken`, the first of them that applies; nothing is stored then
 */
export async function createKeyTx(tx: Transaction, creation: Creation): Promise<void> {
  const { creator, accountId, id, isGiven, values, scopes, grants, keysMax, counter, prefix, details, now } = creation;
  await allInOrder([
    assertMayActForTx(tx, creator, accountId, now),
    tx.get(lockAccount, [accountId]).then(assertMayCreate),
    counter && countTx(tx, counter, now),
    tx.get(countKeys, [accountId]).then((row) => assertBelowKeyLimit(row?.count ?? 0, keysMax)),
    assertMayGrant(tx, accountId, grants, pointerIn(scopes)),
    (isGiven ? insertGivenTx(tx, insertGivenKey, values, creation) : tx.run(insertKey, values)).then(assertInserted),
    prefix && recordPrefixTx(tx, prefix),
    recordEventTx(tx, {
      at: now,
      principal: creator,
      action: 'api_key.created',
      accountId,
      target: String(id),
      details,
    }),
  ]);
}

/** On PostgreSQL, locks the account whose keys change: no other key of it gets a nickname meanwhile. */
export const lockOwnerTx = async (tx: Transaction, accountId: string): Promise<void> =>
  void (await tx.get(lockAccount, [accountId]));

/** Records the prefix of a new secret, unless it is recorded. */
export const recordPrefixTx = (tx: Transaction, { prefix, environment }: RecordedPrefix): void =>
  tx.enqueue(insertPrefix, [prefix, environment]);

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

/** The states for creations, in the order of the lookups. */
export const findForCreation = (
  db: Db,
  lookups: readonly (readonly [accountId: string, nickname: string])[],
): Promise<(CreationState | undefined)[]> => db.getMany(selectForCreation, lookups);
