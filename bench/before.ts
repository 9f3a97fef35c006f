/** Keyreeve compared with an earlier commit, at the same time on one core: `npm run bench -- before --commit REF`. */
import { join } from 'node:path';
import { makeKey } from '../packages/server/src/modules/api-keys/key-format.ts';
import { PostgresServer } from '../packages/server/test-kit/postgres/server.ts';
import { forwardRequest, keyreeve } from './keyreeve.ts';
import { measure } from './measure.ts';
import { threadsProcessorMs } from '../packages/server/test-kit/processor-time.ts';
import { Programs, type Running } from './processes.ts';
import { Report, titleOf, type Bar } from './report.ts';
import { writePool, type RequestTemplate } from './request.ts';
import { medianInterval, together, type Contender } from './rounds.ts';
import { seed, type Seeded } from './seed.ts';
import { beside } from './throughput.ts';
import { commitOf, type Variant } from './variant.ts';

export interface BeforeOptions {
  /** A commit whose program accepts the database of this one. */
  readonly commit: string;
  readonly keys: number;
  readonly rounds: number;
  readonly seconds: number;
  readonly databases: readonly string[];
  readonly folder: string;
}

/** Before / after. The bars hold from 15 rounds on. */
interface Bars {
  readonly median: Bar;
  /** Of the lower bound of the 95 % interval. */
  readonly least: Bar;
}

const bars: Bars = { median: { atLeast: 0.98, goal: 1 }, least: { atLeast: 0.95 } };
/** An unknown key needs a second read: at most 1.3 times the processor time. */
const unknownBars: Bars = { median: { atLeast: 0.77 }, least: {} };

/** Of each program. */
const connections = 32;
const unknownKeys = 100_000;
const warmUpRounds = 5;

export async function before(options: BeforeOptions): Promise<string> {
  const report = new Report();
  using earlier = commitOf(options.commit);
  for (const database of options.databases) await compare(report, database, earlier, options);
  return String(report);
}

async function compare(report: Report, database: string, earlier: Variant, options: BeforeOptions): Promise<void> {
  const { keys, rounds, seconds, folder } = options;
  await using postgres = database === 'postgres' ? await PostgresServer.start({ durable: true }) : undefined;
  const seedOne = async (name: string): Promise<Seeded> => {
    const pool = join(folder, `${database}-${name}`);
    return seed(
      postgres ? `${(await postgres.createDatabase()).url}?sslmode=disable` : `sqlite:${pool}.db`,
      pool,
      keys,
    );
  };
  console.error(`seeding ${keys} keys twice`);
  // Each program has a database, because one process serves an SQLite file.
  const [ofAfter, ofBefore] = [await seedOne('after'), await seedOne('before')];
  await using programs = new Programs();
  const after = programs.add(await keyreeve('0', ofAfter));
  const first = programs.add(await keyreeve('0', ofBefore, earlier.program));
  const texts = Array.from({ length: unknownKeys }, () => makeKey('krv').reveal());
  const unknown = { ...forwardRequest(writePool(join(folder, `${database}-unknown`), texts)), mayFail: true };
  const row = async (
    what: string,
    request: (of: Seeded) => RequestTemplate,
    { median, least }: Bars,
  ): Promise<void> => {
    // Both programs have one process, and threads that do not end.
    const contender = (name: string, running: Running, of: Seeded): Contender => ({
      name,
      run: () => measure(running, { connections, seconds, request: request(of) }, '1', threadsProcessorMs),
    });
    const both = [contender('before', first, ofBefore), contender('after', after, ofAfter)];
    await together(both, warmUpRounds);
    const found = await together(both, rounds);
    const [from, to] = medianInterval(found.ratios('before', 'after', 'processorUs'));
    const title = `${titleOf(database)}: processor time of ${what}, before / after`;
    report.add(
      `${title}, median`,
      found.ratio('before', 'after', 'processorUs'),
      median,
      beside(found, 'before', 'after'),
    );
    const interval = `${from.toFixed(3)} to ${to.toFixed(3)} in ${rounds} rounds`;
    report.add(`${title}, lower bound of the 95 % interval`, from, least, interval);
  };
  await row('`GET /auth/forward`', ({ keys: pool }) => forwardRequest(pool), bars);
  await row('`GET /auth/forward` with unknown keys', () => unknown, unknownBars);
}
