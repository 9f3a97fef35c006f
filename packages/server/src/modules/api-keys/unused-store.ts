/** Finds and disables keys that were neither used nor changed for some time. */
import { dayMs } from '../../foundation/clock.ts';
import type { Reader, Transaction } from '../../foundation/database/db.ts';
import { onList } from '../../foundation/database/json-lists.ts';
import { sql } from '../../foundation/database/sql.ts';

/** A key that was just disabled. */
export interface UnusedKey {
  readonly id: number;
  readonly accountId: string;
  readonly nickname: string;
  /** The time of the change, in milliseconds. */
  readonly at: number;
}

// Every change sets `updated_at`: creation, import, rotation and enabling count as a use. Usage, if it is kept, shows uses
// whose time was not recorded; a row covers an hour or a day. The cheap conditions are first.
const isUnused = (usedBefore: string): string =>
  `disabled_at is null and updated_at < ${usedBefore} and coalesce(last_used_at, 0) < ${usedBefore} and not exists (
     select 1 from key_usage u where u.key_id = api_keys.id and u.at > ${usedBefore} - ${dayMs} and u.accepted > 0)`;
// In the order of the primary key, so that each read has a bounded number of rows, unused or not.
const page = sql<{ lookup: number; id: number | null }>(
  'page_unused_keys',
  `select lookup, case when ${isUnused('$3')} and (expires_at is null or expires_at > $4) then id end as id
   from api_keys where lookup > $1 order by lookup limit $2`,
);
// A change of the key gets a later time than the one before.
const assignments = (greatest: string): string =>
  `disabled_at = $3, disabled_reason = 'dormant', updated_at = ${greatest}(updated_at + 1, $3), revision = revision + 1`;
const returned = `returning id, nickname, updated_at as at, (select id from accounts where pk = api_keys.account_pk) as "accountId"`;
const listed = onList(`id in ({numbers}) and ${isUnused('$2')}`);
const disable = sql<UnusedKey>('disable_unused_keys', {
  sqlite: `update api_keys set ${assignments('max')}
   where ${listed.sqlite} ${returned}`,
  // Skips keys that are being used or changed.
  postgres: `update api_keys set ${assignments('greatest')}
   where id in (select id from api_keys where ${listed.postgres} for update skip locked) ${returned}`,
});

export interface UnusedPage {
  readonly ids: readonly number[];
  /** Where the next page starts; undefined after the last one. */
  readonly next: number | undefined;
}

/**
 * Reads the next keys, and returns those of them that are unused, not disabled and not expired.
 * @param after a lookup; -1 for the first page
 */
export async function pageUnusedKeys(
  reader: Reader,
  after: number,
  keysMax: number,
  { usedBefore, now }: { readonly usedBefore: number; readonly now: number },
): Promise<UnusedPage> {
  const rows = await reader.all(page, [after, keysMax, usedBefore, now]);
  return { ids: rows.flatMap(({ id }) => id ?? []), next: rows.length < keysMax ? undefined : rows.at(-1)?.lookup };
}

/** Disables those that are still unused. The caller records the events. */
export const disableUnusedKeysTx = (
  tx: Transaction,
  ids: readonly number[],
  usedBefore: number,
  now: number,
): Promise<UnusedKey[]> => tx.all(disable, [JSON.stringify(ids), usedBefore, now]);
