/**
 * The load generator: raw sockets, one request at a time on each. It runs as a process of its own and prints one JSON
 * line. Raw, because an HTTP client in the same language as the server would be the slower of the two.
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
  /** Requests a second over all connections; without it as many as are answered. */
  readonly rate?: number;
  /** On one connection: fewer than the server allows, so that it never has to close one. 9,000 without it. */
  readonly requestsPerConnectionMax?: number;
}

export interface LoadResult {
  readonly requests: number;
  readonly seconds: number;
  readonly perSecond: number;
  readonly failures: number;
  /** The first answer that was not the expected one. */
  readonly firstFailure?: string;
  readonly msP50: number;
  readonly msP99: number;
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

/** One connection: asks, waits for the whole answer, asks again. */
function run(): Promise<void> {
  const maker = records.maker(request.text);
  const answer = new AnswerReader(request.expected);
  const gapMs = options.rate === undefined ? 0 : (connections / options.rate) * 1000;
  return new Promise((resolve) => {
    let socket: Socket;
    let sentAt = 0;
    let dueAt = performance.now();
    let asked = 0;
    const end = (): void => {
      socket.removeAllListeners('close').destroy();
      resolve();
    };
    const ask = (): void => {
      const bytes = isOver ? undefined : maker.next();
      if (bytes === undefined) return end();
      // Measured from when it was due, so that a server that stalls doesn't hide it (coordinated omission).
      sentAt = gapMs === 0 ? performance.now() : dueAt;
      answer.begin();
      asked++;
      socket.write(bytes);
    };
    const askInTime = (): void => {
      if (gapMs === 0) return ask();
      dueAt += gapMs * (0.5 + Math.random());
      const waitMs = dueAt - performance.now();
      if (waitMs > 0) setTimeout(ask, waitMs);
      else ask();
    };
    const open = (): void => {
      asked = 0;
      socket = connect({ port, host: '127.0.0.1', noDelay: true }, askInTime);
      socket.on('data', (chunk: Buffer) => {
        if (!answer.take(chunk)) return;
        if (!answer.isRight && request.mayFail !== true) fail(chunk.toString('latin1').slice(0, 500));
        latencies.push(performance.now() - sentAt);
        if (asked < requestsPerConnectionMax) return askInTime();
        socket.removeAllListeners('close').destroy();
        open();
      });
      socket.on('error', () => undefined);
      socket.on('close', () => {
        if (isOver) return resolve();
        fail('the connection was closed');
        setTimeout(open, 10);
      });
    };
    open();
  });
}

const startedAt = performance.now();
setTimeout(() => (isOver = true), options.seconds * 1000).unref();
setTimeout(() => process.exit(3), options.seconds * 1000 + 10_000).unref();
await Promise.all(Array.from({ length: connections }, run));
const seconds = (performance.now() - startedAt) / 1000;
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
};
console.log(JSON.stringify(result));
