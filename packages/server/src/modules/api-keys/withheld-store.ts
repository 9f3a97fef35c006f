/** Reads which scopes of an account's keys are not in force, for responses that show keys. */
import type { Reader } from '../../foundation/database/db.ts';
import { sql, type Dialect } from '../../foundation/database/sql.ts';
import { withheldColumn } from '../scope-catalogue/withheld.ts';

const text = (dialect: Dialect): string =>
  `select * from (select k.id, ${withheldColumn(dialect)} from api_keys k join accounts a on a.pk = k.account_pk
     where a.id = $1 and ($2 = 0 or k.id = $2)) held where withheld is not null`;
const select = sql<{ id: number; withheld: string }>('select_withheld_scopes', {
  sqlite: text('sqlite'),
  postgres: text('postgres').replaceAll('$2', '$2::bigint'),
});

/**
 * @param keyId 0 for all keys of the account
 * @returns by key: its scopes that are not in force, separated by spaces; only keys with such scopes
 */
export async function findWithheldScopes(
  reader: Reader,
  accountId: string,
  keyId = 0,
): Promise<ReadonlyMap<number, string>> {
  const rows = await reader.all(select, [accountId, keyId]);
  return new Map(rows.map(({ id, withheld }) => [id, withheld]));
}
