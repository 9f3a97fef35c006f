/**
 * `npm run prove`: the published runs of the revocation check. For an hour (`--minutes N`) it goes through every arrangement
 * of instances and every fault, again and again, and writes `docs/proof-run.md`; `--mutants` runs every broken build instead,
 * and writes `docs/proof-mutants.md`; `--all` does both. Each page names the commit and a hash of the files that the run
 * depends on, which `npm run release` compares. It exits 1 at a violation or a mutant that survives.
 */
import { randomInt } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { parseArgs } from 'node:util';
import { fileURLToPath } from 'node:url';
import { filesLine, git, publishedRuns } from '../../../../scripts/run-files.ts';
import { monotonicMs } from '../../src/foundation/clock.ts';
import { PostgresServer } from '../../test-kit/postgres/server.ts';
import { Cluster } from './cluster.ts';
import { faults, workerFaults, type Fault } from './faults.ts';
import { runMutant, serverOptions } from './mutant-run.ts';
import { mutants } from './mutants.ts';
import { runProof } from './proof-run.ts';
import { add, nothing, type ReportSum } from './report-sum.ts';

interface Arrangement {
  readonly name: string;
  readonly instances: number;
  readonly isEmbedded: boolean;
  /** Processes of each instance. */
  readonly workers?: number;
}

const arrangements: readonly Arrangement[] = [
  { name: 'PostgreSQL, 2 instances', instances: 2, isEmbedded: false },
  { name: 'embedded, 1 process', instances: 1, isEmbedded: true },
  { name: 'PostgreSQL, 3 instances', instances: 3, isEmbedded: false },
  { name: 'embedded, 2 processes', instances: 2, isEmbedded: true },
  { name: 'PostgreSQL, 2 instances of 2 workers', instances: 2, isEmbedded: false, workers: 2 },
  { name: 'PostgreSQL, 1 instance', instances: 1, isEmbedded: false },
  { name: 'embedded, 2 workers', instances: 1, isEmbedded: true, workers: 2 },
];
/** Each arrangement runs this long at least before the next one. */
const segmentMsMin = 30_000;
const segmentMsMax = 240_000;
const standstillMsMax = 10_000;
const concurrency = 48;
/** What an hour should have seen on two processors, and shorter runs in proportion. Keys are created over HTTP. */
const hourly = { deletions: 40_000, verifications: 4_000_000 };

/** All faults that the arrangement can have, in random order, without end. */
function* everyFault({ isEmbedded, workers = 1 }: Arrangement): Generator<Fault> {
  const all: Fault[] = [...Object.values(faults), ...(workers > 1 ? Object.values(workerFaults) : [])];
  const possible = all.filter(({ isForEmbedded }) => isForEmbedded || !isEmbedded);
  for (;;) {
    const left = [...possible];
    while (left.length > 0) yield* left.splice(randomInt(left.length), 1);
  }
}

interface LongRun {
  readonly minutes: number;
  readonly sums: ReadonlyMap<string, ReportSum>;
  readonly total: ReportSum;
  readonly happened: ReadonlyMap<string, number>;
}

async function runLong(minutes: number): Promise<LongRun> {
  await using postgres = await PostgresServer.start(serverOptions);
  const startedMs = monotonicMs();
  const endMs = startedMs + minutes * 60_000;
  const segmentMs = Math.min(segmentMsMax, Math.max(segmentMsMin, (minutes * 60_000) / arrangements.length));
  const sums = new Map(arrangements.map(({ name }) => [name, nothing()]));
  const total = nothing();
  const happened = new Map<string, number>();
  for (let turn = 0; monotonicMs() < endMs && total.violations === 0; turn++) {
    const arrangement = arrangements[turn % arrangements.length] as Arrangement;
    const { name, instances, isEmbedded, workers = 1 } = arrangement;
    const segmentEndMs = Math.min(endMs, monotonicMs() + segmentMs);
    await using cluster = await Cluster.start({
      instances,
      postgres: isEmbedded ? undefined : postgres,
      environment: { KEYREEVE_LOG_LEVEL: 'error', KEYREEVE_WORKERS: String(workers) },
    });
    const report = await runProof(cluster, {
      faults: everyFault(arrangement),
      deletionsBetween: 250,
      standstillMs: 1_000 + randomInt(standstillMsMax - 1_000),
      concurrency,
      more: { asksMax: 2, floods: 1 },
      isOver: (violations) => violations > 0 || monotonicMs() > segmentEndMs,
      onFault: (fault) => happened.set(fault.name, (happened.get(fault.name) ?? 0) + 1),
    });
    add(sums.get(name) ?? nothing(), report);
    add(total, report);
    process.stderr.write(
      `${((monotonicMs() - startedMs) / 60_000).toFixed(1)} min, ${name}: ${total.verifications} verifications, ${total.deletions} deletions, ${total.violations} violations\n`,
    );
  }
  return { minutes: (monotonicMs() - startedMs) / 60_000, sums, total, happened };
}

const ms = (value: number | null): string => (value === null ? 'none' : value.toFixed(3));
const table = (rows: readonly (readonly (string | number)[])[]): string[] =>
  rows.flatMap((row, index) => [
    `| ${row.join(' | ')} |`,
    ...(index === 0 ? [`| ${row.map(() => '---').join(' | ')} |`] : []),
  ]);

const root = fileURLToPath(new URL('../../../../', import.meta.url));

function machine(): string {
  const memory = Math.round(totalmem() / 2 ** 30);
  return `${cpus().length} × ${cpus()[0]?.model.trim()}, ${memory} GiB, Node ${process.versions.node}`;
}

/** The origin of a run, for its page. Recorded at the start, because later changes are not part of the run. */
function originOfRun(): (hasPassed: boolean) => readonly string[] {
  const commit = git(root, 'rev-parse', '--short', 'HEAD').trim();
  const others = publishedRuns.map((path) => `:!${path}`);
  const isDirty = git(root, 'status', '--porcelain', '--', '.', ...others).trim() !== '';
  const files = filesLine(root);
  return (hasPassed) => [
    `- ${machine()}`,
    `- commit ${commit}${isDirty ? ' with uncommitted changes' : ''}`,
    files,
    `- result: ${hasPassed ? 'passed' : 'failed'}`,
  ];
}

function describeLong({ minutes, sums, total, happened }: LongRun, origin: readonly string[]): string {
  const wanted = (count: number): number => Math.round((count * minutes) / 60);
  const reached = (found: number, count: number): string =>
    `${found} (${found >= wanted(count) ? 'at least' : '**missed:**'} ${wanted(count)})`;
  return [
    '# The long run of the revocation check',
    '',
    '`npm run prove` wrote this page. [proof.md](proof.md) describes the check. Instances, database and clients share one machine.',
    '',
    ...origin,
    `- ${minutes.toFixed(1)} minutes, ${total.violations} violations`,
    `- verifications: ${reached(total.verifications, hourly.verifications)}; deletions: ${reached(total.deletions, hourly.deletions)}`,
    `- longest time from the response to a revocation to an acceptance that started later: ${ms(total.acceptedAfterMsMax)}`,
    `- shortest time from the response to a deletion to a rejected verification that started later: ${ms(total.refusedAfterMsMin)} ms`,
    '',
    ...table([
      [
        'arrangement',
        'verifications',
        'started after a revocation',
        'without a response',
        'deletions',
        'of callers’ keys',
        'of imported keys',
        'of unknown outcome',
        'account changes',
        'violations',
      ],
      ...[...sums, ['all', total] as const].map(([name, sum]) => [
        name,
        sum.verifications,
        sum.afterRevocation,
        sum.unknown,
        sum.deletions,
        sum.deletionsCaller,
        sum.deletionsImported,
        sum.deletionsUnknown,
        sum.accountChanges,
        sum.violations,
      ]),
    ]),
    '',
    ...table([['fault', 'times'], ...happened]),
    '',
    '```json',
    JSON.stringify({ minutes, total, faults: Object.fromEntries(happened) }, null, 2),
    '```',
    '',
  ].join('\n');
}

async function runMutants(): Promise<{ readonly text: string; readonly survivors: number }> {
  const origin = originOfRun();
  await using postgres = await PostgresServer.start(serverOptions);
  const rows: (readonly (string | number)[])[] = [['broken build', 'caught', 'by', 'deletions until then', 'seconds']];
  let survivors = 0;
  for (const mutant of [...mutants, { name: 'none: the program itself', edits: [], faults: Object.values(faults) }]) {
    const startedMs = monotonicMs();
    const { violations, examples, deletions } = await runMutant(mutant, postgres);
    const isRight = violations > 0 === mutant.edits.length > 0;
    if (!isRight) survivors++;
    const seconds = ((monotonicMs() - startedMs) / 1_000).toFixed(1);
    const caught = violations > 0 ? 'yes' : 'no';
    rows.push([
      mutant.name,
      isRight ? caught : `**${caught}**`,
      examples[0]?.rule ?? '',
      deletions.acknowledged,
      seconds,
    ]);
    process.stderr.write(`${rows.at(-1)?.join(', ')}\n`);
  }
  const text = [
    '# Broken builds that the revocation check must catch',
    '',
    '`npm run prove -- --mutants` wrote this page. The check ran on two instances of each broken build, with the faults of the ordinary runs.',
    '',
    ...origin(survivors === 0),
    '',
    ...table(rows),
    '',
  ].join('\n');
  return { text, survivors };
}

const docs = new URL('../../../../docs/', import.meta.url);

function publish(page: string, text: string): void {
  writeFileSync(fileURLToPath(new URL(page, docs)), text);
  process.stdout.write(text);
}

/** @returns whether it passed */
async function publishLong(minutes: number): Promise<boolean> {
  const origin = originOfRun();
  const run = await runLong(minutes);
  const { violations, deletionsCreated, deletionsCaller, deletionsImported } = run.total;
  // A run that saw nothing proves nothing.
  const hasSeen = [deletionsCreated, deletionsCaller, deletionsImported].every((count) => count > 0);
  const hasPassed = violations === 0 && hasSeen;
  publish('proof-run.md', describeLong(run, origin(hasPassed)));
  return hasPassed;
}

/** @returns whether it passed */
async function publishMutants(): Promise<boolean> {
  const { text, survivors } = await runMutants();
  publish('proof-mutants.md', text);
  return survivors === 0;
}

const { values } = parseArgs({
  options: { minutes: { type: 'string', default: '60' }, mutants: { type: 'boolean' }, all: { type: 'boolean' } },
});
const minutes = Number(values.minutes);
if (!(minutes > 0)) throw new Error(`--minutes must be a number above 0, not “${values.minutes}”`);
// The short one first.
const results = [
  values.mutants === true || values.all === true ? await publishMutants() : true,
  values.mutants === true && values.all !== true ? true : await publishLong(minutes),
];
process.exitCode = results.every(Boolean) ? 0 : 1;
