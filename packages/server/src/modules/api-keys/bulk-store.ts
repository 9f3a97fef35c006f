/**
 * Bulk statements for API keys: the inserts of an import, the ids that it must not insert again, the deletions and changes of a
 * replayed deletion journal, and the disabling of keys whose restrictions a restored backup may lack.
 */
import type { DisabledReason } from '@keyreeve/contract';
import type { Transaction } from '../../foundation/database/db.ts';
import { onList, type DatedId } from '../../foundation/database/json-lists.ts';
import { sql } from '../../foundation/database/sql.ts';
import { fold } from '../../foundation/fold.ts';

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
  /** The time of the change, in milliseconds. */
  readonly at: number;
}

const insert = sql('import_api_keys', {
  sqlite: `insert into api_keys (lookup, key_hash, id, account_pk, nickname, scopes, expires_at,
      created_at, updated_at, folded)
    select value ->> '$.lookup', unhex(value ->> '$.storedHash'), value ->> '$.id', value ->> '$.accountPk',
      value ->> '$.nickname', value ->> '$.scopes', value ->> '$.expiresAt', value ->> '$.createdAt', $2, value ->> '$.folded'
    from json_each($1)`,
  postgres: `insert into api_keys (lookup, key_hash, id, account_pk, nickname, scopes, expires_at,
      created_at, updated_at, folded)
    select lookup, decode("storedHash", 'hex'), id, "accountPk", nickname, scopes, "expiresAt", "createdAt", $2, folded
    from json_to_recordset($1::json) as given (lookup bigint, "storedHash" text, id bigint, "accountPk" bigint,
      nickname text, scopes text, "expiresAt" bigint, "createdAt" bigint, folded text)`,
});
const remove = sql('replay_deleted_keys', onList(`delete from api_keys where id in ({numbers})`));

// Later changes of the key get later times than the repeated one. Only an administrator enables a key that an
// administrator has disabled.
const disableIn = (greatest: string) =>
  onList(`update api_keys set disabled_at = coalesce(disabled_at, $2),
    disabled_reason = case when disabled_reason = 'administrator' then disabled_reason else $3 end,
    updated_at = ${greatest}(updated_at, given.at + 1, $2), revision = revision + 1
    from {dated} where api_keys.id = cast(given.id as bigint)`);
const disable = sql('replay_disabled_keys', {
  sqlite: disableIn('max').sqlite,
  postgres: disableIn('greatest').postgres,
});
// Also a key that is disabled for another reason, because its owner could enable it without the restriction.
const disableBeyondIn = (
  greatest: string,
): string => `update api_keys set disabled_at = coalesce(disabled_at, $2), disabled_reason = 'restore',
    updated_at = ${greatest}(updated_at + 1, $2), revision = revision + 1
  where id in (
    select id from api_keys where rules > $1 and coalesce(disabled_reason, '') not in ('restore', 'administrator') limit $3)
  returning id, updated_at as at, (select id from accounts where pk = api_keys.account_pk) as "accountId"`;
const disableBeyond = sql<DisabledKey>('disable_keys_beyond_rules', {
  sqlite: disableBeyondIn('max'),
  postgres: disableBeyondIn('greatest'),
});
const endPrevious = sql(
  'replay_ended_previous_secrets',
  onList(`delete from api_key_secrets where key_id in ({numbers})`),
);

const rememberIn = (list: string): string => `insert into deleted_keys (id) ${list} on conflict (id) do nothing`;
// Only after an import: other keys have random ids, which are not used again.
const wasImported = 'exists (select 1 from installation where keys_imported_at is not null)';
const remember = sql('remember_deleted_keys', {
  sqlite: rememberIn(`select value from json_each($1) where ${wasImported}`),
  postgres: rememberIn(
    `select distinct cast(id as bigint) from json_array_elements_text($1::json) as given (id) where ${wasImported}`,
  ),
});

// Not the id of a key that exists, whose deletion gets an event.
const missing = `not exists (select 1 from api_keys k where k.id = given.id)
    and not exists (select 1 from audit_events e where e.action = 'api_key.deleted' and e.target = cast(given.id as text))`;
const rememberMissing = sql('remember_missing_deleted_keys', {
  sqlite: rememberIn(
    `select given.id from (select cast(value as integer) as id from json_each($1)) given where ${missing}`,
  ),
  postgres: rememberIn(
    `select given.id from (select distinct cast(id as bigint) as id from json_array_elements_text($1::json) as listed (id)) given
      where ${missing}`,
  ),
});

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

/**
 * Disables the keys that need a newer version of the rules. The caller records the events.
 * @param keysMax at most so many; fewer than that are the last ones
 */
export const disableKeysBeyondTx = (
  tx: Transaction,
  rules: number,
  now: number,
  keysMax: number,
): Promise<DisabledKey[]> => tx.all(disableBeyond, [rules, now, keysMax]);

/** Deletes the previous secrets of keys. */
export const endPreviousOfKeysTx = async (tx: Transaction, ids: readonly string[]): Promise<void> =>
  void (await tx.run(endPrevious, [JSON.stringify(ids)]));

/**
 * Stores ids whose events the audit log does not have any more. An imported key derives its id from its hash, so the id shows
 * that the key was deleted and must not be imported again.
 * @param ids of deleted keys
 */
export async function rememberDeletedTx(tx: Transaction, ids: readonly number[]): Promise<void> {
  if (ids.length > 0) await tx.run(remember, [JSON.stringify([...new Set(ids)])]);
}

/**
 * As {@link rememberDeletedTx}, before a replay of the deletion journal deletes the keys: those that were created after the
 * backup.
 */
export const rememberMissingTx = async (tx: Transaction, ids: readonly string[]): Promise<void> =>
  void (await tx.run(rememberMissing, [JSON.stringify(ids)]));
