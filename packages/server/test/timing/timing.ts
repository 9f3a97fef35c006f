/**
 * `npm run timing`: whether somebody who can time answers learns which emails have an account. A real
 * service, one request after the other in random order; how well the time of an answer tells the kinds of emails apart,
 * and whether their bytes do. `--count N` requests of each kind. Writes `docs/timing.md`; exits 1 when the bar is missed.
 */
import { spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { cpus, loadavg, totalmem } from 'node:os';
import { parseArgs } from 'node:util';
import { fileURLToPath } from 'node:url';
import { monotonicMs } from '../../src/foundation/clock.ts';
import { goodPassword, newProgram, type Program } from '../e2e/program.ts';
import { Prober } from './asking.ts';
import { aucOf, bootstrap, median, type Interval } from './auc.ts';
import { startMailSink } from './mail-sink.ts';
import { accountEmails, importedAccounts, importedTrial, trials, type Trial } from './trials.ts';

/** Chance is 0.5. The whole interval must lie within. */
const bar: Interval = { from: 0.45, to: 0.55 };
/** Requests of each kind before the first that counts: code and caches are warm then. */
const warmUps = 20;

interface Comparison {
  readonly trial: string;
  readonly kinds: readonly [string, string];
  readonly mediansMs: readonly [number, number];
  readonly auc: number;
  readonly interval: Interval;
  readonly isAlike: boolean;
  /** Whether it is as it must be: alike, or different. */
  readonly isMet: boolean;
}

interface Kind {
  readonly ms: number[];
  readonly answers: Set<string>;
  /** Of requests that came after one of this kind. */
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

/** Each round asks once for each kind, in an order of its own. */
async function ask(program: Program, { requests }: Trial, count: number): Promise<ReadonlyMap<string, Kind>> {
  using asker = new Prober(program.url);
  const names = Object.keys(requests);
  const kinds = new Map(names.map((name): [string, Kind] => [name, { ms: [], answers: new Set(), msAfter: [] }]));
  let before: Kind | undefined;
  for (let round = -warmUps; round < count; round++) {
    for (const left = [...names]; left.length > 0;) {
      const [name = ''] = left.splice(randomInt(left.length), 1);
      const kind = kinds.get(name);
      const request = requests[name]?.();
      if (!kind || !request) throw new Error(name);
      const { ms, answer } = await asker.post(request);
      if (round >= 0) {
        kind.ms.push(ms);
        kind.answers.add(answer);
        before?.msAfter.push(ms);
        before = kind;
      }
    }
  }
  return kinds;
}

function compare(trial: string, kinds: readonly [string, string], values: readonly number[][], isAlike: boolean) {
  const [first, second] = values.map((group) => Float64Array.from(group)) as [Float64Array, Float64Array];
  const interval = bootstrap(first, second);
  const isWithin = interval.from >= bar.from && interval.to <= bar.to;
  const isMet = isAlike ? isWithin : interval.to < bar.from || interval.from > bar.to;
  const auc = aucOf(first, second);
  return {
    trial,
    kinds,
    mediansMs: [median(first), median(second)],
    auc,
    interval,
    isAlike,
    isMet,
  } satisfies Comparison;
}

/** @throws Error when kinds that must be alike answer in different bytes */
async function judge(program: Program, trial: Trial, count: number): Promise<Comparison[]> {
  const kinds = await ask(program, trial, count);
  const of = (name: string): Kind => kinds.get(name) as Kind;
  for (const name of new Set(trial.alike.flat())) {
    const { answers } = of(name);
    const [answer = ''] = answers;
    const reference = [...of(trial.alike[0]?.[0] ?? '').answers][0] ?? '';
    if (answers.size !== 1 || answer !== reference || !answer.startsWith(`${trial.status} `))
      throw new Error(`${trial.name}, ${name}: ${[...answers].join('\n---\n')}\nbut expected\n${reference}`);
  }
  const both = (isAlike: boolean) => (pair: readonly [string, string]) =>
    compare(trial.name, pair, [of(pair[0]).ms, of(pair[1]).ms], isAlike);
  const after = trial.alike.map(([a, b]) =>
    compare(`the request after ${trial.name}`, [a, b], [of(a).msAfter, of(b).msAfter], true),
  );
  return [...trial.alike.map(both(true)), ...after, ...trial.different.map(both(false))];
}

function machine(): string {
  const commit = spawnSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).stdout.trim();
  return `${cpus().length} × ${cpus()[0]?.model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.versions.node}, commit ${commit}`;
}

function toRow({ trial, kinds, mediansMs, auc, interval, isAlike, isMet }: Comparison): string {
  const verdict = isMet ? (isAlike ? 'met' : 'seen, as it must be') : '**missed**';
  const ms = mediansMs.map((value) => value.toFixed(2)).join(' / ');
  const range = `${interval.from.toFixed(3)} to ${interval.to.toFixed(3)}`;
  return `| ${trial} | ${kinds.join(' / ')} | ${ms} | ${auc.toFixed(3)} | ${range} | ${verdict} |`;
}

function describe(comparisons: readonly Comparison[], count: number, minutes: number, load: readonly string[]): string {
  return [
    '# Response times and existing accounts',
    '',
    'Can a client that measures response times find out which emails have an account?',
    '',
    `Written by \`npm run timing -- --count ${count}\` (${minutes.toFixed(1)} minutes): a real service on the embedded database, with`,
    'its real password hashes and without rate limits; one client on the same machine, one connection, one request after the',
    `other in random order; ${count} requests of each kind, three times as many where no password is hashed. The responses of kinds`,
    'that must be alike had the same bytes, except for the date and the request id; the run fails otherwise.',
    '',
    `- ${machine()}`,
    `- load average over 1, 5 and 15 minutes before: ${load[0]}; after: ${load[1]}`,
    '',
    '**AUC** is the share of pairs in which the second kind took longer; 0.5 is chance. Bar: the whole 95 % interval (1,000',
    `bootstrap draws) lies between ${bar.from} and ${bar.to}. “The request after” measures whether work that continues after a`,
    'response changes the time of the next request.',
    '',
    '| endpoint | kinds | medians in ms | AUC | 95 % | |',
    '| --- | --- | --- | ---: | --- | --- |',
    ...comparisons.map(toRow),
    '',
    'The machine is shared: noise hides differences from this measurement as it hides them from an attacker, who can send more',
    'requests. The interval states how large a hidden difference can be. A request that is rejected without a hash shows that',
    'the measurement detects a difference where one exists.',
    '',
    'In service an email receives few sign-ups and resets per hour ([limits.md](limits.md)), so a client cannot repeat a request as',
    'often as this measurement does: three requests at an AUC of 0.53 reveal almost nothing.',
    '',
  ].join('\n');
}

const loads = (): string =>
  loadavg()
    .map((value) => value.toFixed(1))
    .join(', ');

const { values } = parseArgs({ options: { count: { type: 'string', default: '1500' }, only: { type: 'string' } } });
const count = Number(values.count);
const startedMs = monotonicMs();
const before = loads();
using mail = await startMailSink();
const comparisons: Comparison[] = [];

/** On an installation of its own: imported accounts make every sign-in longer. */
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
    const judged = await judge(program, trial, count * trial.roundsFactor);
    comparisons.push(...judged);
    process.stderr.write(`${judged.map(toRow).join('\n')}\n`);
    process.stderr.write(`${trial.name} after ${((monotonicMs() - startedMs) / 60_000).toFixed(1)} min\n`);
  }
}

await runTrials(trials, '');
await runTrials([importedTrial], await importedAccounts());
const text = describe(comparisons, count, (monotonicMs() - startedMs) / 60_000, [before, loads()]);
if (values.only === undefined)
  writeFileSync(fileURLToPath(new URL('../../../../docs/timing.md', import.meta.url)), text);
process.stdout.write(text);
process.exitCode = comparisons.some(({ isMet }) => !isMet) ? 1 : 0;
