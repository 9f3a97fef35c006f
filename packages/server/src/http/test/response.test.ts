/** Contents of responses: text, JSON and bytes. */
import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import { test } from 'node:test';
import { SecurityHeaders } from '../headers.ts';
import { write, type RouteResponse } from '../response.ts';
import { listen } from '../server.ts';

const security = new SecurityHeaders(false);

async function answerOf(result: RouteResponse, method = 'GET') {
  const server: Server = createServer((_, response) => write(response, security, result));
  try {
    const { port } = await listen(server, '127.0.0.1', 0);
    const answer = await fetch(`http://127.0.0.1:${port}/`, { method });
    const { headers } = answer;
    return {
      status: answer.status,
      type: headers.get('content-type'),
      length: headers.get('content-length'),
      bytes: Buffer.from(await answer.arrayBuffer()),
    };
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

const everyByte = Uint8Array.from({ length: 256 }, (_, index) => index);

test('bytes are written unchanged, with their length and type', async () => {
  const result = { status: 200, body: everyByte, contentType: 'font/woff2' };
  const expected = { status: 200, type: 'font/woff2', length: '256', bytes: Buffer.from(everyByte) };
  assert.deepEqual(await answerOf(result), expected);
  assert.deepEqual(await answerOf(result, 'HEAD'), { ...expected, bytes: Buffer.alloc(0) });
  assert.deepEqual(await answerOf({ ...result, body: new Uint8Array() }), {
    ...expected,
    length: '0',
    bytes: Buffer.alloc(0),
  });
});

test('text is written as UTF-8, and other values as JSON', async () => {
  assert.deepEqual(await answerOf({ status: 200, body: '“ä”', contentType: 'text/plain; charset=utf-8' }), {
    status: 200,
    type: 'text/plain; charset=utf-8',
    length: '8',
    bytes: Buffer.from('“ä”'),
  });
  assert.deepEqual(await answerOf({ status: 200, body: [1] }), {
    status: 200,
    type: 'application/json; charset=utf-8',
    length: '3',
    bytes: Buffer.from('[1]'),
  });
});

test('a response without content has no type, and a length unless it is 204', async () => {
  const empty = { type: null, bytes: Buffer.alloc(0) };
  assert.deepEqual(await answerOf({ status: 200 }), { ...empty, status: 200, length: '0' });
  assert.deepEqual(await answerOf({ status: 204 }), { ...empty, status: 204, length: null });
});
