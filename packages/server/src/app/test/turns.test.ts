/** The order in which requests start: the client IP ranges take turns, whatever else a client chooses. */
import assert from 'node:assert/strict';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { limits } from '@keyreeve/contract';
import { test } from '../../../test-kit/app-on-each-database.ts';
import { newApp, type TestApp } from '../../../test-kit/new-app.ts';
import { head } from '../../../test-kit/raw-http.ts';
import { awaited } from '../../../test-kit/until.ts';

const flood = 100;
/** Behind a trusted proxy, which all clients use. */
const environment = { KEYREEVE_TRUSTED_PROXIES: '127.0.0.1' };
const [crowd, other] = ['198.51.100.7', '203.0.113.9'];

/** A connection that the service has accepted, which it does one by one. */
async function open(app: TestApp): Promise<Socket> {
  const { hostname, port } = new URL(app.url);
  const socket = connect(Number(port), hostname);
  socket.write(head('GET /health/live HTTP/1.1', 'Host: localhost'));
  await awaited('the first request of a connection has a response', once(socket, 'data'));
  return socket;
}

/** What the services of this process do, as Node reports it. */
function watchRequests(onStart: (request: IncomingMessage) => void, onFinish: () => void): Disposable {
  const start = (message: unknown): void => onStart((message as { request: IncomingMessage }).request);
  subscribe('http.server.request.start', start);
  subscribe('http.server.response.finish', onFinish);
  return {
    [Symbol.dispose]: () => {
      unsubscribe('http.server.request.start', start);
      unsubscribe('http.server.response.finish', onFinish);
    },
  };
}

/** Sends requests on a connection each, all at once, and waits for the responses. */
async function sendTogether(sockets: readonly Socket[], requests: readonly string[]): Promise<void> {
  const answered = sockets.map((socket) => once(socket, 'data'));
  for (const [index, socket] of sockets.entries()) socket.write(requests[index] ?? '');
  await awaited('all requests have a response', Promise.all(answered));
  for (const socket of sockets) socket.destroy();
}

/**
 * Sends the requests of a flood, and one of another range after them.
 * @returns how many requests of the flood were answered between the arrival of the other one and its response
 */
async function answeredBefore(app: TestApp, line: string, headersOf: (index: number) => string[]): Promise<number> {
  const sockets = await Promise.all(Array.from({ length: flood + 1 }, () => open(app)));
  let finished = 0;
  let before = 0;
  using _ = watchRequests(
    ({ headers, socket }) => {
      if (headers['x-forwarded-for'] !== other) return;
      const already = finished;
      // The response is written to the socket before Node reports its end.
      const write = socket.write.bind(socket);
      socket.write = ((...args: Parameters<typeof write>) => {
        before = finished - already;
        return write(...args);
      }) as typeof socket.write;
    },
    () => finished++,
  );
  const requests = sockets.map((__, index) =>
    head(line, 'Host: localhost', `X-Forwarded-For: ${index === flood ? other : crowd}`, ...headersOf(index)),
  );
  await sendTogether(sockets, requests);
  return before;
}

const kinds: Readonly<Record<string, [line: string, headersOf: (index: number) => string[]]>> = {
  'a page': ['GET /problems/not_found HTTP/1.1', () => []],
  'the public keys': ['GET /.well-known/jwks.json HTTP/1.1', () => []],
  'unknown paths': ['GET /none HTTP/1.1', () => []],
  'a wrong method': ['PUT /auth/api-keys HTTP/1.1', () => []],
  'a list with many unverified credentials': [
    'GET /auth/api-keys HTTP/1.1',
    (index) => [`Authorization: Bearer unknown${index}`],
  ],
};

/** Those that read the database. Reads that have begun before end together, with more requests on a slow machine. */
const readingKinds: ReadonlySet<string> = new Set(['the public keys', 'a list with many unverified credentials']);

for (const [kind, [line, headersOf]] of Object.entries(kinds)) {
  test(`a flood of requests from one client IP range for ${kind} does not delay another range`, async () => {
    await using app = await newApp({ environment });
    const before = await answeredBefore(app, line, headersOf);
    // Without turns, almost all.
    assert.ok(before < flood / (readingKinds.has(kind) ? 2 : 4), `${before} of ${flood} were before it`);
  });
}

/** The largest number of responses in one turn of the event loop. */
async function answeredInOneTurn(app: TestApp, request: string): Promise<number> {
  const sockets = await Promise.all(Array.from({ length: flood }, () => open(app)));
  let [inTurn, most, isOver] = [0, 0, false];
  using _ = watchRequests(
    () => undefined,
    () => (most = Math.max(most, ++inTurn)),
  );
  const next = (): void => {
    inTurn = 0;
    if (!isOver) setImmediate(next);
  };
  next();
  await sendTogether(
    sockets,
    sockets.map(() => request),
  );
  isOver = true;
  return most;
}

const ofService = (...headers: readonly string[]): string =>
  `${head('POST /auth/verify HTTP/1.1', 'Host: localhost', 'Content-Type: application/json', 'Content-Length: 2', ...headers)}{}`;

const rejected: Readonly<Record<string, string>> = {
  'without a credential': head('GET /auth/forward HTTP/1.1', 'Host: localhost'),
  'with a malformed key': head('GET /auth/forward HTTP/1.1', 'Host: localhost', 'X-API-Key: x'),
  'with a malformed access token': head('GET /auth/forward HTTP/1.1', 'Host: localhost', 'Authorization: Bearer eyJ'),
  'with an unknown parameter': head('GET /auth/forward?cost=x HTTP/1.1', 'Host: localhost', 'X-API-Key: x'),
  'of a service without a credential': ofService(),
  'of a service with a malformed key': ofService('X-API-Key: x'),
  'of a service with two credentials': ofService('X-API-Key: x', 'Authorization: Bearer x'),
  'with a long target': head(`GET /${'x'.repeat(limits.urlCharsMax)} HTTP/1.1`, 'Host: localhost'),
  'with many headers': head(
    'GET /health/live HTTP/1.1',
    'Host: localhost',
    ...Array.from({ length: limits.headerFieldsMax }, () => 'X: 1'),
  ),
};

test('a turn of the event loop answers few requests that need no read of the database, so that other requests run', async () => {
  await using app = await newApp({ environment });
  for (const [kind, request] of Object.entries(rejected)) {
    const most = await answeredInOneTurn(app, request);
    // Those that arrive in the turn, and those that have waited for it.
    assert.ok(most <= 2 * limits.rejectionsPerTurnMax, `${kind}: ${most}`);
  }
});
