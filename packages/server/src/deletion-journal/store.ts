/**
 * What the journal says, done to a database that doesn't know it. Each change has its audit row, by the service itself.
 * Ids come as a JSON array; those that name nothing, or nothing that still works, count for nothing.
 */
import type { Reader, Transaction } from '../db/db.ts';
import { sql, type Statement } from '../db/sql.ts';

const details = `'{"by":"deletion_journal"}'`;
const listed = {
  sqlite: 'select value from json_each($1)',
  postgres: 'select value from json_array_elements_text($1::json)',
};
const numbers = {
  sqlite: 'select cast(value as integer) from json_each($1)',
  postgres: 'select value::bigint from json_array_elements_text($1::json)',
};
const events = 'insert into audit_events (at, actor, action, account_id, target, details)';
const at = 'cast($2 as bigint)';

const recordKeys = sql('record_replayed_keys', {
  sqlite: `${events} select ${at}, 'system', 'api_key.deleted', a.id, cast(k.id as text), ${details}
    from api_keys k join accounts a on a.pk = k.account_pk where k.id in (${numbers.sqlite})`,
  postgres: `${events} select ${at}, 'system', 'api_key.deleted', a.id, cast(k.id as text), ${details}
    from api_keys k join accounts a on a.pk = k.account_pk where k.id in (${numbers.postgres})`,
});
const deleteKeys = sql('replay_deleted_keys', {
  sqlite: `delete from api_keys where id in (${numbers.sqlite})`,
  postgres: `delete from api_keys where id in (${numbers.postgres})`,
});
const recordAccounts = sql('record_replayed_accounts', {
  sqlite: `${events} select ${at}, 'system', 'account.deleted', id, id, ${details}
    from accounts where id in (${listed.sqlite})`,
  postgres: `${events} select ${at}, 'system', 'account.deleted', id, id, ${details}
    from accounts where id in (${listed.postgres})`,
});
const deleteAccounts = sql('replay_deleted_accounts', {
  sqlite: `delete from accounts where id in (${listed.sqlite})`,
  postgres: `delete from accounts where id in (${listed.postgres})`,
});
const recordDisabled = sql('record_replayed_disabled', {
  sqlite: `${events} select ${at}, 'system', 'account.disabled', id, id, ${details}
    from accounts where disabled_at is null and id in (${listed.sqlite})`,
  postgres: `${events} select ${at}, 'system', 'account.disabled', id, id, ${details}
    from accounts where disabled_at is null and id in (${listed.postgres})`,
});
const disableAccounts = sql('replay_disabled_accounts', {
  sqlite: `update accounts set disabled_at = $2, session_epoch = session_epoch + 1, updated_at = $2
    where disabled_at is null and id in (${listed.sqlite})`,
  postgres: `update accounts set disabled_at = $2, session_epoch = session_epoch + 1, updated_at = $2
    where disabled_at is null and id in (${listed.postgres})`,
});
const recordRevoked = sql('record_replayed_signing_keys', {
  sqlite: `${events} select ${at}, 'system', 'signing_key.revoked', null, kid, ${details}
    from signing_keys where revoked_at is null and kid in (${listed.sqlite})`,
  postgres: `${events} select ${at}, 'system', 'signing_key.revoked', null, kid, ${details}
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

async function apply(
  tx: Transaction,
  record: Statement<never>,
  change: Statement<never>,
  values: readonly [ids: string, now?: number],
  now: number,
): Promise<number> {
  const recorded = await tx.run(record, [values[0], now]);
  return recorded === 0 ? 0 : tx.run(change, values as readonly (string | number)[]);
}

/** @returns how many there were */
export const deleteListedKeys = (tx: Transaction, ids: readonly string[], now: number): Promise<number> =>
  apply(tx, recordKeys, deleteKeys, [JSON.stringify(ids)], now);

/** With all that belongs to them. */
export const deleteListedAccounts = (tx: Transaction, ids: readonly string[], now: number): Promise<number> =>
  apply(tx, recordAccounts, deleteAccounts, [JSON.stringify(ids)], now);

export const disableListedAccounts = (tx: Transaction, ids: readonly string[], now: number): Promise<number> =>
  apply(tx, recordDisabled, disableAccounts, [JSON.stringify(ids), now], now);

export const revokeListedSigningKeys = (tx: Transaction, ids: readonly string[], now: number): Promise<number> =>
  apply(tx, recordRevoked, revokeSigningKeys, [JSON.stringify(ids), now], now);
