/** How many requests one connection may have unanswered. */
import assert from 'node:assert/strict';
import { on } from 'node:events';
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { test } from 'node:test';
import { limits } from '@keyreeve/contract';
import { boundPipelining } from '../../src/http/pipelining.ts';
import { exchange, head } from './raw-http.ts';

const request = head('GET / HTTP/1.1', 'Host: a');

async function withServer(listener: RequestListener, prove: (url: string) => Promise<void>): Promise<void> {
  const server = createServer(boundPipelining(listener));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    await prove(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

test('requests that are pipelined beyond the bound end their connection; none of them is begun', async () => {
  let begun = 0;
  await withServer(
    () => void begun++,
    async (url) => {
      const { answers, isClosed } = await exchange(url, request.repeat(2_000), 'closed');
      assert.deepEqual([answers, isClosed], [[], true]);
    },
  );
  assert.equal(begun, limits.pipelinedRequestsMax + 1);
});

test('as many as may be pipelined are all answered, in order, again and again on one connection', async () => {
  const perRound = limits.pipelinedRequestsMax + 1;
  let waiting: ServerResponse[] = [];
  await withServer(
    (_, response) => {
      waiting.push(response);
      if (waiting.length < perRound) return;
      const all = waiting;
      waiting = [];
      for (const [index, each] of all.entries()) each.setHeader('X-Index', index);
      // The last first: the connection puts them in order.
      for (const each of all.toReversed()) each.end();
    },
    async (url) => {
      const { hostname, port } = new URL(url);
      const socket = connect(Number(port), hostname);
      for (let round = 0; round < 3; round++) {
        socket.write(request.repeat(perRound));
        const indices: number[] = [];
        let received = '';
        for await (const chunk of on(socket, 'data', { close: ['close'] })) {
          received += String(chunk);
          indices.splice(
            0,
            Infinity,
            ...[...received.matchAll(/X-Index: (\d+)\r\n/g)].map(([, index]) => Number(index)),
          );
          if (indices.length >= perRound) break;
        }
        assert.deepEqual(
          indices,
          Array.from({ length: perRound }, (_, index) => index),
          `round ${round}`,
        );
      }
      socket.destroy();
    },
  );
});
