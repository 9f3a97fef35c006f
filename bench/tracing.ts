/**
 * The cost of tracing for `/auth/forward`, at the same time on one core: `npm run bench -- tracing --commit REF`. Compares an
 * earlier commit with this version without the package `@keyreeve/otel`, with it and no recorded request, and with it and one
 * recorded request in a hundred. The spans go to a collector that discards them, on the core of the load generators.
 */
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { forwardRequest, keyreeve } from './keyreeve.ts';
import { measure } from './measure.ts';
import { threadsProcessorMs } from '../packages/server/test-kit/processor-time.ts';
import { Programs } from './processes.ts';
import { Report } from './report.ts';
import { medianInterval, together, type Contender } from './rounds.ts';
import { seed } from './seed.ts';
import { beside } from './throughput.ts';
import { commitOf } from './variant.ts';

export interface TracingOptions {
  /** A commit without tracing whose program accepts the database of this one. */
  readonly commit: string;
  readonly keys: number;
  readonly rounds: number;
  readonly seconds: number;
  readonly folder: string;
}

/** Of each program. */
const connections = 32;
const warmUpRounds = 10;
const traceRatio = '0.01';

/** By name: the ratio of the processor times of two programs, and its bar. */
const rows = [
  ['without the package / before', 'off', 'before', 1.01],
  ['with the package, no request recorded / without it', 'idle', 'off', 1.01],
  ['one request in a hundred recorded / without the package', 'sampled', 'off', 1.02],
] as const;

export async function tracing({ commit, keys, rounds, seconds, folder }: TracingOptions): Promise<string> {
  const report = new Report();
  using earlier = commitOf(commit);
  await using collector = await startCollector();
  const loaded = {
    NODE_OPTIONS: `--import ${import.meta.resolve('../packages/otel/src/register.ts')}`,
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
  };
  const variants: readonly (readonly [string, Readonly<Record<string, string>>, string?])[] = [
    ['before', {}, earlier.program],
    ['off', {}],
    ['idle', loaded],
    ['sampled', { ...loaded, KEYREEVE_TRACE_RATIO: traceRatio }],
  ];
  await using programs = new Programs();
  const contenders: Contender[] = [];
  for (const [name, environment, program] of variants) {
    const pool = join(folder, name);
    const seeded = await seed(`sqlite:${pool}.db`, pool, keys);
    const running = programs.add(await keyreeve('0', seeded, program, environment));
    const load = { connections, seconds, request: forwardRequest(seeded.keys) };
    contenders.push({ name, run: () => measure(running, load, '1', threadsProcessorMs) });
  }
  const before = collector.received();
  for (const [title, name, other, atMost] of rows) {
    // Only two programs at once: each export of spans costs the same for few spans and for many.
    const pair = contenders.filter((each) => each.name === name || each.name === other);
    await together(pair, warmUpRounds);
    const found = await together(pair, rounds);
    const [from, to] = medianInterval(found.ratios(name, other, 'processorUs'));
    const interval = `95 % interval ${from.toFixed(3)} to ${to.toFixed(3)}`;
    report.add(
      title,
      found.ratio(name, other, 'processorUs'),
      { atMost },
      `${interval}; ${beside(found, name, other)}`,
    );
  }
  return `${String(report)}\n\nThe collector received ${collector.received() - before} exports.`;
}

async function startCollector() {
  let received = 0;
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      received++;
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received: () => received,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
