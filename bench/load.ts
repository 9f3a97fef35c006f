/**
 * The load generator: raw sockets, one request at a time on each, keys drawn at random from a pool file. It runs as a
 * process of its own and prints one JSON line. Raw, because an HTTP client in the same language as the server would be
 * the slower of the two; `RESULTS.md` has its rate beside wrk's.
 */
import { connect, type Socket } from 'node:net';
import { readFileSync } from 'node:fs';
import { keyBytes } from './seed.ts';

export interface LoadOptions {
  readonly port: number;
  readonly connections: number;
  readonly seconds: number;
  readonly kind: 'constant' | 'forward' | 'verify' | 'batch' | 'login';
  readonly poolPath?: string;
  /** For verify and batch: the caller's own key. */
  readonly serviceKey?: string;
  readonly batchSize?: number;
  /** Requests a second over all connections; without it as many as are answered. */
  readonly rate?: number;
}

export interface LoadResult {
  readonly requests: number;
  readonly seconds: number;
  readonly perSecond: number;
  readonly failures: number;
  readonly msP50: number;
  readonly msP99: number;
}

const options = JSON.parse(process.argv[2] ?? '{}') as LoadOptions;
const pool = options.poolPath === undefined ? Buffer.alloc(0) : readFileSync(options.poolPath);
const poolKeys = pool.length / keyBytes;
const latencies: number[] = [];
let failures = 0;
let isOver = false;

const randomOffset = (): number => Math.floor(Math.random() * poolKeys) * keyBytes;

const randomKey = (): string => {
  const start = randomOffset();
  return pool.toString('latin1', start, start + keyBytes);
};

/** One request of a connection, made anew for each use; where only the key differs, only the key is copied. */
function requestMaker(): () => Buffer | string {
  const { kind, serviceKey = '', batchSize = 100 } = options;
  const placeholder = '0'.repeat(keyBytes);
  const path = kind === 'constant' ? '/' : '/auth/forward';
  const request = Buffer.from(`GET ${path} HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer ${placeholder}\r\n\r\n`);
  const keyStart = request.indexOf(placeholder);
  switch (kind) {
    case 'constant':
      return () => request;
    case 'forward':
      return () => {
        const start = randomOffset();
        pool.copy(request, keyStart, start, start + keyBytes);
        return request;
      };
    case 'verify':
      return () => post('/auth/verify', serviceKey, JSON.stringify({ credential: randomKey() }));
    case 'batch':
      return () => {
        const credentials = Array.from({ length: batchSize }, randomKey);
        return post('/auth/verify/batch', serviceKey, JSON.stringify({ credentials }));
      };
    case 'login':
      return () => {
        const user = Buffer.from(`bench${Math.ceil(Math.random() * 1_000)}@example.com:wrong horse battery`);
        return `POST /auth/token HTTP/1.1\r\nHost: bench\r\nAuthorization: Basic ${user.toString('base64')}\r\nContent-Length: 0\r\n\r\n`;
      };
  }
}

const post = (path: string, key: string, body: string): string =>
  `POST ${path} HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;

/** Bytes of the body that are still to come. */
function missingBody(head: Buffer): number {
  const end = head.indexOf('\r\n\r\n') + 4;
  // An answer without a body ends with its head: the common case, decided without reading it.
  if (end === head.length && !hasBodies) return 0;
  const length = /content-length: (\d+)/i.exec(head.toString('latin1', 0, end))?.[1] ?? '0';
  return Number(length) - (head.length - end);
}

const hasBodies = options.kind !== 'constant' && options.kind !== 'forward';
/** The first digit of the status. */
const statusAt = 'HTTP/1.1 '.length;
const digitTwo = 0x32;
/** Fewer than the server allows on a connection, so that it never has to close one. */
const requestsPerConnectionMax = 9_000;

/** One connection: asks, waits for the whole answer, asks again. */
function run(): Promise<void> {
  const makeRequest = requestMaker();
  const gapMs = options.rate === undefined ? 0 : (options.connections / options.rate) * 1000;
  return new Promise((resolve) => {
    let socket: Socket;
    let sentAt = 0;
    let dueAt = performance.now();
    let missing = 0;
    let isHead = true;
    let asked = 0;
    const ask = (): void => {
      if (isOver) {
        socket.destroy();
        return resolve();
      }
      // Measured from when it was due, so that a server that stalls doesn't hide it (coordinated omission).
      sentAt = gapMs === 0 ? performance.now() : dueAt;
      isHead = true;
      asked++;
      socket.write(makeRequest());
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
      socket = connect({ port: options.port, host: '127.0.0.1', noDelay: true }, askInTime);
      socket.on('data', (chunk: Buffer) => {
        if (isHead && chunk[statusAt] !== digitTwo && options.kind !== 'login') failures++;
        missing = isHead ? missingBody(chunk) : missing - chunk.length;
        isHead = false;
        if (missing > 0) return;
        latencies.push(performance.now() - sentAt);
        if (asked < requestsPerConnectionMax) return askInTime();
        socket.removeAllListeners('close').destroy();
        open();
      });
      socket.on('error', () => undefined);
      socket.on('close', () => {
        if (isOver) return resolve();
        failures++;
        setTimeout(open, 10);
      });
    };
    open();
  });
}

const startedAt = performance.now();
setTimeout(() => (isOver = true), options.seconds * 1000);
setTimeout(() => process.exit(3), options.seconds * 1000 + 10_000).unref();
await Promise.all(Array.from({ length: options.connections }, run));
const seconds = (performance.now() - startedAt) / 1000;
latencies.sort((a, b) => a - b);
const quantile = (q: number): number =>
  latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * q))] ?? Number.NaN;
const result: LoadResult = {
  requests: latencies.length,
  seconds,
  perSecond: latencies.length / seconds,
  failures,
  msP50: quantile(0.5),
  msP99: quantile(0.99),
};
console.log(JSON.stringify(result));
