/** Keyreeve compared with an earlier commit, at the same time on one core: `npm run bench -- before --commit REF`. */
import { join } from 'node:path';
import { makeKey } from '../packages/server/src/modules/api-keys/key-format.ts';
import { Databases, type BenchOptions } from './databases.ts';
import { forwardRequest } from './keyreeve.ts';
import { intervalOf, ProgramsAtOnce } from './pairs.ts';
import { Report, titleOf, type Bar } from './report.ts';
import { writePool, type RequestTemplate } from './request.ts';
import { together } from './rounds.ts';
import type { Seeded } from './seed.ts';
import { commitOf, type Variant } from './variant.ts';

export interface BeforeOptions extends BenchOptions {
  /** A commit whose program accepts the database of this one. */
  readonly commit: string;
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
  await using databases = await Databases.start(database, folder);
  await using programs = await ProgramsAtOnce.start(databases, keys, {
    after: {},
    before: { program: earlier.program },
  });
  const texts = Array.from({ length: unknownKeys }, () => makeKey('krv').reveal());
  const unknown = { ...forwardRequest(writePool(join(folder, `${database}-unknown`), texts)), mayFail: true };
  const row = async (
    what: string,
    request: (of: Seeded) => RequestTemplate,
    { median, least }: Bars,
  ): Promise<void> => {
    const contenders = programs.contenders((of) => ({ connections, seconds, request: request(of) }));
    const found = await together(contenders, rounds, warmUpRounds);
    const title = `${titleOf(database)}: processor time of ${what}, before / after`;
    const { from, text } = intervalOf(found, 'before', 'after');
    report.ratio(`${title}, median`, found, ['before', 'after', 'processorUs'], median);
    report.add(`${title}, lower bound of the 95 % interval`, from, least, `${text}; ${rounds} rounds`);
  };
  await row('`GET /auth/forward`', ({ keys: pool }) => forwardRequest(pool), bars);
  await row('`GET /auth/forward` with unknown keys', () => unknown, unknownBars);
}
