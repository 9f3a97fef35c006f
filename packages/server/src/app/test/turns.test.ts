/** The order in which requests start: the client IP ranges take turns, whatever else a client chooses. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { test } from '../../../test-kit/app-on-each-database.ts';
import { newApp, type TestApp } from '../../../test-kit/new-app.ts';
import { head } from '../../../test-kit/raw-http.ts';
import { awaited } from '../../../test-kit/until.ts';

const flood = 100;
/** Behind a trusted proxy, which all clients use. */
const environment = { KEYREEVE_TRUSTED_PROXIES: '127.0.0.1' };

/** A connection that the service has accepted, which it does one by one. */
async function open(app: TestApp): Promise<Socket> {
  const { hostname, port } = new URL(app.url);
  const socket = connect(Number(port), hostname);
  socket.write(head('GET /health/live HTTP/1.1', 'Host: localhost'));
  await awaited('the first request of a connection has a response', once(socket, 'data'));
  return socket;
}

/**
 * Sends the requests of a flood and one of another range at once: the kernel has all of them before the service reads the first.
 * @returns how many requests of the flood got their response before the other one
 */
async function answeredBefore(app: TestApp, line: string, headersOf: (index: number) => string[]): Promise<number> {
  const sockets = await Promise.all(Array.from({ length: flood + 1 }, () => open(app)));
  const order: number[] = [];
  const answered = sockets.map(async (socket, index) => {
    await once(socket, 'data');
    order.push(index);
  });
  for (const [index, socket] of sockets.entries()) {
    const range = index === flood ? '203.0.113.9' : '198.51.100.7';
    socket.write(head(line, 'Host: localhost', `X-Forwarded-For: ${range}`, ...headersOf(index)));
  }
  await awaited('all requests have a response', Promise.all(answered));
  for (const socket of sockets) socket.destroy();
  return order.indexOf(flood);
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

for (const [kind, [line, headersOf]] of Object.entries(kinds)) {
  test(`a flood of requests from one client IP range for ${kind} does not delay another range`, async () => {
    await using app = await newApp({ environment });
    // A few responses can overtake each other, because they read from the database.
    const before = await answeredBefore(app, line, headersOf);
    assert.ok(before < flood / 4, `${before} of ${flood} were before it`);
  });
}
