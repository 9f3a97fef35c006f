/** Bounds of the size and duration of requests: values at each bound and beyond it. */
import assert from 'node:assert/strict';
import type { Server } from 'node:http';
import Type from 'typebox';
import { limits } from '@keyreeve/contract';
import { write, writeProblem } from '../response.ts';
import { bodyReader } from '../body.ts';
import { connectionsMaxOf, connectionsMaxOfProcess } from '../connection-limit.ts';
import { SecurityHeaders } from '../headers.ts';
import { toProblem } from '../problem.ts';
import { createHttpServer, listen } from '../server.ts';
import { createLog } from '../../foundation/log.ts';
import { newApp } from '../../../test-kit/new-app.ts';
import { assertProblem, fromWire } from '../../../test-kit/assert-problem.ts';
import { ask, exchange, head } from '../../../test-kit/raw-http.ts';
import { test } from '../../../test-kit/app-on-each-database.ts';

const fields = (count: number): string[] => Array.from({ length: count }, (_, index) => `X-${index}: 1`);

/** A request for `path` whose header lines have `bytes` in total. */
function ofHeaderBytes(path: string, bytes: number): string {
  const fixed = 'Host: a\r\nX: \r\n';
  return head(`GET ${path} HTTP/1.1`, 'Host: a', `X: ${'x'.repeat(bytes - fixed.length)}`);
}

test('headers have at most 16 KiB', async () => {
  await using app = await newApp();
  for (const path of ['/health/live', '/auth/forward']) {
    const within = await ask(app.url, ofHeaderBytes(path, 16_000));
    assert.equal(within.status, path === '/health/live' ? 200 : 401);
    const { answers, isClosed } = await exchange(app.url, ofHeaderBytes(path, 16_400), 'closed');
    assert.deepEqual([answers.length, isClosed], [1, true]);
    for (const answer of answers) assertProblem(fromWire(answer), 'headers_too_large', path);
  }
});

test('a request has at most a hundred header fields, and none is dropped silently', async () => {
  await using app = await newApp();
  for (const path of ['/health/live', '/auth/forward', '/nowhere']) {
    const line = `GET ${path} HTTP/1.1`;
    const within = await ask(app.url, head(line, 'Host: a', ...fields(99)));
    assert.equal(within.status, { '/health/live': 200, '/auth/forward': 401 }[path] ?? 404);
    const over = await ask(app.url, head(line, 'Host: a', ...fields(100)));
    assertProblem(fromWire(over), 'headers_too_large', path);
  }
  // The credential is the 102nd field: if fields were dropped, the request would have none.
  const last = await ask(app.url, head('GET /auth/forward HTTP/1.1', 'Host: a', ...fields(100), 'X-API-Key: krv_a'));
  assertProblem(fromWire(last), 'headers_too_large');
  const thousands = await ask(app.url, head('GET /health/live HTTP/1.1', 'Host: a', ...fields(1_500)));
  assertProblem(fromWire(thousands), 'headers_too_large');
});

test('a request target has at most 2,048 characters, except for /auth/forward', async () => {
  await using app = await newApp();
  const get = (target: string) => ask(app.url, head(`GET ${target} HTTP/1.1`, 'Host: a'));
  const fill = (start: string, chars: number): string => start + 'x'.repeat(chars - start.length);
  assert.equal((await get(fill('/health/live?', 2_048))).status, 200);
  assertProblem(fromWire(await get(fill('/health/live?', 2_049))), 'url_too_long');
  assertProblem(fromWire(await get(fill('/', 2_048))), 'not_found');
  assertProblem(fromWire(await get(fill('/', 2_049))), 'url_too_long');
  assertProblem(fromWire(await get(fill('/auth/forward/', 12_000))), 'missing_credential');
  // Beyond the bound of the headers, the parser stops before the end of the request target.
  assertProblem(fromWire(await get(fill('/', 16_500))), 'headers_too_large');
});

test('a body has at most 16 KiB, with and without Content-Length', async () => {
  await using app = await newApp();
  const json = '{"refreshToken":"a"}';
  const padded = (bytes: number): string => json + ' '.repeat(bytes - json.length);
  const lines = ['POST /auth/token/refresh HTTP/1.1', 'Host: a', 'Content-Type: application/json'];
  const announced = (bytes: number) => ask(app.url, head(...lines, `Content-Length: ${bytes}`) + padded(bytes));
  const chunked = (bytes: number) => {
    const chunks = (padded(bytes).match(/.{1,1000}/gs) ?? []).map(
      (text) => `${text.length.toString(16)}\r\n${text}\r\n`,
    );
    return ask(app.url, `${head(...lines, 'Transfer-Encoding: chunked')}${chunks.join('')}0\r\n\r\n`);
  };
  for (const send of [announced, chunked]) {
    assertProblem(fromWire(await send(16_384)), 'invalid_refresh_token', 'within');
    assertProblem(fromWire(await send(16_385)), 'body_too_large', 'over');
  }
  // Content-Length is enough to reject it: the server does not wait for the body.
  const unsent = await ask(app.url, head(...lines, 'Content-Length: 100000000000'));
  assertProblem(fromWire(unsent), 'body_too_large', 'unsent');
  const endless = `${head(...lines, 'Transfer-Encoding: chunked')}5000\r\n${'x'.repeat(0x5000)}\r\n`;
  assertProblem(fromWire(await ask(app.url, endless)), 'body_too_large', 'without an end');
  const extensions = `${head(...lines, 'Transfer-Encoding: chunked')}1;${'x'.repeat(20_000)}\r\na\r\n0\r\n\r\n`;
  assertProblem(fromWire(await ask(app.url, extensions)), 'body_too_large', 'chunk extensions');
});

test('a client that disconnects during its body causes no error of the service', async () => {
  await using app = await newApp();
  const lines = ['POST /auth/token/refresh HTTP/1.1', 'Host: a', 'Content-Type: application/json', 'Content-Length: 9'];
  app.logLines.length = 0;
  // The helper closes the connection after the expected bytes: the 100 response, after which half of the body was sent.
  await ask(app.url, `${head(...lines, 'Expect: 100-continue')}{"a`);
  while (app.logLines.length === 0) await new Promise(setImmediate);
  const { level, status, code } = JSON.parse(app.logLines[0] ?? '') as Record<string, unknown>;
  assert.deepEqual([level, status, code], ['info', 400, 'malformed_request']);
});

async function bareServer(adjust: (server: Server) => void) {
  const security = new SecurityHeaders(false);
  const readBody = bodyReader({ type: 'form', schema: Type.Object({}) });
  const server = createHttpServer(security, createLog('silent'), (request, response) => {
    const refuse = (error: unknown): void => writeProblem(response, security, toProblem(error, 'sixteen-chars-id'));
    readBody(request).then(() => write(response, security, { status: 204 }), refuse);
  });
  adjust(server);
  const { port } = await listen(server, '127.0.0.1', 0);
  const close = async (): Promise<void> => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return { server, url: `http://127.0.0.1:${port}`, [Symbol.asyncDispose]: close };
}

test('every bound of the server is set from the limits', { tags: ['asvs:2.1.3', 'asvs:15.1.3'] }, async () => {
  await using at = await bareServer(() => undefined);
  const { headersTimeout, requestTimeout, keepAliveTimeout, maxHeadersCount, maxRequestsPerSocket, maxConnections } =
    at.server;
  assert.deepEqual(
    { headersTimeout, requestTimeout, keepAliveTimeout, maxHeadersCount, maxRequestsPerSocket, maxConnections },
    {
      headersTimeout: limits.headersTimeoutMs,
      requestTimeout: limits.requestTimeoutMs,
      keepAliveTimeout: limits.keepAliveTimeoutMs,
      // Node would drop headers beyond its own count.
      maxHeadersCount: 0,
      maxRequestsPerSocket: limits.requestsPerConnectionMax,
      maxConnections: connectionsMaxOfProcess(),
    },
  );
  assert.deepEqual(
    [
      limits.headersTimeoutMs,
      limits.requestTimeoutMs,
      limits.keepAliveTimeoutMs,
      limits.headerBytesMax,
      limits.bodyBytesMax,
    ],
    [10_000, 15_000, 65_000, 16_384, 16_384],
  );
});

test('a process that may open few files has fewer connections, so that it can close idle ones before the kernel refuses new ones', () => {
  const ofFiles = (soft: string): number =>
    connectionsMaxOf(
      `Limit                     Soft Limit           Hard Limit           Units     \nMax processes             100                  100                  processes \nMax open files            ${soft.padEnd(20)} 1048576              files     \n`,
    );
  for (const [soft, connections] of [
    ['unlimited', limits.connectionsMax],
    ['1048576', limits.connectionsMax],
    ['10512', limits.connectionsMax],
    ['10511', limits.connectionsMax - 1],
    ['1024', 512],
    ['256', 64],
  ] as const)
    assert.equal(ofFiles(soft), connections, soft);
  assert.equal(connectionsMaxOf(''), limits.connectionsMax);
});

test('a client that sends nothing, or its headers or body too slowly, gets 408 and is disconnected', async () => {
  await using slowHeaders = await bareServer((server) => (server.headersTimeout = 50));
  await using slowBodies = await bareServer((server) => {
    server.headersTimeout = 50;
    server.requestTimeout = 100;
  });
  const form = 'Content-Type: application/x-www-form-urlencoded';
  const post = head('POST /auth/token HTTP/1.1', 'Host: a', form, 'Content-Length: 10');
  const table = {
    nothing: [slowHeaders.url, ''],
    'half a request line': [slowHeaders.url, 'GET /health'],
    'half of the headers': [slowHeaders.url, 'GET /health/live HTTP/1.1\r\nHost: a\r\nX-'],
    'half of a body': [slowBodies.url, `${post}12345`],
    'no body': [slowBodies.url, post],
  } as const;
  const ended = Object.entries(table).map(async ([what, [url, bytes]]) => {
    const { answers, isClosed } = await exchange(url, bytes, 'closed');
    assert.deepEqual([answers.length, isClosed], [1, true], what);
    for (const answer of answers) {
      assertProblem(fromWire(answer), 'request_timeout', what);
      assert.deepEqual(answer.headers.get('connection'), ['close'], what);
    }
  });
  await Promise.all(ended);
});
