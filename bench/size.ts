/**
 * The space of a database on the disk: by its number of keys, and for the usage of keys that are used in every hour. The sizes do not
 * depend on the load of the machine, so nothing is measured in rounds.
 */
import { databaseUrl } from '../packages/server/src/app/configuration/config-values.ts';
import { dayMs, hourMs, systemClock } from '../packages/server/src/foundation/clock.ts';
import { deriveKeys } from '../packages/server/src/foundation/crypto/master-key.ts';
import { openDatabase } from '../packages/server/src/foundation/database/database.ts';
import type { Db } from '../packages/server/src/foundation/database/db.ts';
import { databaseBytes } from '../packages/server/src/foundation/database/size.ts';
import { sql } from '../packages/server/src/foundation/database/sql.ts';
import { limits } from '@keyreeve/contract';
import type { Bench } from './bench.ts';
import { titleOf } from './databases.ts';
import type { Report } from './report.ts';
import { rounded } from './rounds.ts';
import { keyIdAt, type Seeded } from './seeded.ts';

const fewKeys = 10_000;
/** Their usage has more than a million rows, so the size of a row is that of many keys. */
const usedKeys = 2_000;
/** In an hour. */
const flushes = 10;
/** The default of `KEYREEVE_USAGE_DAYS`. */
const usageDays = 400;
const bytesPerMib = 2 ** 20;

const ids = `with recursive given (id, n) as (
  select cast($1 as bigint), 1 union all select id + $2, n + 1 from given where n < $3)`;
const addUsage = sql(
  'bench_add_usage',
  `${ids} insert into key_usage (step, at, key_id, accepted, refused)
   select cast($4 as text), cast($5 as bigint), id, 100, 0 from given`,
);
const addLastUses = sql(
  'bench_add_last_uses',
  `${ids} insert into key_last_uses (key_id, last_used_at, last_used_from, changed_at, used_from)
   select id, cast($4 as bigint), '203.0.113.0/24', cast($4 as bigint), '203.0.113.0/24' from given`,
);

export async function size(bench: Bench, report: Report): Promise<void> {
  for (const kind of bench.options.kinds) {
    const databases = await bench.databases(kind);
    for (const keys of new Set([fewKeys, bench.options.keys])) {
      const seeded = await databases.seed(`size-${keys}`, keys, { hasDeletableKeys: false });
      await using db = await opened(seeded);
      const mib = (await databaseBytes(db)) / bytesPerMib;
      report.add(`${titleOf(kind)}: ${rounded(keys)} keys, 400 of each account`, { values: [mib], unit: 'MiB' });
      if (keys !== fewKeys) continue;
      const what = `${titleOf(kind)}: usage of ${rounded(usedKeys)} keys that are used in every hour of ${usageDays} days`;
      report.add(what, { values: [(await addedBytes(db)) / bytesPerMib], unit: 'MiB' });
    }
  }
}

async function opened({ databaseUrl: url, masterKey }: Seeded): Promise<Db & AsyncDisposable> {
  const db = await openDatabase(databaseUrl(url), deriveKeys(Buffer.from(masterKey, 'base64url')).auditChain);
  return Object.assign(db, { [Symbol.asyncDispose]: () => db.close() });
}

/**
 * Adds the rows in the order in which a service writes them: days, each for all keys in the order of their ids, and then hours, in each of
 * which the keys are used in another order. @returns how much they take
 */
async function addedBytes(db: Db): Promise<number> {
  const before = await databaseBytes(db.usage);
  const step = keyIdAt(1) - keyIdAt(0);
  const now = systemClock.now();
  const today = now - (now % dayMs);
  const hoursKeptMs = limits.usageHoursKeptDays * dayMs;
  const add = (kind: 'day' | 'hour', at: number, part = 0, parts = 1) =>
    db.usage.transaction((tx) => tx.run(addUsage, [keyIdAt(part), step * parts, usedKeys / parts, kind, at]));
  for (let at = today - usageDays * dayMs; at < today - hoursKeptMs; at += dayMs) await add('day', at);
  for (let at = today - hoursKeptMs; at < today; at += hourMs)
    for (let part = 0; part < flushes; part++) await add('hour', at, (part * 3) % flushes, flushes);
  await db.usage.transaction((tx) => tx.run(addLastUses, [keyIdAt(0), step, usedKeys, now]));
  return (await databaseBytes(db.usage)) - before;
}
