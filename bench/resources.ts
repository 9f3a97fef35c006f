/** Time from the start to the first response, and memory. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { processTree, residentMib } from '../packages/server/test-kit/processor-time.ts';
import type { Bench } from './bench.ts';
import { environmentOf, forwardRequest, keyreeve } from './keyreeve.ts';
import { measure, script, start, type Running } from './processes.ts';
import type { Report } from './report.ts';
import { rounded, type Measured, type Rounds, type Side } from './rounds.ts';

const startMsMax = 345;
const startKeys = 1_000;
/** The collector of garbage runs some seconds after the start. */
const restSeconds = 12;
const connections = 64;
/** A million verifications take most of a minute. */
const afterRoundsMax = 3;
const secondsMax = 600;

/** Starts are warm: earlier ones have filled the caches of the disk and of compiled code. */
export async function startTimes(bench: Bench, report: Report): Promise<void> {
  const seeded = await (await bench.databases('sqlite')).seed('start', startKeys);
  // A package whose start is a program of known duration, to measure what npm adds. The program replaces its shell, so that the
  // signal that npm forwards reaches it.
  const folder = bench.file('npm');
  mkdirSync(folder);
  const program = script('limit-server.ts', '0');
  const manifest = { private: true, scripts: { start: `exec ${program.map((part) => `'${part}'`).join(' ')}` } };
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
  const side = (name: string, run: () => Promise<Running>): Side => ({
    name,
    run: async () => {
      const running = await run();
      await endFromWithin(running);
      return { startMs: running.startMs };
    },
  });
  const found = await bench.compare(report, [
    side('serve', () => keyreeve(seeded)),
    side('npm start', () => start(['npm', 'start'], { env: environmentOf(seeded) })),
    side('npm start of a constant', () => start(['npm', '--prefix', folder, 'start'])),
    side('constant', () => start(program)),
  ]);
  const values = (name: string): number[] => found.values(name, 'startMs');
  const constants = values('constant');
  const npmMs = values('npm start of a constant').map((ms, round) => ms - (constants[round] ?? 0));
  const bar = { atMost: startMsMax };
  report.add('`serve`', { values: values('serve'), unit: 'ms', bar });
  report.add('`npm start`', { values: values('npm start'), unit: 'ms' });
  report.add('npm’s own share', { values: npmMs, unit: 'ms' });
  const withoutNpm = values('npm start').map((ms, round) => ms - (npmMs[round] ?? 0));
  report.add('`npm start` without npm’s own share', { values: withoutNpm, unit: 'ms', bar });
}

/**
 * Ends the program that npm has started, and npm with it. If npm ended first, the processor time of the program would count as foreign
 * load.
 */
async function endFromWithin({ process: { pid = 0 }, ended }: Running): Promise<void> {
  process.kill(processTree(pid).at(-1) ?? pid, 'SIGTERM');
  await ended;
}

export async function memory(bench: Bench, report: Report): Promise<void> {
  const { seeded } = await bench.shared('sqlite');
  const verifications = Math.min(1_000_000, bench.options.keys);
  const inRounds = (use: (server: Running) => Promise<unknown>, rounds: number) => {
    const run = async (): Promise<Measured> => {
      const server = await bench.keyreeve(seeded);
      await use(server);
      const [mainMib = 0, ...othersMib] = processTree(server.process.pid ?? 0).map((pid) =>
        residentMib(pid, 'RssAnon'),
      );
      await server.stop();
      return server.verifyPort === server.port ? { mainMib } : { mainMib, verifierMib: Math.max(...othersMib) };
    };
    return bench.compare(report, [{ name: 'server', run }], { rounds, warmUp: 0 });
  };
  const add = (found: Rounds, when: string, barOf: Readonly<Record<'mainMib' | 'verifierMib', number>>): void => {
    for (const figure of ['mainMib', 'verifierMib'] as const) {
      if (!found.has('server', figure)) continue;
      const what = `${figure === 'mainMib' ? 'main process' : 'verifier'} ${when}`;
      report.add(what, { values: found.values('server', figure), unit: 'MiB', bar: { atMost: barOf[figure] } });
    }
  };
  const rest = await inRounds(() => sleep(restSeconds * 1_000), bench.options.rounds);
  add(rest, 'at rest', { mainMib: 70, verifierMib: 60 });
  const load = { connections, seconds: secondsMax, requests: verifications, request: forwardRequest(seeded.keys) };
  const after = await inRounds(
    (server) => measure(server, load, server.verifyPort),
    Math.min(afterRoundsMax, bench.options.rounds),
  );
  add(after, `after ${rounded(verifications)} verifications`, { mainMib: 120, verifierMib: 120 });
}
