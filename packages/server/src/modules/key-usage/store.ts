/** The table of usage: accepted and refused verifications of keys by hour and, after some days, by day. Both in UTC. */
import type { Db, Reader } from '../../foundation/database/db.ts';
import { sql } from '../../foundation/database/sql.ts';

export const hourMs = 3_600_000;
export const dayMs = 86_400_000;

export type UsageStep = 'hour' | 'day';

export interface UsageCounts {
  readonly accepted: number;
  readonly refused: number;
}

/** Verifications of one key in one hour. */
export interface HourOfKey extends UsageCounts {
  readonly keyId: number;
  /** Start of the hour, in milliseconds. */
  readonly at: number;
}

/** Verifications in one hour or day. */
export interface UsageRow extends UsageCounts {
  readonly at: number;
}

// $1: a JSON array of rows. In the order of the key, so that two instances lock the rows that they share in the same order.
// On SQLite, `where true` separates the select from the conflict clause.
const addTo = (step: UsageStep): Readonly<Record<'sqlite' | 'postgres', string>> => {
  const insert = `insert into key_usage (step, at, key_id, accepted, refused) select '${step}',`;
  const onConflict = `on conflict (step, at, key_id) do update
     set accepted = key_usage.accepted + excluded.accepted, refused = key_usage.refused + excluded.refused`;
  return {
    sqlite: `${insert} value ->> '$.at', value ->> '$.keyId', value ->> '$.accepted', value ->> '$.refused'
     from json_each($1) where true ${onConflict}`,
    postgres: `${insert} at, "keyId", accepted, refused
     from json_to_recordset($1::json) as given (at bigint, "keyId" bigint, accepted bigint, refused bigint)
     order by at, "keyId" ${onConflict}`,
  };
};
const addHours = sql('add_hours_of_key_usage', addTo('hour'));
const sums =
  'cast(coalesce(sum(accepted), 0) as bigint) as accepted, cast(coalesce(sum(refused), 0) as bigint) as refused';
const totalOfHours = sql<UsageCounts>(
  'total_of_key_usage',
  `select ${sums} from key_usage where key_id = $1 and at >= $2 and step = 'hour'`,
);

/** Adds to the counts of hours, in one transaction. */
export async function addUsage(db: Db, hours: readonly HourOfKey[]): Promise<void> {
  await db.transaction((tx) => tx.run(addHours, [JSON.stringify(hours)]));
}

/** @param since milliseconds; hours that start earlier are left out */
export const totalSince = async (reader: Reader, keyId: number, since: number): Promise<UsageCounts> =>
  (await reader.get(totalOfHours, [keyId, since])) ?? { accepted: 0, refused: 0 };
