/** Bulk statements for API keys: the inserts of an import, and the deletions of a replayed deletion journal. */
import type { Transaction } from '../../foundation/database/db.ts';
import { onList } from '../../foundation/database/json-lists.ts';
import { sql } from '../../foundation/database/sql.ts';

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

const insert = sql('import_api_keys', {
  sqlite: `insert into api_keys (lookup, key_hash, id, account_pk, nickname, scopes, expires_at, last_used_at,
      created_at, updated_at)
    select value ->> '$.lookup', unhex(value ->> '$.storedHash'), value ->> '$.id', value ->> '$.accountPk',
      value ->> '$.nickname', value ->> '$.scopes', value ->> '$.expiresAt', null, value ->> '$.createdAt', $2
    from json_each($1)`,
  postgres: `insert into api_keys (lookup, key_hash, id, account_pk, nickname, scopes, expires_at, last_used_at,
      created_at, updated_at)
    select lookup, decode("storedHash", 'hex'), id, "accountPk", nickname, scopes, "expiresAt", null, "createdAt", $2
    from json_to_recordset($1::json) as given (lookup bigint, "storedHash" text, id bigint, "accountPk" bigint,
      nickname text, scopes text, "expiresAt" bigint, "createdAt" bigint)`,
});
const remove = sql('replay_deleted_keys', onList(`delete from api_keys where id in ({numbers})`));

// A key of `reason` restore: the restored rights may be more than the owner decided.
const disable = sql('replay_narrowed_keys', {
  sqlite: onList(`update api_keys set disabled_at = $2, disabled_reason = 'restore', updated_at = max(updated_at, $2),
    revision = revision + 1, key_hash = cast(unhex('02') || substr(key_hash, 2) as blob) where id in ({numbers})`)
    .sqlite,
  postgres:
    onList(`update api_keys set disabled_at = $2, disabled_reason = 'restore', updated_at = greatest(updated_at, $2),
    revision = revision + 1, key_hash = set_byte(key_hash, 0, 2) where id in ({numbers})`).postgres,
});

/** The caller has locked the accounts and counted their keys, and records the events. */
export const insertImportedKeysTx = async (
  tx: Transaction,
  rows: readonly ImportedKeyRow[],
  now: number,
): Promise<void> => void (await tx.run(insert, [JSON.stringify(rows), now]));

/** The caller records the events. */
export const deleteKeysTx = async (tx: Transaction, ids: readonly string[]): Promise<void> =>
  void (await tx.run(remove, [JSON.stringify(ids)]));

/** The caller records the events. */
export const disableKeysTx = async (tx: Transaction, ids: readonly string[], now: number): Promise<void> =>
  void (await tx.run(disable, [JSON.stringify(ids), now]));
