/** The table of last uses of keys, which is in the second file of an embedded database. */
import { limits } from '@keyreeve/contract';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { dayMs } from '../../foundation/clock.ts';
import type { Db, Reader, Transaction } from '../../foundation/database/db.ts';
import { onList } from '../../foundation/database/json-lists.ts';
import { sql } from '../../foundation/database/sql.ts';
import { isUnavailable } from '../../foundation/database/unavailable.ts';
import { withUse } from '../../foundation/database/used-from.ts';

/** The first accepted verification of a key in the interval between two flushes. */
export interface KeyUse {
  readonly keyId: number;
  /** Milliseconds. */
  readonly usedAt: number;
  /** The client IP range; null if it is not known. */
  readonly usedFrom: string | null;
  /** The time of the last change of the key that the verification read: `KeyState.updatedAt`. */
  readonly changedAt: number;
  /** Whether `usedFrom` is of the current secret or public key. */
  readonly isCurrent: boolean;
  /** The first use of a previous secret in the interval, and `KeyState.overlapEndsAt` of that secret; null without one. */
  readonly previousUsedAt: number | null;
  readonly previousEndsAt: number | null;
}

/** What is stored of a key. */
export interface StoredUse {
  readonly keyId: number;
  readonly lastUsedAt: number;
  readonly lastUsedFrom: string | null;
  readonly changedAt: number;
  /** Client IP ranges from which the current secret was used since `changedAt`, separated by spaces. */
  readonly usedFrom: string | null;
  readonly previousUsedAt: number | null;
  readonly previousEndsAt: number | null;
}

/** The row with the last verification that was counted for no key. Keys have other ids. */
export const uncountedId = 0;

const resolutionMs = limits.lastUsedResolutionSeconds * 1000;
/** Until an email change from after the last change of the key can no longer be undone. */
const provesOwnerMs = limits.emailUndoSuspectDays * dayMs + limits.emailUndoSeconds * 1000;

// $1: a JSON array of uses, and of other rows of the flush, in the order of the ids, so that two transactions lock the rows that they share in the same order.
// A row is not written again within the resolution, unless it learns of a change of the key or of another previous secret.
const upsert = (greatest: string): string => `on conflict (key_id) do update set
     last_used_at = ${greatest}(key_last_uses.last_used_at, excluded.last_used_at),
     last_used_from = case when excluded.last_used_at > key_last_uses.last_used_at then excluded.last_used_from
       else key_last_uses.last_used_from end,
     used_from = case when excluded.changed_at > key_last_uses.changed_at then excluded.used_from
       when excluded.changed_at < key_last_uses.changed_at then key_last_uses.used_from
       else ${withUse('key_last_uses.used_from', 'excluded.used_from')} end,
     changed_at = ${greatest}(key_last_uses.changed_at, excluded.changed_at),
     previous_used_at = case when ${keepsPrevious} then key_last_uses.previous_used_at else excluded.previous_used_at end,
     previous_ends_at = case when ${keepsPrevious} then key_last_uses.previous_ends_at else excluded.previous_ends_at end
   where excluded.last_used_at >= key_last_uses.last_used_at + ${resolutionMs} or excluded.changed_at > key_last_uses.changed_at
     or excluded.previous_used_at is not null and (key_last_uses.previous_used_at is null
       or excluded.previous_ends_at <> key_last_uses.previous_ends_at
       or excluded.previous_used_at >= key_last_uses.previous_used_at + ${resolutionMs})`;
const keepsPrevious = `excluded.previous_used_at is null or key_last_uses.previous_used_at > excluded.previous_used_at`;
// A thief may have added the current secret, so a use from before the change of the key does not count.
const proven = (
  of: (member: string) => string,
): string => `case when ${of('isCurrent')} and ${of('usedAt')} > ${of('changedAt')}
     and ${of('usedAt')} <= ${of('changedAt')} + ${provesOwnerMs} then ${of('usedFrom')} end`;
const columns = 'key_id, last_used_at, last_used_from, changed_at, used_from, previous_used_at, previous_ends_at';
const member = {
  sqlite: (name: string): string => `value ->> '$.${name}'`,
  postgres: (name: string): string => `"${name}"`,
};
const values = (of: (name: string) => string): string =>
  [
    ...['keyId', 'usedAt', 'usedFrom', 'changedAt'].map(of),
    proven(of),
    of('previousUsedAt'),
    of('previousEndsAt'),
  ].join(', ');
const writeUses = sql('write_key_last_uses', {
  sqlite: `insert into key_last_uses (${columns}) select ${values(member.sqlite)}
   from json_each($1) where ${member.sqlite('usedAt')} is not null ${upsert('max')}`,
  postgres: `insert into key_last_uses (${columns}) select ${values(member.postgres)}
   from json_to_recordset($1::json) as given ("keyId" bigint, "usedAt" bigint, "usedFrom" text, "changedAt" bigint,
     "isCurrent" boolean, "previousUsedAt" bigint, "previousEndsAt" bigint)
   where "usedAt" is not null order by "keyId" ${upsert('greatest')}`,
});
const selectUses = sql<StoredUse>(
  'select_key_last_uses',
  onList(`select key_id as "keyId", last_used_at as "lastUsedAt", last_used_from as "lastUsedFrom", changed_at as "changedAt",
     used_from as "usedFrom", previous_used_at as "previousUsedAt", previous_ends_at as "previousEndsAt"
   from key_last_uses where key_id in ({numbers})`),
);
const selectTimes = sql<Pick<StoredUse, 'keyId' | 'lastUsedAt'>>(
  'select_times_of_last_use',
  onList('select key_id as "keyId", last_used_at as "lastUsedAt" from key_last_uses where key_id in ({numbers})'),
);
const timesPerRead = 1_000;
const deleteUses = sql('delete_key_last_uses', onList('delete from key_last_uses where key_id in ({numbers})'));

/** @param uses JSON of an array of {@link KeyUse} of different keys in the order of their ids; those without `usedAt` are ignored */
export const writeUsesTx = async (tx: Transaction, uses: string): Promise<void> =>
  void (await tx.run(writeUses, [uses]));

export const deleteUsesTx = async (tx: Transaction, ids: readonly number[]): Promise<void> =>
  void (await tx.run(deleteUses, [JSON.stringify(ids)]));

/** @returns by id @throws DomainError `unavailable` */
export async function readUses(reader: Reader, ids: readonly number[]): Promise<ReadonlyMap<number, StoredUse>> {
  const rows = ids.length === 0 ? [] : await reader.all(selectUses, [JSON.stringify(ids)]);
  return new Map(rows.map((row) => [row.keyId, row]));
}

/**
 * Reads uses for a response that shows keys, not for a decision. While a second file cannot be read, they are unknown: keys can
 * still be listed and deleted.
 */
export async function orUnknown<Known, Unknown>(
  db: Pick<Db, 'usageFile'>,
  read: () => Promise<Known>,
  unknown: Unknown,
): Promise<Known | Unknown> {
  try {
    return await read();
  } catch (error) {
    if (!db.usageFile || !isUnavailable(error)) throw error;
    return unknown;
  }
}

export const findUses = (db: UsesOf, ids: readonly number[]): Promise<ReadonlyMap<number, StoredUse>> =>
  orUnknown(db, () => readUses(db.usage, ids), new Map<number, StoredUse>());

/** Only the times of last use, of many keys. Other requests run between two reads: those of SQLite are synchronous. */
export const findLastUsedTimes = (db: UsesOf, ids: readonly number[]): Promise<ReadonlyMap<number, number>> =>
  orUnknown(
    db,
    async () => {
      const times = new Map<number, number>();
      for (let from = 0; from < ids.length; from += timesPerRead) {
        if (from > 0) await nextTurn();
        const rows = await db.usage.all(selectTimes, [JSON.stringify(ids.slice(from, from + timesPerRead))]);
        for (const { keyId, lastUsedAt } of rows) times.set(keyId, lastUsedAt);
      }
      return times;
    },
    new Map<number, number>(),
  );

export type UsesOf = Pick<Db, 'usage' | 'usageFile'>;

/** Adds the last use to keys. */
export async function withLastUses<Row extends { readonly id: number }>(
  db: UsesOf,
  rows: readonly Row[],
): Promise<(Row & Pick<StoredUse, 'lastUsedFrom'> & { readonly lastUsedAt: number | null })[]> {
  const uses = await findUses(
    db,
    rows.map(({ id }) => id),
  );
  return rows.map((row) => {
    const { lastUsedAt = null, lastUsedFrom = null } = uses.get(row.id) ?? {};
    return { ...row, lastUsedAt, lastUsedFrom };
  });
}
