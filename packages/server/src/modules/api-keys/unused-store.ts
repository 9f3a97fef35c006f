/** Finds and disables keys that were neither used nor changed for some time. */
import { dayMs } from '../../foundation/clock.ts';
import type { Db, Reader, Transaction } from '../../foundation/database/db.ts';
import { onList } from '../../foundation/database/json-lists.ts';
import { sql } from '../../foundation/database/sql.ts';
import { uncountedId } from './use-store.ts';

/** A key that was just disabled. */
export interface UnusedKey {
  readonly id: number;
  readonly accountId: string;
  readonly nickname: string;
  /** The time of the change, in milliseconds. */
  readonly at: number;
}

// Every change sets `updated_at`: creation, import, rotation and enabling count as a use.
const isUnchanged = (usedBefore: string): string => `disabled_at is null and updated_at < ${usedBefore}`;
// In the order of the primary key, so that each read has a bounded number of rows, unused or not.
const page = sql<{ lookup: number; id: number | null }>(
  'page_unchanged_keys',
  `select lookup, case when ${isUnchanged('$3')} and (expires_at is null or expires_at > $4) then id end as id
   from api_keys where lookup > $1 order by lookup limit $2`,
);
// Usage, if it is kept, shows uses whose time was not recorded; a row covers an hour or a day.
const listUsed = sql<{ id: number }>(
  'list_used_keys',
  onList(`select key_id as id from key_last_uses where key_id in ({numbers}) and last_used_at >= $2
   union select key_id from key_usage where key_id in ({numbers}) and at > $2 - ${dayMs} and accepted > 0`),
);
// SQLite has one writer, and the caller runs a transaction of it. PostgreSQL locks the tables one after the other: in the order
// of a flush, which would otherwise be in a deadlock with this statement.
const lockUses = sql('lock_key_last_uses', {
  sqlite: 'select null',
  postgres: 'lock table key_usage, key_last_uses in share mode',
});
// A change of the key gets a later time than the one before.
const assignments = (greatest: string): string =>
  `disabled_at = $3, disabled_reason = 'dormant', updated_at = ${greatest}(updated_at + 1, $3), revision = revision + 1`;
const returned = `returning id, nickname, updated_at as at, (select id from accounts where pk = api_keys.account_pk) as "accountId"`;
const listed = onList(`id in ({numbers}) and ${isUnchanged('$2')}`);
const disable = sql<UnusedKey>('disable_unused_keys', {
  sqlite: `update api_keys set ${assignments('max')}
   where ${listed.sqlite} ${returned}`,
  // Skips keys that are being changed.
  postgres: `update api_keys set ${assignments('greatest')}
   where id in (select id from api_keys where ${listed.postgres} for update skip locked) ${returned}`,
});

export interface UnchangedPage {
  readonly ids: readonly number[];
  /** Where the next page starts; undefined after the last one. */
  readonly next: number | undefined;
}

/**
 * Reads the next keys, and returns those of them that are not disabled, not expired, and not changed since a time.
 * @param after a lookup; -1 for the first page
 */
export async function pageUnchangedKeys(
  reader: Pick<Db, 'all'>,
  after: number,
  keysMax: number,
  { usedBefore, now }: { readonly usedBefore: number; readonly now: number },
): Promise<UnchangedPage> {
  const rows = await reader.all(page, [after, keysMax, usedBefore, now]);
  return { ids: rows.flatMap(({ id }) => id ?? []), next: rows.length < keysMax ? undefined : rows.at(-1)?.lookup };
}

/**
 * Those of the keys that were not used since a time. None if a verification in that time was counted for no key: it may have been
 * one of these keys.
 */
export async function unusedOf(reader: Reader, ids: readonly number[], usedBefore: number): Promise<readonly number[]> {
  const rows = await reader.all(listUsed, [JSON.stringify([...ids, uncountedId]), usedBefore]);
  const used = new Set(rows.map(({ id }) => id));
  return used.has(uncountedId) ? [] : ids.filter((id) => !used.has(id));
}

/** On PostgreSQL, no other transaction commits a use until this one ends. */
export const lockUsesTx = async (tx: Transaction): Promise<void> => void (await tx.all(lockUses));

/** Disables those that are still unchanged and enabled. The caller has found that they are unused, and records the events. */
export const disableUnusedKeysTx = async (
  tx: Transaction,
  ids: readonly number[],
  usedBefore: number,
  now: number,
): Promise<UnusedKey[]> => (ids.length === 0 ? [] : tx.all(disable, [JSON.stringify(ids), usedBefore, now]));
