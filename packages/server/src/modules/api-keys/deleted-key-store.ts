/**
 * Ids of deleted keys whose events the audit log does not have any more. An imported key derives its id from its hash, so
 * the id shows that a key was deleted and must not be imported again.
 */
import type { Transaction } from '../../foundation/database/db.ts';
import { sql } from '../../foundation/database/sql.ts';

const rememberIn = (list: string): string => `insert into deleted_keys (id) ${list} on conflict (id) do nothing`;
// Only after an import: other keys have random ids, which are not used again.
const wasImported = 'exists (select 1 from installation where keys_imported_at is not null)';
const remember = sql('remember_deleted_keys', {
  sqlite: rememberIn(`select value from json_each($1) where ${wasImported}`),
  postgres: rememberIn(
    `select distinct cast(id as bigint) from json_array_elements_text($1::json) as given (id) where ${wasImported}`,
  ),
});

/** @param ids of deleted keys */
export async function rememberDeletedTx(tx: Transaction, ids: readonly number[]): Promise<void> {
  if (ids.length > 0) await tx.run(remember, [JSON.stringify([...new Set(ids)])]);
}
