/**
 * Processor time of a recorded request: `node bench/span-cost.ts`. Makes the three spans of an accepted `/auth/forward`, as many
 * each second as one in a hundred of 10,000 requests, and sends them by the package `@keyreeve/otel` to a collector in another
 * process. Counts all threads of the process, so garbage collection, compilation and export are included.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { startExporting } from '../packages/otel/src/exporting.ts';
import { Span } from '../packages/server/src/foundation/tracing.ts';
import { median, medianInterval } from './rounds.ts';

const rounds = 31;
const warmUpRounds = 10;
const perRound = 200;
const betweenMs = 10;

const collector = `
  const server = require('node:http').createServer((request, response) => {
    request.resume().on('end', () => response.writeHead(200).end('{}'));
  });
  server.listen(0, '127.0.0.1', () => console.log(server.address().port));
`;

function recordRequest(): void {
  const remote = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7' };
  const request = new Span({ name: 'request', kind: 'server', remote });
  const verify = request.child('verify');
  const read = verify.child('db.read', 'client');
  read.link(verify);
  read.set('db.operation.batch.size', 1).end();
  verify.set('keyreeve.verification.reason', 'api_key').end();
  request.rename('GET /auth/forward').set('http.request.method', 'GET').set('http.response.status_code', 200);
  request.set('http.route', '/auth/forward').end();
}

/** @param record the request, or nothing, which measures the loop alone @returns microseconds of a request */
async function round(record: () => void): Promise<number> {
  const before = process.cpuUsage();
  for (let request = 0; request < perRound; request++) {
    record();
    await sleep(betweenMs);
  }
  const spent = process.cpuUsage(before);
  return (spent.user + spent.system) / perRound;
}

const child = spawn(process.execPath, ['-e', collector], { stdio: ['ignore', 'pipe', 'inherit'] });
const [port] = (await once(child.stdout, 'data')) as [Buffer];
process.env['OTEL_EXPORTER_OTLP_ENDPOINT'] = `http://127.0.0.1:${String(port).trim()}`;
const stop = startExporting(process.env);
const costs: number[] = [];
for (let number = -warmUpRounds; number < rounds; number++) {
  const alone = await round(() => undefined);
  const recorded = await round(recordRequest);
  if (number >= 0) costs.push(recorded - alone);
}
await stop?.();
child.kill();
const [from, to] = medianInterval(costs);
console.log(
  `${median(costs).toFixed(0)} µs for a recorded request (95 % interval ${from.toFixed(0)} to ${to.toFixed(0)})`,
);
