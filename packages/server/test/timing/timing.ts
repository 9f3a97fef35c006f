/**
 * `npm run timing`: measures whether response times reveal which email addresses have an account, and compares the bytes
 * of the responses. It sends sequential requests to a service, in random order, `--count N` of each kind. It writes
 * `docs/timing.md`, and exits 1 if a result is outside the limits.
 */
import { spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { cpus, loadavg, totalmem } from 'node:os';
import { parseArgs } from 'node:util';
import { fileURLToPath } from 'node:url';
import { monotonicMs } from '../../src/foundation/clock.ts';
import { goodPassword, newProgram, type Program } from '../e2e/program.ts';
import { aucOf, bootstrap, median, type Interval } from './auc.ts';
import { startMailSink } from './mail-sink.ts';
import { TimedClient } from './timed-client.ts';
import { timingPage, timingRow, type Comparison, type Measurement } from './page.ts';
import { accountEmails, importedAccounts, importedTrial, trials, type Trial } from './trials.ts';

/** 0.5 means no difference. The whole interval must lie within these limits. */
const bar: Interval = { from: 0.45, to: 0.55 };
/** Requests of each kind before the measurement, to warm up code and caches. */
const warmUps = 20;

interface Kind {
  readonly ms: number[];
  readonly responses: Set<string>;
  /** Times of the requests that followed one of this kind. */
  readonly msAfter: number[];
}

async function seed(program: Program, imports: string): Promise<void> {
  const run = async (args: readonly string[], input = ''): Promise<void> => {
    const { status, stderr } = await program.command(args, input);
    if (status !== 0) throw new Error(stderr);
  };
  for (const email of [...accountEmails('known'), ...accountEmails('ended')])
    await run(['account', 'create', email, '--password-stdin'], goodPassword);
  for (const email of accountEmails('ended')) await run(['account', 'disable', email]);
  if (imports !== '') await run(['import', 'accounts', '-'], imports);
}

/** Each round sends one request of each kind, in random order. */
async function sendAll(program: Program, { requests }: Trial, count: number): Promise<ReadonlyMap<string, Kind>> {
  using client = new TimedClient(program.url);
  const names = Object.keys(requests);
  const kinds = new Map(names.map((name): [string, Kind] => [name, { ms: [], responses: new Set(), msAfter: [] }]));
  let before: Kind | undefined;
  for (let round = -warmUps; round < count; round++) {
    for (const left = [...names]; left.length > 0;) {
      const [name = ''] = left.splice(randomInt(left.length), 1);
      const kind = kinds.get(name);
      const request = requests[name]?.();
      if (!kind || !request) throw new Error(name);
      const { ms, bytes } = await client.post(request);
      if (round >= 0) {
        kind.ms.push(ms);
        kind.responses.add(bytes);
        before?.msAfter.push(ms);
        before = kind;
      }
    }
  }
  return kinds;
}

function measure(first: readonly number[], second: readonly number[]): Measurement {
  const [a, b] = [Float64Array.from(first), Float64Array.from(second)];
  return { mediansMs: [median(a), median(b)], auc: aucOf(a, b), interval: bootstrap(a, b) };
}

const isWithinBar = ({ interval }: Measurement): boolean => interval.from >= bar.from && interval.to <= bar.to;
const isOutsideBar = ({ interval }: Measurement): boolean => interval.to < bar.from || interval.from > bar.to;

/** @throws Error if kinds that must be equal have responses with different bytes */
async function compare(program: Program, trial: Trial, count: number): Promise<Comparison[]> {
  const kinds = await sendAll(program, trial, count);
  const of = (name: string): Kind => kinds.get(name) as Kind;
  for (const name of new Set(trial.equal.flat())) {
    const { responses } = of(name);
    const [response = ''] = responses;
    const reference = [...of(trial.equal[0]?.[0] ?? '').responses][0] ?? '';
    if (responses.size !== 1 || response !== reference || !response.startsWith(`${trial.status} `))
      throw new Error(`${trial.name}, ${name}: ${[...responses].join('\n---\n')}\nbut expected\n${reference}`);
  }
  const equal = trial.equal.map((pair): Comparison => {
    const [a, b] = [of(pair[0]), of(pair[1])];
    const [measured, next] = [measure(a.ms, b.ms), measure(a.msAfter, b.msAfter)];
    return { trial: trial.name, kinds: pair, measured, next, isMet: isWithinBar(measured) && isWithinBar(next) };
  });
  const different = trial.different.map((pair): Comparison => {
    const measured = measure(of(pair[0]).ms, of(pair[1]).ms);
    return { trial: trial.name, kinds: pair, measured, next: undefined, isMet: isOutsideBar(measured) };
  });
  return [...equal, ...different];
}

function machine(): string {
  const commit = spawnSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).stdout.trim();
  return `${cpus().length} × ${cpus()[0]?.model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.versions.node}, commit ${commit}`;
}

const loads = (): string =>
  loadavg()
    .map((value) => value.toFixed(1))
    .join(', ');

const { values } = parseArgs({ options: { count: { type: 'string', default: '1500' }, only: { type: 'string' } } });
const count = Number(values.count);
const startedMs = monotonicMs();
const loadBefore = loads();
using mail = await startMailSink();
const comparisons: Comparison[] = [];

/** In a separate installation, because imported accounts make every sign-in longer. */
async function runTrials(chosen: readonly Trial[], imports: string): Promise<void> {
  await using program = await newProgram(
    {
      KEYREEVE_THROTTLE: 'off',
      KEYREEVE_SIGNUP: 'open',
      KEYREEVE_SMTP_URL: `smtp://127.0.0.1:${mail.port}`,
      KEYREEVE_MAIL_FROM: 'Example <accounts@example.com>',
    },
    [fileURLToPath(new URL('./server.ts', import.meta.url))],
  );
  await seed(program, imports);
  for (const trial of chosen.filter(({ name }) => values.only === undefined || name.includes(values.only))) {
    const compared = await compare(program, trial, count * trial.roundsFactor);
    comparisons.push(...compared);
    process.stderr.write(`${compared.map(timingRow).join('\n')}\n`);
    process.stderr.write(`${trial.name} after ${((monotonicMs() - startedMs) / 60_000).toFixed(1)} min\n`);
  }
}

await runTrials(trials, '');
await runTrials([importedTrial], await importedAccounts());
const minutes = (monotonicMs() - startedMs) / 60_000;
const text = timingPage({ count, minutes, machine: machine(), loadBefore, loadAfter: loads(), bar, comparisons });
if (values.only === undefined)
  writeFileSync(fileURLToPath(new URL('../../../../docs/timing.md', import.meta.url)), text);
process.stdout.write(text);
process.exitCode = comparisons.some(({ isMet }) => !isMet) ? 1 : 0;
