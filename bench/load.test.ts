/** The load generator against a server that records its requests. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { runEnvironment } from '../packages/server/test-kit/run-environment.ts';
import { newTempFolder } from '../packages/server/test-kit/temp-folder.ts';
import { startLoad, type LoadOptions } from './load.ts';
import { blank, jsonRequest, serial, writePool } from './request.ts';

const isMissing = process.platform !== 'linux' || spawnSync('g++', ['--version']).status !== 0;
const skip = !runEnvironment.needsPrograms && isMissing && 'not tried: this machine lacks Linux or g++';

/** Sends requests until the given number has arrived. @returns their bodies in order, and the result */
async function load(
  requests: number,
  options: Pick<LoadOptions, 'request'> & Partial<LoadOptions>,
  respond: (index: number) => {
    readonly status?: number;
    readonly body?: string;
    readonly isChunked?: boolean;
  } = () => ({}),
) {
  const bodies: string[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const part of request.setEncoding('latin1')) body += part;
    const { status = 200, body: text = '', isChunked = false } = respond(bodies.push(body) - 1);
    response.writeHead(status, isChunked ? {} : { 'Content-Length': text.length });
    response.write(text);
    response.end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  try {
    const given = { port, connections: 1, seconds: 600, requests, ...options };
    return { bodies, result: await startLoad(given).result };
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

test('each request has the next records, and a number of its own', { skip }, async () => {
  using folder = newTempFolder();
  const pool = { ...writePool(join(folder.path, 'pool'), ['abc', 'def', 'gh']), first: 1 };
  const text = jsonRequest('/', {}, `${blank(2)}-${blank(2)} ${serial}`);
  const { bodies, result } = await load(3, { request: { text, pool } });
  const [filled, numbers] = [bodies.map((body) => body.slice(1, 6)), bodies.map((body) => body.slice(-13, -1))];
  assert.deepEqual(filled, ['de-fg', 'ab-cd', 'gh- a']);
  assert.deepEqual([new Set(numbers).size, numbers.every((number) => /^\d{12}$/.test(number))], [3, true]);
  assert.deepEqual([result.requests, result.unanswered, result.statuses], [3, 0, { 200: 3 }]);
});

test('a response with another status, or without the expected text, is a failure', { skip }, async () => {
  const text = jsonRequest('/', {}, {});
  const fails = (request: object, status: number, body: string, isChunked = false) =>
    assert.rejects(
      load(2, { request: { text, ...request } }, () => ({ status, body, isChunked })),
      /of 2 requests, load: 2 failures; the first one: HTTP\/1\.1/,
    );
  await fails({}, 401, '');
  await fails({ status: '401' }, 200, '');
  await fails({ contains: 'yes' }, 200, 'no');
  await fails({ contains: 'yes' }, 200, 'no', true);
  const { result } = await load(2, { request: { text, status: '', contains: 'yes' } }, (index) => ({
    status: 200 + 203 * index,
    body: 'yes',
    isChunked: true,
  }));
  assert.deepEqual(result.statuses, { 200: 1, 403: 1 });
});

test('a load at a rate over a Unix socket can be stopped, and counts what was answered', { skip }, async () => {
  using folder = newTempFolder();
  const unix = join(folder.path, 'socket');
  const server = createServer((_, response) => response.end()).listen(unix);
  await once(server, 'listening');
  const text = jsonRequest('/', {}, {});
  const running = startLoad({ unix, connections: 4, seconds: 600, rate: 1_000, request: { text } });
  await once(server, 'request');
  await once(server, 'request');
  const { requests, failures, statuses } = await running.stop();
  server.closeAllConnections();
  server.close();
  assert.ok(requests >= 1);
  assert.deepEqual([failures, statuses], [0, { 200: requests }]);
});
