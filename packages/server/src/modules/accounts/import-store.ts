/** Rows of accounts that are imported from another system, a batch at a time, and their changes by a later import. */
import type { Reader, Transaction } from '../../foundation/database/db.ts';
import { sql } from '../../foundation/database/sql.ts';
import { endSessionsTx } from './session-epoch-store.ts';
import { isPending } from './sign-up-store.ts';

export interface ImportedAccount {
  readonly id: string;
  readonly email: string;
  readonly canonicalEmail: string;
  /** Empty for none: nothing matches it until the password is reset. */
  readonly passwordHash: string;
  readonly createdAt: number;
  readonly disabledAt: number | null;
  readonly unverifiedSince: number | null;
  /** The text of an `ImportRecord`. */
  readonly importRecord: string;
}

// In the order of the emails, so that two concurrent imports cannot deadlock.
const insert = sql<{ canonicalEmail: string }>('import_accounts', {
  sqlite: `insert into accounts (id, email, email_key, password_hash, role, session_epoch, created_at, updated_at,
      disabled_at, unverified_since, import_record)
    select value ->> '$.id', value ->> '$.email', value ->> '$.canonicalEmail', value ->> '$.passwordHash', 'user', 0,
      value ->> '$.createdAt', $2, value ->> '$.disabledAt', value ->> '$.unverifiedSince', value ->> '$.importRecord'
    from json_each($1) where true on conflict (email_key) do nothing returning email_key as "canonicalEmail"`,
  postgres: `insert into accounts (id, email, email_key, password_hash, role, session_epoch, created_at, updated_at,
      disabled_at, unverified_since, import_record)
    select id, email, "canonicalEmail", "passwordHash", 'user', 0, "createdAt", $2, "disabledAt", "unverifiedSince",
      "importRecord"
    from json_to_recordset($1::json) as given (id text, email text, "canonicalEmail" text, "passwordHash" text,
      "createdAt" bigint, "disabledAt" bigint, "unverifiedSince" bigint, "importRecord" text)
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

/** An account that has the email address of a line. */
export interface ExistingAccount {
  readonly id: string;
  readonly canonicalEmail: string;
  readonly passwordHash: string;
  readonly updatedAt: number;
  readonly disabledAt: number | null;
  readonly unverifiedSince: number | null;
  readonly importRecord: string | null;
}

const existingColumns = `select id, email_key as "canonicalEmail", password_hash as "passwordHash", updated_at as "updatedAt",
  disabled_at as "disabledAt", unverified_since as "unverifiedSince", import_record as "importRecord" from accounts`;
const selectExisting = sql<ExistingAccount>('select_existing_accounts', {
  sqlite: `${existingColumns} where email_key in (select value from json_each($1)) and not (${isPending})`,
  postgres: `${existingColumns} where email_key = any(array(select json_array_elements_text($1::json)))
    and not (${isPending})`,
});

/** Pending sign-ups are left out: an import replaces them. @returns accounts by canonical email */
export async function findExistingAccounts(
  reader: Reader,
  canonicalEmails: readonly string[],
): Promise<ReadonlyMap<string, ExistingAccount>> {
  const rows = await reader.all(selectExisting, [JSON.stringify(canonicalEmails)]);
  return new Map(rows.map((row) => [row.canonicalEmail, row]));
}

/** The new values of an imported account. */
export interface AccountUpdate {
  /** Empty for none; null leaves the password as it is. */
  readonly passwordHash: string | null;
  readonly disabledAt: number | null;
  readonly unverifiedSince: number | null;
  readonly importRecord: string;
  /** Whether a right is removed: then the account's sessions end. */
  readonly endsSessions: boolean;
  /** Whether the account is enabled: this overrides a disabling of unknown outcome (`enabled_count`). */
  readonly isEnabled: boolean;
}

// The account is as it was read, so a concurrent change here wins. A sign-in that replaces the imported hash does not count.
const update = sql(
  'update_imported_account',
  `update accounts set password_hash = coalesce($2, password_hash),
     disabled_at = $3, unverified_since = $4, import_record = $5, updated_at = $6, enabled_count = enabled_count + $7
   where id = $1 and updated_at = $8 and import_record = $9`,
);

/** The caller records the events. @returns false when the account has changed since it was read */
export async function updateImportedAccountTx(
  tx: Transaction,
  { id, updatedAt, importRecord }: ExistingAccount,
  changed: AccountUpdate,
  now: number,
): Promise<boolean> {
  const { passwordHash, disabledAt, unverifiedSince, importRecord: next, endsSessions, isEnabled } = changed;
  const values = [id, passwordHash, disabledAt, unverifiedSince, next, now, isEnabled ? 1 : 0, updatedAt, importRecord];
  if ((await tx.run(update, values)) === 0) return false;
  if (endsSessions) await endSessionsTx(tx, id);
  return true;
}
