/** Pipelined requests: processed in order, each after the previous response, up to the bound. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { RequestListener, Server } from 'node:http';
import { connect } from 'node:net';
import { test } from 'node:test';
import { limits } from '@keyreeve/contract';
import { SecurityHeaders } from '../headers.ts';
import { createHttpServer, listen } from '../server.ts';
import { createLog } from '../../foundation/log.ts';
import { exchange, head } from '../../../test-kit/raw-http.ts';

const request = (path = '/', method = 'GET'): string => head(`${method} ${path} HTTP/1.1`, 'Host: a');

async function withServer(
  listener: RequestListener,
  prove: (url: string, server: Server) => Promise<void>,
): Promise<void> {
  const server = createHttpServer(new SecurityHeaders(false), createLog('silent'), listener);
  const { port } = await listen(server, '127.0.0.1', 0);
  try {
    await prove(`http://127.0.0.1:${port}`, server);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

test('pipelined requests beyond the bound close the connection, and only the first is processed', async () => {
  let begun = 0;
  await withServer(
    () => void begun++,
    async (url) => {
      const { answers, isClosed } = await exchange(url, request().repeat(2_000), 'closed');
      assert.deepEqual([answers, isClosed], [[], true]);
    },
  );
  assert.equal(begun, 1);
});

test('the maximum of pipelined requests is answered in order, repeatedly on one connection', async () => {
  const perRound = limits.pipelinedRequestsMax + 1;
  await withServer(
    ({ url }, response) => void setImmediate(() => response.end(`<${url}>`)),
    async (url) => {
      const { hostname, port } = new URL(url);
      const socket = connect(Number(port), hostname);
      for (let round = 0; round < 3; round++) {
        const paths = Array.from({ length: perRound }, (_, index) => `/${round}/${index}`);
        let received = '';
        const all = new Promise<void>((resolve) => {
          socket.on('data', (chunk: Buffer) => {
            received += String(chunk);
            if (received.includes(`<${paths.at(-1)}>`)) resolve();
          });
        });
        socket.write(paths.map((path) => request(path)).join(''));
        await all;
        socket.removeAllListeners('data');
        assert.deepEqual(
          [...received.matchAll(/<(.*?)>/g)].map(([, path]) => path),
          paths,
        );
      }
      socket.destroy();
    },
  );
});

test('a pipelined request is processed after the response to the previous one', async () => {
  const log: string[] = [];
  await withServer(
    ({ url, method }, response) => {
      log.push(`begin ${method} ${url}`);
      response.prependOnceListener('finish', () => log.push(`sent ${method} ${url}`));
      setImmediate(() => response.end());
    },
    async (url) => {
      const bytes = request('/a', 'DELETE') + request('/b', 'POST') + request('/c') + request('/d');
      await exchange(url, bytes, 4);
    },
  );
  const expected = ['DELETE /a', 'POST /b', 'GET /c', 'GET /d'].flatMap((what) => [`begin ${what}`, `sent ${what}`]);
  assert.deepEqual(log, expected);
});

test('a request waits while the client does not read the previous response', async () => {
  const large = Buffer.alloc(12 * 2 ** 20, 'x');
  const begun: string[] = [];
  await withServer(
    ({ url = '' }, response) => {
      begun.push(url);
      response.end(url === '/large' ? large : undefined);
    },
    async (url) => {
      const socket = connect(Number(new URL(url).port), '127.0.0.1');
      socket.write(request('/large') + request('/next'));
      await once(socket, 'readable');
      // After a response on another connection, the server has parsed both requests of the first.
      await exchange(url, request('/other'), 1);
      assert.deepEqual(begun, ['/large', '/other']);
      let bytes = 0;
      for await (const chunk of socket) {
        bytes += (chunk as Buffer).length;
        if (bytes > large.length && begun.length === 3) break;
      }
      assert.deepEqual(begun, ['/large', '/other', '/next']);
    },
  );
});

test('the last response of a connection closes it, and no further request is processed', async () => {
  const begun: string[] = [];
  await withServer(
    ({ url = '' }, response) => {
      begun.push(url);
      response.end();
    },
    async (url, server) => {
      server.maxRequestsPerSocket = 3;
      const bytes = ['/1', '/2', '/3', '/4', '/5'].map((path) => request(path)).join('');
      const { answers, isClosed } = await exchange(url, bytes, 'closed');
      assert.deepEqual(
        [answers.map(({ status, headers }) => [status, headers.get('connection')?.[0]]), isClosed],
        [
          [
            [200, 'keep-alive'],
            [200, 'keep-alive'],
            [200, 'close'],
          ],
          true,
        ],
      );
    },
  );
  assert.deepEqual(begun, ['/1', '/2', '/3']);
});

test('a pipelined CONNECT gets its response after the previous request, and does not end the process', async () => {
  await withServer(
    ({ url = '' }, response) => void setImmediate(() => response.end(url)),
    async (url) => {
      const bytes = request('/1') + request('/2') + request('x:1', 'CONNECT') + request('/3');
      const { answers, isClosed } = await exchange(url, bytes, 'closed');
      assert.deepEqual([answers.map(({ body }) => body), isClosed], [['/1', '/2', 'x:1'], true]);
    },
  );
});
