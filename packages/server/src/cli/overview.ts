/** `keyreeve overview`: the state of an installation: its processes, the last hour, and what needs attention. */
import type { Command } from 'commander';
import type { Overview } from '@keyreeve/contract';
import { CliCommand } from './command.ts';
import { withOperations } from './operations/operations.ts';
import { print, table, type OutputOptions } from './output.ts';

export function overviewCommand(): Command {
  return new CliCommand('overview')
    .group('daily')
    .remote('administrator')
    .description('Show the processes of the service, the last hour, and what needs attention.')
    .json()
    .examples('keyreeve overview')
    .references('docs/administration.md', 'database', 'masterKey')
    .action(show);
}

async function show(options: OutputOptions): Promise<void> {
  const overview = await withOperations((to) => to.overview.read());
  print(options, overview, describe(overview));
}

function describe({ now, instances, minutes, verificationMs, databaseMs, outbox, attention }: Overview): string {
  const facts = [
    ['verifications', countsOf(minutes.map(({ results }) => results))],
    ['sign-ins', countsOf(minutes.map(({ signIns }) => signIns))],
    ['verification, p50 and p99', quantilesOf(verificationMs)],
    ['database, p50 and p99', quantilesOf(databaseMs)],
    ...outbox.map(({ kind, waiting, oldestSeconds }) => [
      `waiting ${kind}`,
      `${waiting}, the oldest for ${oldestSeconds} s`,
    ]),
  ];
  const processes = instances.map(({ id, version, startedAt, isRunning }) => [
    id,
    version,
    startedAt,
    isRunning ? 'running' : 'missing',
  ]);
  const found = attention.map(({ code, since, subject, count, detail }) => [
    code,
    since ?? '',
    count === null ? subject : `${subject} (${count})`,
    detail ?? '',
  ]);
  return [
    table(['last hour', `until ${now}`], facts),
    table(['PROCESS', 'VERSION', 'STARTED', 'STATE'], processes),
    found.length === 0 ? 'Nothing needs attention.' : table(['ATTENTION', 'SINCE', 'SUBJECT', 'DETAIL'], found),
  ].join('\n\n');
}

type Results = Overview['minutes'][number]['results'];

/** Of all minutes, by result. */
function countsOf(minutes: readonly Results[]): string {
  const sums = new Map<string, number>();
  for (const { result, count } of minutes.flat()) sums.set(result, (sums.get(result) ?? 0) + count);
  return sums.size === 0 ? 'none' : [...sums].map(([result, count]) => `${count} ${result}`).join(', ');
}

const quantilesOf = ({ p50, p99 }: Overview['verificationMs']): string => `${msOf(p50)}, ${msOf(p99)}`;

/** 5000 stands for all longer durations than 1000. */
const msOf = (ms: number | null): string => (ms === null ? 'not known' : ms >= 5000 ? 'over 1000 ms' : `${ms} ms`);
