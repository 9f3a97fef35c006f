/**
 * The cost of tracing for `/auth/forward`, at the same time on one core: `npm run bench -- tracing --commit REF`. Compares an
 * earlier commit with this version without the package `@keyreeve/otel`, with it and no recorded request, and with it and one
 * recorded request in a hundred. The spans go to a collector that discards them, on the core of the load generators.
 */
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { BeforeOptions } from './before.ts';
import { Databases } from './databases.ts';
import { forwardRequest } from './keyreeve.ts';
import { intervalOf, ProgramsAtOnce } from './pairs.ts';
import { Report } from './report.ts';
import { together } from './rounds.ts';
import { commitOf } from './variant.ts';

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

/** @param commit without tracing, whose program accepts the database of this one */
export async function tracing({ commit, keys, rounds, seconds, folder }: BeforeOptions): Promise<string> {
  const report = new Report();
  using earlier = commitOf(commit);
  await using collector = await startCollector();
  const loaded = {
    NODE_OPTIONS: `--import ${import.meta.resolve('../packages/otel/src/register.ts')}`,
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
  };
  await using databases = await Databases.start('sqlite', folder);
  await using programs = await ProgramsAtOnce.start(databases, keys, {
    before: { program: earlier.program },
    off: {},
    idle: { environment: loaded },
    sampled: { environment: { ...loaded, KEYREEVE_TRACE_RATIO: traceRatio } },
  });
  const contenders = programs.contenders((of) => ({ connections, seconds, request: forwardRequest(of.keys) }));
  const before = collector.received();
  for (const [title, name, other, atMost] of rows) {
    // Only two programs at once: each export of spans costs the same for few spans and for many.
    const pair = contenders.filter((each) => each.name === name || each.name === other);
    const found = await together(pair, rounds, warmUpRounds);
    report.ratio(title, found, [name, other, 'processorUs', intervalOf(found, name, other).text], { atMost });
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
