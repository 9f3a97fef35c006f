/** Writes a batch of imported API keys with its audit events in one transaction. */
import { insertImportedKeysTx } from '../api-keys/bulk-store.ts';
import type { Act } from '../../foundation/principal.ts';
import { recordEventsTx, type AuditEvent } from '../audit/audit.ts';
import type { Db, Reader } from '../../foundation/database/db.ts';
import { recordKeyImportTx } from '../../foundation/database/installation.ts';
import { sql } from '../../foundation/database/sql.ts';
import { withoutJoiners } from '../../foundation/joiners.ts';

export interface ImportedKey {
  readonly id: number;
  /** Id or canonical email of the owner. */
  readonly account: string;
  readonly nickname: string;
  /** In hexadecimal. */
  readonly storedHash: string;
  readonly lookup: number;
  readonly scopes: readonly string[];
  readonly expiresAt: number | null;
  readonly createdAt: number;
}

export interface Owner {
  readonly pk: number;
  readonly id: string;
  readonly canonicalEmail: string;
  readonly unverifiedSince: number | null;
}

const ownerColumns = `select pk, id, email_key as "canonicalEmail", unverified_since as "unverifiedSince" from accounts`;
const ownersInSqlite = `${ownerColumns} where id in (select value from json_each($1))
  or email_key in (select value from json_each($1))`;
const ownersInPostgres = `${ownerColumns} where id = any(array(select json_array_elements_text($1::json)))
  or email_key = any(array(select json_array_elements_text($1::json))) order by pk`;
const selectOwners = sql<Owner>('select_import_owners', { sqlite: ownersInSqlite, postgres: ownersInPostgres });
// On PostgreSQL, the account's row is locked while its keys are counted, as in the creation of a key.
const lockOwners = sql<Owner>('lock_import_owners', {
  sqlite: ownersInSqlite,
  postgres: `${ownersInPostgres} for update`,
});
const heldColumns = `select account_pk as "accountPk", nickname from api_keys`;
const selectHeld = sql<{ accountPk: number; nickname: string }>('select_held_keys', {
  sqlite: `${heldColumns} where account_pk in (select value from json_each($1))`,
  postgres: `${heldColumns} where account_pk = any(array(select json_array_elements_text($1::json)::bigint))`,
});
// Also by id, which derives from the imported hash: a key that was rotated after its import has another hash.
const selectHolders = sql<{ id: number; lookup: number; accountPk: number }>('select_key_holders', {
  sqlite: `select id, lookup, account_pk as "accountPk" from api_keys
    where lookup in (select value from json_each($1)) or id in (select value from json_each($2))`,
  postgres: `select id, lookup, account_pk as "accountPk" from api_keys
    where lookup = any(array(select json_array_elements_text($1::json)::bigint))
      or id = any(array(select json_array_elements_text($2::json)::bigint))`,
});
// Selects by account, because the audit log has an index on it. The retention may have removed the event.
const selectDeleted = sql<{ target: string }>('select_deleted_imports', {
  sqlite: `select target from audit_events where account_id in (select value from json_each($1))
    and action = 'api_key.deleted' and target in (select value from json_each($2))
    union select cast(id as text) from deleted_keys where id in (select cast(value as integer) from json_each($2))`,
  postgres: `select target from audit_events where account_id = any(array(select json_array_elements_text($1::json)))
    and action = 'api_key.deleted' and target = any(array(select json_array_elements_text($2::json)))
    union select cast(id as text) from deleted_keys
    where id = any(array(select json_array_elements_text($2::json)::bigint))`,
});
const selectLeaked = sql<{ lookup: number }>('select_leaked_imports', {
  sqlite: 'select lookup from leaked_secrets where lookup in (select value from json_each($1))',
  postgres: `select lookup from leaked_secrets
    where lookup = any(array(select json_array_elements_text($1::json)::bigint))`,
});
/** The accounts and keys in the database that concern a batch of keys. */
export interface BatchContext {
  /** By id and by canonical email. */
  readonly owners: ReadonlyMap<string, Owner>;
  /** `<account id> <nickname without joiners>` */
  readonly nicknames: ReadonlySet<string>;
  /** Ids of keys that were imported and deleted before. */
  readonly deletedIds: ReadonlySet<number>;
  readonly hasLeaked: (key: ImportedKey) => boolean;
  /** @returns the number of keys of an account, with those of {@link addKey} */
  readonly keyCountOf: (accountPk: number) => number;
  /** @returns the account that has a key with the hash, or the key that was imported with the hash */
  readonly holderOf: (key: ImportedKey) => number | undefined;
  /** Counts a key that the batch adds. @param nickname as in {@link nicknames} */
  readonly addKey: (accountPk: number, nickname: string) => void;
}

export const findContext = (db: Db, keys: readonly ImportedKey[]): Promise<BatchContext> =>
  readContext(db, keys, selectOwners);

async function readContext(
  reader: Reader,
  keys: readonly ImportedKey[],
  owned: typeof selectOwners,
): Promise<BatchContext> {
  const found = await reader.all(owned, [listOf(new Set(keys.map(({ account }) => account)))]);
  const idOf = new Map(found.map(({ pk, id }) => [pk, id]));
  const lookups = listOf(keys.map(({ lookup }) => lookup));
  const holders = await reader.all(selectHolders, [lookups, listOf(keys.map(({ id }) => id))]);
  const holderOfHash = new Map(holders.map(({ lookup, accountPk }) => [lookup, accountPk]));
  const holderOfId = new Map(holders.map(({ id, accountPk }) => [id, accountPk]));
  const ids = listOf(keys.map(({ id }) => String(id)));
  const deleted = await reader.all(selectDeleted, [listOf(found.map(({ id }) => id)), ids]);
  // After the holders: a report removes the hash of a holder and adds a row here in one transaction.
  const leaked = new Set((await reader.all(selectLeaked, [lookups])).map(({ lookup }) => lookup));
  const nicknames = new Set<string>();
  const counts = new Map<number, number>();
  const addKey = (accountPk: number, nickname: string): void => {
    nicknames.add(nickname);
    counts.set(accountPk, (counts.get(accountPk) ?? 0) + 1);
  };
  for (const { accountPk, nickname } of await reader.all(selectHeld, [listOf(idOf.keys())]))
    addKey(accountPk, `${idOf.get(accountPk)} ${withoutJoiners(nickname)}`);
  return {
    owners: new Map(found.flatMap((owner) => [[owner.id, owner] as const, [owner.canonicalEmail, owner] as const])),
    nicknames,
    deletedIds: new Set(deleted.map(({ target }) => Number(target))),
    hasLeaked: ({ lookup }) => leaked.has(lookup),
    keyCountOf: (accountPk) => counts.get(accountPk) ?? 0,
    holderOf: ({ lookup, id }) => holderOfHash.get(lookup) ?? holderOfId.get(id),
    addKey,
  };
}

const listOf = (values: Iterable<string | number>): string => JSON.stringify([...values]);

/**
 * Writes the keys for which `evaluate` returns the outcome `imported`, with the nickname that it returns. A retried transaction calls it again.
 * @returns the result of `evaluate`
 */
export async function importKeys<Evaluated extends { readonly outcome: unknown; readonly nickname?: string }>(
  db: Db,
  { principal, now }: Act,
  keys: readonly ImportedKey[],
  evaluate: (context: BatchContext) => readonly Evaluated[],
): Promise<readonly Evaluated[]> {
  return db.transaction(
    async (tx) => {
      const context = await readContext(tx, keys, lockOwners);
      const evaluated = evaluate(context);
      const rows = keys.flatMap((given, index) => {
        const owner = context.owners.get(given.account);
        const { outcome, nickname = given.nickname } = evaluated[index] ?? {};
        return outcome === 'imported' && owner ? [{ key: { ...given, nickname }, owner }] : [];
      });
      if (rows.length === 0) return evaluated;
      const values = rows.map(({ key, owner }) => ({ ...key, accountPk: owner.pk, scopes: key.scopes.join(' ') }));
      await insertImportedKeysTx(tx, values, now);
      await recordKeyImportTx(tx, now);
      const events = rows.map(({ key, owner }): AuditEvent => {
        const details = { nickname: key.nickname, scopes: key.scopes, imported: 'sha256' };
        const target = String(key.id);
        return { at: now, principal, action: 'api_key.created', accountId: owner.id, target, details };
      });
      await recordEventsTx(tx, events);
      return evaluated;
    },
    { isLong: true },
  );
}
