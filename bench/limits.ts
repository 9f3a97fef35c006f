/** Keys with limits compared with keys without: `npm run bench -- limits`. */
import { Client } from 'pg';
import { SqliteConnection } from '../packages/server/src/foundation/database/sqlite-connection.ts';
import { toLimitsText } from '../packages/server/src/modules/key-limits/definition.ts';
import { Databases, type BenchOptions } from './databases.ts';
import { forwardRequest } from './keyreeve.ts';
import { intervalOf, ProgramsAtOnce } from './pairs.ts';
import { Report, titleOf, type Bar } from './report.ts';
import { alternate, together, type Contender, type Rounds } from './rounds.ts';

export interface LimitsOptions extends BenchOptions {
  /** Keys that each round uses once. `keys` are hot. */
  readonly once: number;
}

/** Of each program. */
const connections = 64;
/** Then each key has a row, and instances know how often it is used. */
const hotWarmUpSeconds = 15;
/** Of the rows about keys that are used once, which need new keys in each round. */
const onceRoundsMax = 5;
/** Wide enough to reject no request. */
const wide = toLimitsText({ rate: { limit: 1_000_000, windowSeconds: 3_600 } });

const variants = { unlimited: {}, limited: { prepare: limitAllKeys } };

const hotBars: Readonly<Record<string, Bar>> = {
  sqlite: { atLeast: 0.85, goal: 0.95 },
  postgres: { atLeast: 0.8, goal: 0.95 },
};
const onceBar: Bar = { atLeast: 0.3, goal: 0.5 };
/** A load of keys that are used once ends with the last key. */
const onceSecondsMax = 120;

export async function limits(options: LimitsOptions): Promise<string> {
  const report = new Report();
  for (const database of options.databases) {
    if (options.keys > 0) await hotKeys(report, database, options);
    if (options.once > 0) await keysUsedOnce(report, database, options);
  }
  return String(report);
}

/** Random requests for few keys, so that each key is used often. Both programs run at the same time on one core. */
async function hotKeys(report: Report, database: string, options: LimitsOptions): Promise<void> {
  const { keys, rounds, seconds, folder } = options;
  await using databases = await Databases.start(database, folder);
  await using both = await ProgramsAtOnce.start(databases, keys, variants, 'hot-');
  const lasting = (durationSeconds: number): Contender[] =>
    both.contenders((of) => ({ connections, seconds: durationSeconds, request: forwardRequest(of.keys) }));
  await together(lasting(hotWarmUpSeconds), 1);
  const found = await together(lasting(seconds), rounds);
  addRows(report, `${titleOf(database)}: ${keys.toLocaleString('en')} hot keys`, found, hotBars[database] ?? {});
}

/** Each request uses another key, so each needs a draw and creates a row. */
async function keysUsedOnce(report: Report, database: string, options: LimitsOptions): Promise<void> {
  const { once, folder } = options;
  const rounds = Math.min(onceRoundsMax, options.rounds);
  await using databases = await Databases.start(database, folder);
  await using both = await ProgramsAtOnce.start(databases, once * (rounds + 1), variants, 'once-');
  let round = 0;
  const contenders = both.contenders(({ keys }) => {
    const pool = { ...keys, draw: 'once', first: round * once, last: (round + 1) * once } as const;
    return { connections, seconds: onceSecondsMax, request: forwardRequest(pool) };
  });
  const last = contenders.at(-1);
  const counted = contenders.map((each) => ({
    ...each,
    run: () => each.run().finally(() => (round += each === last ? 1 : 0)),
  }));
  const found = await alternate(counted, rounds, 1);
  addRows(report, `${titleOf(database)}: ${once.toLocaleString('en')} keys, each used once`, found, onceBar);
}

function addRows(report: Report, title: string, found: Rounds, bar: Bar): void {
  const { text } = intervalOf(found, 'unlimited', 'limited');
  const what = `${title}, processor time, unlimited / limited`;
  report.ratio(what, found, ['unlimited', 'limited', 'processorUs', text], bar);
  report.add(`${title}, rate, limited / unlimited`, found.ratio('limited', 'unlimited', 'perSecond'), bar);
}

async function limitAllKeys(url: string): Promise<void> {
  if (url.startsWith('sqlite:')) {
    const connection = new SqliteConnection(url.slice('sqlite:'.length), 'write');
    connection.prepare('update api_keys set limits = ?').run(wide);
    connection.close();
    return;
  }
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query('update api_keys set limits = $1', [wide]);
  await client.query('vacuum analyze');
  await client.end();
}
