/**
 * `npm run prove`: the published runs of the revocation check. It injects every fault in every deployment, repeatedly, for an
 * hour (`--minutes N`), and writes `docs/proof-run.md`. `--cluster` runs the faults of a cluster that Patroni manages instead,
 * each 30 times (`--times N`), and writes the last section of that page. `--mutants` runs every broken build instead, and writes
 * `docs/proof-mutants.md`; `--all` does all three. Each part has the commit, the date and a hash of the program and the check,
 * which `npm run release` compares. The exit status is 1 after a violation, an undetected mutant or a failed run.
 */
import { randomInt } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { parseArgs } from 'node:util';
import { fileURLToPath } from 'node:url';
import { filesLine, git, publishedRuns } from '../../../../scripts/run-files.ts';
import { monotonicMs, systemClock, toInstant } from '../../src/foundation/clock.ts';
import { PostgresServer } from '../../test-kit/postgres/server.ts';
import { Cluster } from './cluster.ts';
import { runFailovers } from './failover-run.ts';
import { addFailover, failoverRows, areRight, type FailoverSums } from './failover-table.ts';
import { faults, verifierFaults, type Fault } from './faults.ts';
import { runMutant, serverOptions } from './mutant-run.ts';
import type { Mutant } from './mutant-edits.ts';
import { mutants } from './mutants.ts';
import { add, emptySum, type ReportSum } from './report-sum.ts';
import { runWithFaults } from './run-with-faults.ts';

interface Deployment {
  readonly name: string;
  readonly instances: number;
  readonly isEmbedded: boolean;
  /** Processes of each instance that only verify. Default: none. */
  readonly verifiers?: number;
  /** Default: open. */
  readonly scopes?: 'catalogue';
}

const deployments: readonly Deployment[] = [
  { name: 'PostgreSQL, 2 instances', instances: 2, isEmbedded: false },
  { name: 'embedded, 1 process', instances: 1, isEmbedded: true },
  { name: 'PostgreSQL, 3 instances, scope catalogue', instances: 3, isEmbedded: false, scopes: 'catalogue' },
  { name: 'embedded, 2 processes, scope catalogue', instances: 2, isEmbedded: true, scopes: 'catalogue' },
  { name: 'PostgreSQL, 2 instances of 2 verifiers', instances: 2, isEmbedded: false, verifiers: 2 },
  { name: 'embedded, 1 verifier', instances: 1, isEmbedded: true, verifiers: 1 },
  { name: 'PostgreSQL, 1 instance', instances: 1, isEmbedded: false },
];
/** The duration of a deployment before the next one. */
const segmentMsRange = [30_000, 240_000] as const;
const faultMsRange = [1_000, 10_000] as const;
const concurrency = 48;
const errorCharactersMax = 300;
/** The minimum for an hour on two processors; shorter runs in proportion. */
const hourly = { deletions: 40_000, verifications: 4_000_000 };

/** All faults that are possible in the deployment, in random order, endlessly. */
function* everyFault({ isEmbedded, verifiers }: Deployment): Generator<Fault> {
  const possible = [
    ...Object.values<Fault>(faults),
    ...(verifiers === undefined ? [] : Object.values(verifierFaults)),
  ].filter(({ isForEmbedded }) => isForEmbedded || !isEmbedded);
  for (;;) {
    const left = [...possible];
    while (left.length > 0) yield* left.splice(randomInt(left.length), 1);
  }
}

interface LongRun {
  readonly minutes: number;
  readonly sums: ReadonlyMap<string, ReportSum>;
  readonly total: ReportSum;
  readonly injected: ReadonlyMap<string, number>;
}

async function runLong(minutes: number): Promise<LongRun> {
  await using postgres = await PostgresServer.start(serverOptions);
  const startedMs = monotonicMs();
  const endMs = startedMs + minutes * 60_000;
  const [shortest, longest] = segmentMsRange;
  const segmentMs = Math.min(longest, Math.max(shortest, (minutes * 60_000) / deployments.length));
  const sums = new Map(deployments.map(({ name }) => [name, emptySum()]));
  const total = emptySum();
  const injected = new Map<string, number>();
  for (let turn = 0; monotonicMs() < endMs && total.violations === 0; turn++) {
    const deployment = deployments[turn % deployments.length] as Deployment;
    const { name, instances, isEmbedded, verifiers, scopes = 'open' } = deployment;
    const segmentEndMs = Math.min(endMs, monotonicMs() + segmentMs);
    await using cluster = await Cluster.start({
      instances,
      postgres: isEmbedded ? undefined : postgres,
      verifiers,
      environment: { KEYREEVE_LOG_LEVEL: 'error', KEYREEVE_SCOPES: scopes },
    });
    const report = await runWithFaults(cluster, {
      faults: everyFault(deployment),
      deletionsBetween: 250,
      faultMs: randomInt(...faultMsRange),
      concurrency,
      workload: { probesMax: 2, batchClients: 1 },
      isOver: (violations) => violations > 0 || monotonicMs() > segmentEndMs,
      onFault: (fault) => injected.set(fault.name, (injected.get(fault.name) ?? 0) + 1),
    });
    add(sums.get(name) ?? emptySum(), report);
    add(total, report);
    process.stderr.write(
      `${((monotonicMs() - startedMs) / 60_000).toFixed(1)} min, ${name}: ${total.verifications} verifications, ${total.deletions} deletions, ${total.violations} violations\n`,
    );
  }
  return { minutes: (monotonicMs() - startedMs) / 60_000, sums, total, injected };
}

const ms = (value: number | null): string => (value === null ? 'none' : `${value.toFixed(3)} ms`);
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

/** The lines that identify a run. Read at its start, because files may change during the run. */
function originOfRun(): (hasPassed: boolean) => readonly string[] {
  const commit = git(root, 'rev-parse', '--short', 'HEAD').trim();
  const day = toInstant(systemClock.now()).slice(0, 'yyyy-mm-dd'.length);
  const others = publishedRuns.map((path) => `:!${path}`);
  const isDirty = git(root, 'status', '--porcelain', '--', '.', ...others).trim() !== '';
  const files = filesLine(root);
  return (hasPassed) => [
    `- ${machine()}`,
    `- commit ${commit}${isDirty ? ' with uncommitted changes' : ''}, on ${day}`,
    files,
    `- result: ${hasPassed ? 'passed' : 'failed'}`,
  ];
}

function describeLong({ minutes, sums, total, injected }: LongRun, origin: readonly string[]): string {
  const wanted = (count: number): number => Math.round((count * minutes) / 60);
  const reached = (found: number, count: number): string =>
    `${found} (${found >= wanted(count) ? 'at least' : '**missed:**'} ${wanted(count)})`;
  const keyChanges = Object.entries(total.keyChanges).map(([kind, count]) => `${kind} ${count}`);
  return [
    '# Long run of the revocation check',
    '',
    '`npm run prove` generates this page. [The revocation check](proof.md) describes the check. Instances, database and clients share one machine.',
    '',
    ...origin,
    `- duration: ${minutes.toFixed(1)} minutes; violations: ${total.violations}`,
    `- verifications: ${reached(total.verifications, hourly.verifications)}; deletions: ${reached(total.deletions, hourly.deletions)}`,
    `- longest time from the response to a revocation to the start of an accepted verification: ${ms(total.acceptedAfterMsMax)}`,
    `- shortest time from the response to a revocation to the start of a rejected verification: ${ms(total.refusedAfterMsMin)}`,
    '',
    ...table([
      [
        'deployment',
        'verifications',
        'started after a revocation',
        'without a result',
        'deletions',
        'of callers’ keys',
        'of imported keys',
        'with unknown outcome',
        'account changes',
        'key changes',
        'rotations',
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
        sum.keyChanges.acknowledged,
        sum.keyChanges.rotated,
        sum.violations,
      ]),
    ]),
    '',
    ...table([['fault', 'times'], ...injected]),
    '',
    `Key changes: ${keyChanges.join(', ')}. Lists compared: ${total.lists}.`,
    ...total.examples.map((violation) => `\n${violation}`),
    '',
  ].join('\n');
}

interface MutantResult {
  readonly isRight: boolean;
  /** Rule or error, deletions. In bold if it is not what the check must find. */
  readonly cells: readonly [string, number];
}

/** Starts its own database server, because a failed run may leave the server unusable. */
async function tryMutant(mutant: Mutant): Promise<MutantResult> {
  try {
    await using postgres = await PostgresServer.start(serverOptions);
    const { violations, examples, deletions } = await runMutant(mutant, postgres);
    const isRight = violations > 0 === mutant.edits.length > 0;
    const rule = examples[0]?.rule ?? 'none';
    return { isRight, cells: [isRight ? rule : `**${rule}**`, deletions.acknowledged] };
  } catch (error) {
    process.stderr.write(`${mutant.name}: ${error instanceof Error ? error.stack : String(error)}\n`);
    const message = String(error).replaceAll(/\s+/g, ' ').replaceAll('|', '\\|').slice(0, errorCharactersMax);
    return { isRight: false, cells: [`**failed**: ${message}`, 0] };
  }
}

/** A failure of one mutant does not end the run of the others. */
async function runMutants(): Promise<{ readonly text: string; readonly hasPassed: boolean }> {
  const origin = originOfRun();
  const rows: (readonly (string | number)[])[] = [['broken build', 'violated rule', 'deletions', 'seconds']];
  let hasPassed = true;
  for (const mutant of [...mutants, { name: 'none: the program itself', edits: [], faults: Object.values(faults) }]) {
    const startedMs = monotonicMs();
    const { isRight, cells } = await tryMutant(mutant);
    hasPassed &&= isRight;
    const row = [mutant.name, ...cells, ((monotonicMs() - startedMs) / 1_000).toFixed(1)];
    rows.push(row);
    process.stderr.write(`${row.join(', ')}\n`);
  }
  const text = [
    '# Broken builds that the revocation check must detect',
    '',
    '`npm run prove -- --mutants` generates this page. Each build runs on two instances. The deletions are those before the first violation.',
    '',
    ...origin(hasPassed),
    '',
    ...table(rows),
    '',
  ].join('\n');
  return { text, hasPassed };
}

const docs = new URL('../../../../docs/', import.meta.url);
/** The last section of the page of the long run, which has a run of its own. */
const failoverTitle = '## Automatic failover';

function publish(page: string, text: string): void {
  writeFileSync(fileURLToPath(new URL(page, docs)), text);
  process.stdout.write(text);
}

/** Replaces one of the two parts of the page. */
function publishPart(part: 'long' | 'failover', text: string): void {
  const page = 'proof-run.md';
  const file = fileURLToPath(new URL(page, docs));
  const [long = '', failover] = existsSync(file) ? readFileSync(file, 'utf8').split(`${failoverTitle}\n`) : [];
  const section = part === 'failover' ? text : failover;
  const first = part === 'long' ? text : long;
  publish(page, `${first.trimEnd()}\n${section === undefined ? '' : `\n${failoverTitle}\n${section}`}`);
}

/** @returns whether it passed */
async function publishLong(minutes: number): Promise<boolean> {
  const origin = originOfRun();
  const run = await runLong(minutes);
  const { violations, deletionsCreated, deletionsCaller, deletionsImported, keyChanges } = run.total;
  const deletions = [deletionsCreated, deletionsCaller, deletionsImported];
  const changes = Object.entries(keyChanges).flatMap(([kind, count]) => (kind === 'unknown' ? [] : [count]));
  // Without deletions and changes of every kind, the absence of violations proves nothing.
  const isComplete = [...deletions, ...changes].every((count) => count > 0);
  const hasPassed = violations === 0 && isComplete;
  publishPart('long', describeLong(run, origin(hasPassed)));
  return hasPassed;
}

/** Beside each other: most of the time of a fault is the wait for the expiry of the leader’s key. */
const clustersAtOnce = 6;

/** @param times of each fault @returns whether it passed */
async function publishFailovers(times: number): Promise<boolean> {
  const origin = originOfRun();
  const startedMs = monotonicMs();
  const minutesNow = (): string => ((monotonicMs() - startedMs) / 60_000).toFixed(1);
  const sums: FailoverSums = new Map();
  const clusters = Math.min(clustersAtOnce, times);
  const running = Array.from({ length: clusters }, (_, index) =>
    runFailovers({
      rounds: Math.floor((times + index) / clusters),
      onResult: (result) => {
        addFailover(sums, result);
        const { fault, violations, outage } = result;
        process.stderr.write(
          `${minutesNow()} min, ${fault.name}: ${JSON.stringify(violations)}, ${outage.withoutVerdictMs.toFixed()} ms without a verdict, ${outage.sincePromotionMs?.toFixed() ?? 'no'} ms of them after the promotion, ${outage.failures} failed requests\n`,
        );
      },
    }),
  );
  await Promise.all(running);
  const rows = failoverRows(sums, times);
  const hasPassed = areRight(rows);
  const text = [
    '',
    '`npm run prove -- --cluster` generates this section: two instances on three PostgreSQL servers in synchronous mode that Patroni manages. One instance has the list of hosts, the other HAProxy.',
    '',
    ...origin(hasPassed),
    `- duration: ${minutesNow()} minutes, ${clusters} clusters beside each other`,
    '',
    ...table(rows),
    ...(hasPassed ? [] : [...sums.values()].flatMap(({ examples }) => examples.map((example) => `\n${example}`))),
    '',
  ];
  publishPart('failover', text.join('\n'));
  return hasPassed;
}

/** @returns whether it passed */
async function publishMutants(): Promise<boolean> {
  const { text, hasPassed } = await runMutants();
  publish('proof-mutants.md', text);
  return hasPassed;
}

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '60' },
    times: { type: 'string', default: '30' },
    mutants: { type: 'boolean', default: false },
    cluster: { type: 'boolean', default: false },
    all: { type: 'boolean', default: false },
  },
});
const [minutes, times] = [Number(values.minutes), Number(values.times)];
if (!(minutes > 0)) throw new Error(`--minutes must be a number above 0, not “${values.minutes}”`);
if (!Number.isInteger(times) || times < 1)
  throw new Error(`--times must be a whole number above 0, not “${values.times}”`);
const { mutants: onlyMutants, cluster: onlyCluster, all } = values;
const results: boolean[] = [];
// The shorter runs first.
if (onlyMutants || all) results.push(await publishMutants());
if (onlyCluster || all) results.push(await publishFailovers(times));
if (all || !(onlyMutants || onlyCluster)) results.push(await publishLong(minutes));
process.exitCode = results.every(Boolean) ? 0 : 1;
