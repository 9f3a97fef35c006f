/**
 * The load generator. It sends one request at a time on each of its raw sockets, because an HTTP client in JavaScript would
 * be slower than the server. It runs as a separate process and prints one JSON line.
 */
import { connect, type Socket } from 'node:net';
import { readFileSync } from 'node:fs';
import { AnswerReader } from './answer-reader.ts';
import { Records, type RequestTemplate } from './request.ts';

export interface LoadOptions {
  readonly port: number;
  readonly connections: number;
  readonly seconds: number;
  readonly request: RequestTemplate;
  /** Requests per second over all connections; undefined sends each request when the response to the last one arrives. */
  readonly rate?: number;
  /** Below the limit of the server, so that it closes no connection. Default: 9,000. */
  readonly requestsPerConnectionMax?: number;
}

export interface LoadResult {
  readonly requests: number;
  readonly seconds: number;
  readonly perSecond: number;
  readonly failures: number;
  /** The first unexpected response. */
  readonly firstFailure?: string;
  readonly msP50: number;
  readonly msP99: number;
  /** Processor time of the load generator divided by the duration. Near 1, the load generator is the bottleneck. */
  readonly generatorShare: number;
}

const options = JSON.parse(process.argv[2] ?? '{}') as LoadOptions;
const { request, connections, port } = options;
const records = new Records(request.pool ? readFileSync(request.pool.path) : Buffer.alloc(0), request.pool);
const latencies: number[] = [];
let failures = 0;
let firstFailure: string | undefined;
let isOver = false;

const { requestsPerConnectionMax = 9_000 } = options;

function fail(what: string): void {
  failures++;
  firstFailure ??= what;
}

/** One connection: sends a request, waits for the complete response, and repeats. */
function run(): Promise<void> {
  const maker = records.maker(request.text);
  const answer = new AnswerReader(request.expected);
  const gapMs = options.rate === undefined ? 0 : (connections / options.rate) * 1000;
  return new Promise((resolve) => {
    let socket: Socket;
    let sentAt = 0;
    let dueAt = performance.now();
    let sent = 0;
    const end = (): void => {
      socket.removeAllListeners('close').destroy();
      resolve();
    };
    const send = (): void => {
      const bytes = isOver ? undefined : maker.next();
      if (bytes === undefined) return end();
      // Measures from the due time, so that a stalled server does not hide latency (coordinated omission).
      sentAt = gapMs === 0 ? performance.now() : dueAt;
      answer.begin();
      sent++;
      socket.write(bytes);
    };
    const sendOnTime = (): void => {
      if (gapMs === 0) return send();
      dueAt += gapMs * (0.5 + Math.random());
      const waitMs = dueAt - performance.now();
      if (waitMs > 0) setTimeout(send, waitMs);
      else send();
    };
    const open = (): void => {
      sent = 0;
      socket = connect({ port, host: '127.0.0.1', noDelay: true }, sendOnTime);
      socket.on('data', (chunk: Buffer) => {
        if (!answer.take(chunk)) return;
        if (!answer.isExpected && request.mayFail !== true) fail(chunk.toString('latin1').slice(0, 500));
        latencies.push(performance.now() - sentAt);
        if (sent < requestsPerConnectionMax) return sendOnTime();
        socket.removeAllListeners('close').destroy();
        open();
      });
      socket.on('error', () => undefined);
      socket.on('close', () => {
        if (isOver) return resolve();
        fail('the server closed the connection');
        setTimeout(open, 10);
      });
    };
    open();
  });
}

const startedAt = performance.now();
const usedBefore = process.cpuUsage();
setTimeout(() => (isOver = true), options.seconds * 1000).unref();
setTimeout(() => process.exit(3), options.seconds * 1000 + 10_000).unref();
await Promise.all(Array.from({ length: connections }, run));
const seconds = (performance.now() - startedAt) / 1000;
const used = process.cpuUsage(usedBefore);
latencies.sort((a, b) => a - b);
const quantile = (q: number): number =>
  latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * q))] ?? Number.NaN;
const result: LoadResult = {
  requests: latencies.length,
  seconds,
  perSecond: latencies.length / seconds,
  failures,
  ...(firstFailure === undefined ? {} : { firstFailure }),
  msP50: quantile(0.5),
  msP99: quantile(0.99),
  generatorShare: (used.user + used.system) / 1e6 / seconds,
};
console.log(JSON.stringify(result));
