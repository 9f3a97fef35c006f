/**
 * Bulk statements for API keys: the inserts of an import, the deletions and changes of a replayed deletion journal, and the
 * disabling of keys whose restrictions a restored backup lacks.
 */
import type { DisabledReason } from '@keyreeve/contract';
import type { Reader, Transaction } from '../../foundation/database/db.ts';
import { onList, type DatedId } from '../../foundation/database/json-lists.ts';
import { sql, type Dialect } from '../../foundation/database/sql.ts';
import { fold } from '../../foundation/fold.ts';
import { isUnrestricted, restrictedHash } from './stored-hash.ts';

export interface ImportedKeyRow {
  readonly id: number;
  readonly lookup: number;
  /** In hexadecimal. */
  readonly storedHash: string;
  readonly accountPk: number;
  readonly nickname: string;
  /** Separated by spaces. */
  readonly scopes: string;
  readonly expiresAt: number | null;
  readonly createdAt: number;
}

export interface DisabledKey {
  readonly id: number;
  readonly accountId: string;
  readonly reason: DisabledReason;
  /** The time of the change, in milliseconds. */
  readonly at: number;
}

const insert = sql('import_api_keys', {
  sqlite: `insert into api_keys (lookup, key_hash, id, account_pk, nickname, scopes, expires_at, last_used_at,
      created_at, updated_at, folded)
    select value ->> '$.lookup', unhex(value ->> '$.storedHash'), value ->> '$.id', value ->> '$.accountPk',
      value ->> '$.nickname', value ->> '$.scopes', value ->> '$.expiresAt', null, value ->> '$.createdAt', $2, value ->> '$.folded'
    from json_each($1)`,
  postgres: `insert into api_keys (lookup, key_hash, id, account_pk, nickname, scopes, expires_at, last_used_at,
      created_at, updated_at, folded)
    select lookup, decode("storedHash", 'hex'), id, "accountPk", nickname, scopes, "expiresAt", null, "createdAt", $2, folded
    from json_to_recordset($1::json) as given (lookup bigint, "storedHash" text, id bigint, "accountPk" bigint,
      nickname text, scopes text, "expiresAt" bigint, "createdAt" bigint, folded text)`,
});
const remove = sql('replay_deleted_keys', onList(`delete from api_keys where id in ({numbers})`));

// Later changes of the key get later times than the repeated one. Only an administrator enables a key that an
// administrator has disabled.
const disableIn = (dialect: Dialect, greatest: string): string =>
  onList(`update api_keys set disabled_at = coalesce(disabled_at, $2),
    disabled_reason = case when disabled_reason = 'administrator' then disabled_reason else $3 end,
    updated_at = ${greatest}(updated_at, given.at + 1, $2), revision = revision + 1, key_hash = ${restrictedHash[dialect]}
    from {dated} where api_keys.id = cast(given.id as bigint)`)[dialect];
const disableUnrestrictedIn = (dialect: Dialect, greatest: string): string => `update api_keys set disabled_at = $1,
    updated_at = ${greatest}(updated_at + 1, $1), revision = revision + 1,
    disabled_reason = case when exists (select 1 from audit_events e where e.target = cast(api_keys.id as text)
      and e.action in ('api_key.disabled', 'api_key.rotated', 'api_key.previous_ended', 'api_key.updated')
      and e.action = 'api_key.disabled' and e.details like '%"reason":"administrator"%')
      then 'administrator' else 'restore' end
  where id in (select id from api_keys where ${isUnrestricted(dialect)} limit $2)
  returning id, disabled_reason as reason, updated_at as at,
    (select id from accounts where pk = api_keys.account_pk) as "accountId"`;
const disable = sql('replay_disabled_keys', {
  sqlite: disableIn('sqlite', 'max'),
  postgres: disableIn('postgres', 'greatest'),
});
const findUnrestricted = sql<{ id: number }>('find_unrestricted_keys', {
  sqlite: `select id from api_keys where ${isUnrestricted('sqlite')} limit 1`,
  postgres: `select id from api_keys where ${isUnrestricted('postgres')} limit 1`,
});
// The audit log shows whether an administrator disabled the key.
const disableUnrestricted = sql<DisabledKey>('disable_unrestricted_keys', {
  sqlite: disableUnrestrictedIn('sqlite', 'max'),
  postgres: disableUnrestrictedIn('postgres', 'greatest'),
});
const endPrevious = sql(
  'replay_ended_previous_secrets',
  onList(`delete from api_key_secrets where key_id in ({numbers})`),
);

/** The caller has locked the accounts and counted their keys, and records the events. */
export const insertImportedKeysTx = async (
  tx: Transaction,
  rows: readonly ImportedKeyRow[],
  now: number,
): Promise<void> => {
  const folded = rows.map((row) => ({ ...row, folded: fold(row.nickname) }));
  await tx.run(insert, [JSON.stringify(folded), now]);
};

/** The caller records the events. */
export const deleteKeysTx = async (tx: Transaction, ids: readonly string[]): Promise<void> =>
  void (await tx.run(remove, [JSON.stringify(ids)]));

/**
 * The caller records the events.
 * @param changes the keys, each with the time of the change that is repeated
 */
export const disableKeysTx = async (
  tx: Transaction,
  changes: readonly DatedId[],
  reason: Extract<DisabledReason, 'restore' | 'administrator'>,
  now: number,
): Promise<void> => void (await tx.run(disable, [JSON.stringify(changes), now, reason]));

/** Whether {@link disableUnrestrictedKeysTx} would disable a key. */
export const hasUnrestrictedKeys = async (reader: Reader): Promise<boolean> =>
  (await reader.get(findUnrestricted)) !== undefined;

/**
 * Disables keys whose hash is marked as restricted although the restriction is missing: an earlier program that
 * restored or moved the key, or made the restored backup, omitted it.
 * The caller records the events.
 * @param keysMax at most so many; fewer than that are the last ones
 */
export const disableUnrestrictedKeysTx = (tx: Transaction, now: number, keysMax: number): Promise<DisabledKey[]> =>
  tx.all(disableUnrestricted, [now, keysMax]);

/** Deletes the previous secrets of keys. */
export const endPreviousOfKeysTx = async (tx: Transaction, ids: readonly string[]): Promise<void> =>
  void (await tx.run(endPrevious, [JSON.stringify(ids)]));
