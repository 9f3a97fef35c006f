/** SQL of applied entries, and of the file that was applied last. */
import type { Reader, Transaction } from '../../foundation/database/db.ts';
import { onList } from '../../foundation/database/json-lists.ts';
import { sql } from '../../foundation/database/sql.ts';
import { isPending } from '../accounts/sign-up-store.ts';
import type { EntryKind } from './file.ts';

export interface EntryRow {
  /** Derives from the entry. */
  readonly id: string;
  /** Null for a deletion that only the deletion journal has recorded. */
  readonly kind: EntryKind | null;
  /** The id of the object, or the name of the scope. */
  readonly target: string | null;
  /** 1 if apply created the object; 0 if it existed before. */
  readonly isCreated: number;
}

export interface FileRow {
  /** 0: none was applied. */
  readonly generation: number;
  readonly digest: string;
}

const insertFile = sql(
  'insert_applied_file',
  `insert into applied_file (id, generation, digest, applied_at) values (1, 0, '', 0) on conflict (id) do nothing`,
);
const lockText = `select generation, digest from applied_file where id = 1`;
const lockFile = sql<FileRow>('lock_applied_file', { sqlite: lockText, postgres: `${lockText} for update` });
const updateFile = sql(
  'update_applied_file',
  `update applied_file set generation = $1, digest = $2, applied_at = $3 where id = 1 and generation < $1`,
);
const listRows = sql<EntryRow>(
  'list_applied_entries',
  `select id, kind, target, is_created as "isCreated" from applied_entries where kind is not null order by id`,
);
const selectRows = sql<EntryRow>(
  'select_applied_entries',
  onList(`select id, kind, target, is_created as "isCreated" from applied_entries where id in ({ids})`),
);
const insertRow = sql(
  'insert_applied_entry',
  `insert into applied_entries (id, kind, target, is_created, applied_at) values ($1, $2, $3, $4, $5)
   on conflict (id) do nothing`,
);
const remember = sql('remember_applied_deletions', {
  sqlite: `insert into applied_entries (id, kind, target, is_created, applied_at)
    select value, null, null, 0, $2 from json_each($1) where value not in (select id from accounts)
      and value not in (select id from webhook_endpoints) on conflict (id) do nothing`,
  postgres: `insert into applied_entries (id, kind, target, is_created, applied_at)
    select distinct value, null, null, 0, $2::bigint from json_array_elements_text($1::json)
    where not exists (select 1 from accounts a where a.id = value) and not exists (select 1 from webhook_endpoints w where w.id = value)
    on conflict (id) do nothing`,
});
// Not a pending sign-up, which an invitation replaces: anybody can begin one with the email address.
const findByEmail = sql<{ id: string }>(
  'select_account_to_apply',
  `select id from accounts where email_key = $1 and kind = 'person' and not (${isPending})`,
);
// Owners, managers and the command line change these without the lock of the administration: a row that is found stays until the file
// has changed it.
const accountText = 'select id from accounts where id = $1 and kind = $2';
const findAccount = sql<{ id: string }>('select_applied_account', {
  sqlite: accountText,
  postgres: `${accountText} for no key update`,
});
const keyText = `select a.id as "ownerId", k.expires_at as "expiresAt" from api_keys k join accounts a on a.pk = k.account_pk where k.id = $1`;
const findKey = sql<{ ownerId: string; expiresAt: number | null }>('select_applied_key', {
  sqlite: keyText,
  postgres: `${keyText} for update of k`,
});
const countDeleted = sql<{ count: number }>(
  'count_deletions_of_applied_key',
  `select (select count(*) from audit_events where action = 'api_key.deleted' and target = $2)
     + (select count(*) from deleted_keys where id = $1) as count`,
);

/** Locks the file: of several processes, one applies a file, and the others wait. @returns the one that was applied last */
export async function lockFileTx(tx: Transaction): Promise<FileRow> {
  await tx.run(insertFile);
  return (await tx.get(lockFile)) ?? { generation: 0, digest: '' };
}

/** @returns whether the generation is a later one */
export const storeFileTx = async (tx: Transaction, { generation, digest }: FileRow, now: number): Promise<boolean> =>
  (await tx.run(updateFile, [generation, digest, now])) > 0;

/** @returns by id, also of deletions that only the deletion journal has recorded */
export async function findRows(reader: Reader, ids: readonly string[]): Promise<ReadonlyMap<string, EntryRow>> {
  const rows = await reader.all(selectRows, [JSON.stringify(ids)]);
  return new Map(rows.map((row) => [row.id, row]));
}

/** All entries that a file has had. */
export const listEntries = (reader: Reader): Promise<EntryRow[]> => reader.all(listRows);

export const storeRowTx = async (tx: Transaction, row: EntryRow, now: number): Promise<void> =>
  void (await tx.run(insertRow, [row.id, row.kind, row.target, row.isCreated, now]));

/** @returns the id of the person with the email address, unless the account is a pending sign-up */
export const findPerson = async (reader: Reader, canonicalEmail: string): Promise<string | undefined> =>
  (await reader.get(findByEmail, [canonicalEmail]))?.id;

export const hasAccount = async (reader: Reader, id: string, kind: 'person' | 'service'): Promise<boolean> =>
  (await reader.get(findAccount, [id, kind])) !== undefined;

export const findAppliedKey = (
  reader: Reader,
  id: number,
): Promise<{ readonly ownerId: string; readonly expiresAt: number | null } | undefined> => reader.get(findKey, [id]);

export const wasKeyDeleted = async (reader: Reader, id: number): Promise<boolean> =>
  ((await reader.get(countDeleted, [id, String(id)]))?.count ?? 0) > 0;

/** The id of the entry of a program. */
export const appliedProgramId = (id: string): string => `program ${id}`;

/**
 * Remembers deletions of the deletion journal that a restored database lacks together with what was deleted: the ids of what
 * `keyreeve apply` creates derive from its entries.
 * @param ids of accounts, issuers, webhook endpoints or entries
 */
export const rememberDeletionsTx = async (tx: Transaction, ids: readonly string[], now: number): Promise<void> =>
  void (await tx.run(remember, [JSON.stringify(ids), now]));

/** Files of earlier generations are rejected again, for a replay of the deletion journal. @param ids `<generation>/<digest>` */
export async function raiseGenerationTx(tx: Transaction, ids: readonly string[], now: number): Promise<void> {
  const files = ids.map((id) => {
    const [generation, digest = ''] = id.split('/');
    return { generation: Number(generation), digest };
  });
  const [newest] = files.toSorted((one, other) => other.generation - one.generation);
  if (!newest) return;
  await tx.run(insertFile);
  await storeFileTx(tx, newest, now);
}
