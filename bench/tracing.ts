/**
 * The cost of tracing for `/auth/forward` on one core: without the package `@keyreeve/otel`, with it and no recorded request, and
 * with it and one recorded request in a hundred. The spans go to a collector that discards them.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Bench } from './bench.ts';
import { forwardRequest } from './keyreeve.ts';
import { oneCore } from './machine.ts';
import { measure, Programs } from './processes.ts';
import type { Report } from './report.ts';
import type { Side } from './rounds.ts';

const connections = 64;
const traceRatio = '0.01';
const keysMax = 1_000;

export async function tracing(bench: Bench, report: Report): Promise<void> {
  const { keys, seconds } = bench.options;
  const databases = await bench.databases('sqlite');
  const collector = createServer((request, response) => {
    request.resume().on('end', () => response.writeHead(200, { 'content-type': 'application/json' }).end('{}'));
  }).listen(0, '127.0.0.1');
  await once(collector, 'listening');
  const loaded = {
    NODE_OPTIONS: `--import ${import.meta.resolve('../packages/otel/src/register.ts')}`,
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${(collector.address() as AddressInfo).port}`,
  };
  await using programs = new Programs();
  const side = async (name: string, env: Readonly<Record<string, string>>): Promise<Side> => {
    const seeded = await databases.seed(`tracing-${name.replaceAll(' ', '-')}`, Math.min(keysMax, keys));
    const server = programs.add(await bench.keyreeve(seeded, { cores: oneCore, env }));
    const load = { connections, seconds, request: forwardRequest(seeded.keys) };
    return { name, run: () => measure(server, load, server.verifyPort) };
  };
  const sides = [
    await side('without', {}),
    await side('none recorded', loaded),
    await side('recorded', { ...loaded, KEYREEVE_TRACE_RATIO: traceRatio }),
  ];
  const found = await bench.compare(report, sides);
  const what = 'processor time with the package';
  const none = ['none recorded', 'without', 'processorUs'] as const;
  report.ratio(`${what}, no request recorded / without it`, found, none, { atMost: 1.01 });
  const recorded = ['recorded', 'without', 'processorUs'] as const;
  report.ratio(`${what}, one request in a hundred recorded / without it`, found, recorded, { atMost: 1.02 });
  collector.closeAllConnections();
  collector.close();
}
