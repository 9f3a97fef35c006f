/** Keys with limits compared with keys without: `npm run bench -- limits`. */
import { join } from 'node:path';
import { Client } from 'pg';
import { SqliteConnection } from '../packages/server/src/foundation/database/sqlite-connection.ts';
import { toLimitsText } from '../packages/server/src/modules/key-limits/definition.ts';
import { PostgresServer } from '../packages/server/test-kit/postgres/server.ts';
import { forwardRequest, keyreeve } from './keyreeve.ts';
import { measure } from './measure.ts';
import { threadsProcessorMs } from '../packages/server/test-kit/processor-time.ts';
import { Programs, type Running } from './processes.ts';
import { Report, titleOf, type Bar } from './report.ts';
import { alternate, medianInterval, together, type Contender, type Rounds } from './rounds.ts';
import { seed, type Seeded } from './seed.ts';
import { beside } from './throughput.ts';

export interface LimitsOptions {
  /** Hot keys. */
  readonly keys: number;
  /** Keys that each round uses once. */
  readonly once: number;
  readonly rounds: number;
  readonly seconds: number;
  readonly databases: readonly string[];
  readonly folder: string;
}

/** Of each program. */
const connections = 64;
/** Then each key has a row, and instances know how often it is used. */
const hotWarmUpSeconds = 15;
/** Of the rows about keys that are used once, which need new keys in each round. */
const onceRoundsMax = 5;
/** Wide enough to reject no request. */
const wide = toLimitsText({ rate: { limit: 1_000_000, windowSeconds: 3_600 } });

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
  await using both = await Both.start(database, join(folder, `${database}-hot`), keys);
  const run =
    (durationSeconds: number) =>
    ({ running, seeded }: Started) => {
      const load = { connections, seconds: durationSeconds, request: forwardRequest(seeded.keys) };
      return measure(running, load, '1', threadsProcessorMs);
    };
  await together(both.contenders(run(hotWarmUpSeconds)), 1);
  const found = await together(both.contenders(run(seconds)), rounds);
  addRows(report, `${titleOf(database)}: ${keys.toLocaleString('en')} hot keys`, found, hotBars[database] ?? {});
}

/** Each request uses another key, so each needs a draw and creates a row. */
async function keysUsedOnce(report: Report, database: string, options: LimitsOptions): Promise<void> {
  const { once, folder } = options;
  const rounds = Math.min(onceRoundsMax, options.rounds);
  await using both = await Both.start(database, join(folder, `${database}-once`), once * (rounds + 1));
  let round = 0;
  const run = ({ running, seeded }: Started) => {
    const pool = { ...seeded.keys, draw: 'once', first: round * once, last: (round + 1) * once } as const;
    return measure(
      running,
      { connections, seconds: onceSecondsMax, request: forwardRequest(pool) },
      '1',
      threadsProcessorMs,
    );
  };
  const contenders = both.contenders(run);
  const last = contenders.at(-1);
  const counted = contenders.map((each) => ({
    ...each,
    run: () => each.run().finally(() => (round += each === last ? 1 : 0)),
  }));
  await alternate(counted, 1);
  const found = await alternate(counted, rounds);
  addRows(report, `${titleOf(database)}: ${once.toLocaleString('en')} keys, each used once`, found, onceBar);
}

function addRows(report: Report, title: string, found: Rounds, bar: Bar): void {
  const [from, to] = medianInterval(found.ratios('unlimited', 'limited', 'processorUs'));
  const interval = `95 % interval ${from.toFixed(3)} to ${to.toFixed(3)}`;
  const details = `${interval}; ${beside(found, 'unlimited', 'limited')}`;
  report.add(
    `${title}, processor time, unlimited / limited`,
    found.ratio('unlimited', 'limited', 'processorUs'),
    bar,
    details,
  );
  report.add(`${title}, rate, limited / unlimited`, found.ratio('limited', 'unlimited', 'perSecond'), bar);
}

interface Started {
  readonly running: Running;
  readonly seeded: Seeded;
}

/** The same program twice, each with a database: one has keys with limits. */
class Both implements AsyncDisposable {
  readonly #plain: Started;
  readonly #limited: Started;
  readonly #cleanUp: AsyncDisposableStack;

  private constructor(plain: Started, limited: Started, cleanUp: AsyncDisposableStack) {
    this.#plain = plain;
    this.#limited = limited;
    this.#cleanUp = cleanUp;
  }

  static async start(database: string, path: string, keys: number): Promise<Both> {
    await using stack = new AsyncDisposableStack();
    const postgres = database === 'postgres' ? stack.use(await PostgresServer.start({ durable: true })) : undefined;
    const programs = stack.use(new Programs());
    const startOne = async (name: string, limitsText: string | null): Promise<Started> => {
      const url = postgres ? `${(await postgres.createDatabase()).url}?sslmode=disable` : `sqlite:${path}-${name}.db`;
      const seeded = await seed(url, `${path}-${name}`, keys);
      if (limitsText !== null) await limitAllKeys(url, limitsText);
      return { seeded, running: programs.add(await keyreeve('0', seeded)) };
    };
    console.error(`seeding ${keys} keys twice`);
    return new Both(await startOne('plain', null), await startOne('limited', wide), stack.move());
  }

  contenders(run: (started: Started) => ReturnType<Contender['run']>): readonly Contender[] {
    return [
      { name: 'unlimited', run: () => run(this.#plain) },
      { name: 'limited', run: () => run(this.#limited) },
    ];
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#cleanUp.disposeAsync();
  }
}

/** @param limitsText canonical JSON */
async function limitAllKeys(url: string, limitsText: string): Promise<void> {
  if (url.startsWith('sqlite:')) {
    const connection = new SqliteConnection(url.slice('sqlite:'.length), 'write');
    connection.prepare('update api_keys set limits = ?').run(limitsText);
    connection.close();
    return;
  }
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query('update api_keys set limits = $1', [limitsText]);
  await client.query('vacuum analyze');
  await client.end();
}
