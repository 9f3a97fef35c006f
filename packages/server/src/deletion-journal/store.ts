/**
 * What the journal says, done to a database that doesn't know it. Each change has its audit row, by the service itself.
 * Ids come as a JSON array; those that name nothing, or nothing that still works, count for nothing.
 */
import { recordEvents, type AuditAction } from '../audit/audit.ts';
import type { Reader, Transaction } from '../db/db.ts';
import { sql, type Statement } from '../db/sql.ts';

const listed = {
  sqlite: 'select value from json_each($1)',
  postgres: 'select value from json_array_elements_text($1::json)',
};
const numbers = {
  sqlite: 'select cast(value as integer) from json_each($1)',
  postgres: 'select value::bigint from json_array_elements_text($1::json)',
};
/** What works and is to stop, by its id and whose it is. */
interface Found {
  readonly accountId: string | null;
  readonly target: string;
}

const findKeys = sql<Found>('find_listed_keys', {
  sqlite: `select a.id as "accountId", cast(k.id as text) as target
    from api_keys k join accounts a on a.pk = k.account_pk where k.id in (${numbers.sqlite})`,
  postgres: `select a.id as "accountId", cast(k.id as text) as target
    from api_keys k join accounts a on a.pk = k.account_pk where k.id in (${numbers.postgres})`,
});
const deleteKeys = sql('replay_deleted_keys', {
  sqlite: `delete from api_keys where id in (${numbers.sqlite})`,
  postgres: `delete from api_keys where id in (${numbers.postgres})`,
});
const findAccounts = sql<Found>('find_listed_accounts', {
  sqlite: `select id as "accountId", id as target from accounts where id in (${listed.sqlite})`,
  postgres: `select id as "accountId", id as target from accounts where id in (${listed.postgres})`,
});
const deleteAccounts = sql('replay_deleted_accounts', {
  sqlite: `delete from accounts where id in (${listed.sqlite})`,
  postgres: `delete from accounts where id in (${listed.postgres})`,
});
const findEnabled = sql<Found>('find_listed_enabled_accounts', {
  sqlite: `select id as "accountId", id as target
    from accounts where disabled_at is null and id in (${listed.sqlite})`,
  postgres: `select id as "accountId", id as target
    from accounts where disabled_at is null and id in (${listed.postgres})`,
});
const disableAccounts = sql('replay_disabled_accounts', {
  sqlite: `update accounts set disabled_at = $2, session_epoch = session_epoch + 1, updated_at = $2
    where disabled_at is null and id in (${listed.sqlite})`,
  postgres: `update accounts set disabled_at = $2, session_epoch = session_epoch + 1, updated_at = $2
    where disabled_at is null and id in (${listed.postgres})`,
});
const findSigningKeys = sql<Found>('find_listed_signing_keys', {
  sqlite: `select null as "accountId", kid as target
    from signing_keys where revoked_at is null and kid in (${listed.sqlite})`,
  postgres: `select null as "accountId", kid as target
    from signing_keys where revoked_at is null and kid in (${listed.postgres})`,
});
const revokeSigningKeys = sql('replay_revoked_signing_keys', {
  sqlite: `update signing_keys set revoked_at = $2 where revoked_at is null and kid in (${listed.sqlite})`,
  postgres: `update signing_keys set revoked_at = $2 where revoked_at is null and kid in (${listed.postgres})`,
});

const countKeys = sql<{ count: number }>('count_listed_keys', {
  sqlite: `select count(*) as count from api_keys where id in (${numbers.sqlite})`,
  postgres: `select count(*) as count from api_keys where id in (${numbers.postgres})`,
});
const countAccounts = sql<{ count: number }>('count_listed_accounts', {
  sqlite: `select count(*) as count from accounts where id in (${listed.sqlite})`,
  postgres: `select count(*) as count from accounts where id in (${listed.postgres})`,
});
const countSigningKeys = sql<{ count: number }>('count_listed_signing_keys', {
  sqlite: `select count(*) as count from signing_keys where revoked_at is null and kid in (${listed.sqlite})`,
  postgres: `select count(*) as count from signing_keys where revoked_at is null and kid in (${listed.postgres})`,
});
const counts = { api_key: countKeys, account: countAccounts, signing_key: countSigningKeys };

/** How many of them are there, and not revoked. */
export const countListed = async (reader: Reader, kind: keyof typeof counts, ids: readonly string[]): Promise<number> =>
  (await reader.get(counts[kind], [JSON.stringify(ids)]))?.count ?? 0;

interface Change {
  readonly find: Statement<Found>;
  readonly change: Statement<never>;
  readonly action: AuditAction;
}

async function apply(
  tx: Transaction,
  { find, change, action }: Change,
  values: readonly [ids: string, now?: number],
  at: number,
): Promise<number> {
  const found = await tx.all(find, [values[0]]);
  if (found.length === 0) return 0;
  const details = { by: 'deletion_journal' };
  const events = found.map(({ accountId, target }) => ({
    at,
    principal: { kind: 'system' } as const,
    action,
    ...(accountId === null ? {} : { accountId }),
    target,
    details,
  }));
  await recordEvents(tx, events);
  return tx.run(change, values as readonly (string | number)[]);
}

const keys: Change = { find: findKeys, change: deleteKeys, action: 'api_key.deleted' };
const accounts: Change = { find: findAccounts, change: deleteAccounts, action: 'account.deleted' };
const disabled: Change = { find: findEnabled, change: disableAccounts, action: 'account.disabled' };
const signingKeys: Change = { find: findSigningKeys, change: revokeSigningKeys, action: 'signing_key.revoked' };

/** @returns how many there were */
export const deleteListedKeys = (tx: Transaction, ids: readonly string[], now: number): Promise<number> =>
  apply(tx, keys, [JSON.stringify(ids)], now);

/** With all that belongs to them. */
export const deleteListedAccounts = (tx: Transaction, ids: readonly string[], now: number): Promise<number> =>
  apply(tx, accounts, [JSON.stringify(ids)], now);

export const disableListedAccounts = (tx: Transaction, ids: readonly string[], now: number): Promise<number> =>
  apply(tx, disabled, [JSON.stringify(ids), now], now);

export const revokeListedSigningKeys = (tx: Transaction, ids: readonly string[], now: number): Promise<number> =>
  apply(tx, signingKeys, [JSON.stringify(ids), now], now);
