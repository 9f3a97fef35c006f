/** Rows of accounts that are imported from another system, a batch at a time. */
import type { Transaction } from '../../foundation/database/db.ts';
import { sql } from '../../foundation/database/sql.ts';

export interface ImportedAccount {
  readonly id: string;
  readonly email: string;
  readonly canonicalEmail: string;
  /** Empty for none: nothing matches it until the password is reset. */
  readonly passwordHash: string;
  readonly createdAt: number;
  readonly disabledAt: number | null;
  readonly unverifiedSince: number | null;
}

// In the order of the emails, so that two concurrent imports cannot deadlock.
const insert = sql<{ canonicalEmail: string }>('import_accounts', {
  sqlite: `insert into accounts (id, email, email_key, password_hash, role, session_epoch, created_at, updated_at,
      disabled_at, unverified_since)
    select value ->> '$.id', value ->> '$.email', value ->> '$.canonicalEmail', value ->> '$.passwordHash', 'user', 0,
      value ->> '$.createdAt', $2, value ->> '$.disabledAt', value ->> '$.unverifiedSince'
    from json_each($1) where true on conflict (email_key) do nothing returning email_key as "canonicalEmail"`,
  postgres: `insert into accounts (id, email, email_key, password_hash, role, session_epoch, created_at, updated_at,
      disabled_at, unverified_since)
    select id, email, "canonicalEmail", "passwordHash", 'user', 0, "createdAt", $2, "disabledAt", "unverifiedSince"
    from json_to_recordset($1::json) as given (id text, email text, "canonicalEmail" text, "passwordHash" text,
      "createdAt" bigint, "disabledAt" bigint, "unverifiedSince" bigint)
    order by "canonicalEmail" collate "C" on conflict (email_key) do nothing returning email_key as "canonicalEmail"`,
});

/** The caller records the events. @returns canonical emails of the accounts that were created; the others exist */
export async function insertImportedAccountsTx(
  tx: Transaction,
  accounts: readonly ImportedAccount[],
  now: number,
): Promise<ReadonlySet<string>> {
  const rows = await tx.all(insert, [JSON.stringify(accounts), now]);
  return new Set(rows.map(({ canonicalEmail }) => canonicalEmail));
}
