/** Responses in parts: complete, or recognizably incomplete, and bounded. */
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { test } from 'node:test';
import { createLog } from '../../foundation/log.ts';
import { until } from '../../../test-kit/until.ts';
import { SecurityHeaders } from '../headers.ts';
import { write } from '../response.ts';
import { createHttpServer, listen } from '../server.ts';
import { Streams, type StreamsOptions } from '../stream.ts';

async function* partsOf(...parts: readonly (string | Error)[]): AsyncGenerator<string, void, undefined> {
  for (const part of parts) {
    if (part instanceof Error) throw part;
    yield part;
  }
}

/** A server that answers each request with a stream. */
async function serve(
  parts: () => AsyncGenerator<string, void, undefined>,
  options: Partial<StreamsOptions> & { check?: () => Promise<void> } = {},
) {
  const incomplete: string[] = [];
  const streams = new Streams({
    isClosing: () => false,
    onIncomplete: (name, owner, failure) => incomplete.push(`${name} ${owner} ${String(failure)}`),
    ...options,
  });
  const security = new SecurityHeaders(false);
  const log = createLog('silent');
  const server = createHttpServer(security, log, ({ url }, response) => {
    const owner = url === '/' ? 'acc_1' : (url ?? '').slice(1);
    const request = { name: 'test', owner, check: options.check ?? (async () => undefined), parts: parts() };
    streams.open(request).then(
      (stream) => write(response, security, { status: 200, stream, contentType: 'text/csv; charset=utf-8' }),
      (error: { code?: string }) => write(response, security, { status: 429, body: { code: error.code } }),
    );
  });
  const { port } = await listen(server, '127.0.0.1', 0);
  const close = async (): Promise<void> => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${port}/`, port, streams, incomplete, [Symbol.asyncDispose]: close };
}

test('a stream is complete, and has the security headers and no length', async () => {
  await using at = await serve(() => partsOf('a\n', '', 'b\n', 'c'.repeat(1_000_000)));
  const response = await fetch(at.url);
  assert.equal((await response.text()).length, 1_000_004);
  assert.equal(response.headers.get('content-type'), 'text/csv; charset=utf-8');
  assert.equal(response.headers.get('cache-control'), 'no-store');
  assert.equal(response.headers.get('content-length'), null);
  // The next response on the same connection is complete as well.
  assert.equal((await fetch(at.url)).status, 200);
  const head = await fetch(at.url, { method: 'HEAD' });
  assert.deepEqual([head.status, await head.text(), at.incomplete], [200, '', []]);
});

for (const version of ['1.0', '1.1'])
  test(`a failure in the middle resets the connection, so that no client takes the part for the whole (HTTP/${version})`, async () => {
    await using at = await serve(() => partsOf('first', new Error('broken')));
    const outcome = await new Promise<string>((resolve) => {
      const socket = connect(at.port, '127.0.0.1');
      socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? ''));
      socket.on('end', () => resolve('end'));
      socket.resume().write(`GET / HTTP/${version}\r\nHost: a\r\n\r\n`);
    });
    assert.equal(outcome, 'ECONNRESET');
    assert.deepEqual(at.incomplete, ['test acc_1 Error: broken']);
  });

test('a failure of the first part is an ordinary response', async () => {
  await using at = await serve(() => partsOf(new Error('broken')));
  const response = await fetch(at.url);
  assert.deepEqual([response.status, await response.json()], [429, {}]);
  assert.deepEqual(at.incomplete, []);
});

test('a caller that loses its rights, a server that stops and the deadline end a stream', async () => {
  for (const [options, reason] of [
    [{ check: () => Promise.reject(new Error('no session')) }, 'no session'],
    [{ isClosing: () => true }, 'the server stops'],
    [{ durationMsMax: -1 }, 'longer than -1 ms'],
  ] as const) {
    let read = 0;
    const count = async function* (): AsyncGenerator<string, void, undefined> {
      for (;;) {
        read++;
        yield 'part';
      }
    };
    await using at = await serve(count, options);
    await assert.rejects(fetch(at.url).then((response) => response.text()));
    assert.deepEqual([at.incomplete, read], [[`test acc_1 Error: ${reason}`], 1]);
  }
});

test('a client that disconnects ends the stream, and its slot is free again', async () => {
  const endless = async function* (): AsyncGenerator<string, void, undefined> {
    for (;;) yield 'x'.repeat(10_000);
  };
  await using at = await serve(endless, { perOwnerMax: 2, inAllMax: 2 });
  const controllers = [new AbortController(), new AbortController()];
  const begun = await Promise.all(controllers.map(({ signal }) => fetch(at.url, { signal })));
  assert.deepEqual(
    begun.map(({ status }) => status),
    [200, 200],
  );
  const third = await fetch(at.url);
  assert.deepEqual([third.status, await third.json()], [429, { code: 'too_many_in_progress' }]);
  for (const controller of controllers) controller.abort();
  await until('both streams have ended', () => at.incomplete.length === 2);
  const stream = await at.streams.open({
    name: 'next',
    owner: 'acc_1',
    check: async () => undefined,
    parts: partsOf('a'),
  });
  stream.onEnd();
});

test('clients that read nothing do not stop the streams of others: the one that has waited longest makes room', async () => {
  // The kernel accepts one part at most for a client that reads nothing. Three are less than unread responses may have.
  const endless = async function* (): AsyncGenerator<string, void, undefined> {
    for (;;) yield 'x'.repeat(10 * 2 ** 20);
  };
  await using at = await serve(endless, { perOwnerMax: 1, inAllMax: 2, readsMax: 1 });
  const aborting = new AbortController();
  const { signal } = aborting;
  // Kept: fetch reads a response to its end when it is garbage.
  const unread: Response[] = [];
  const begin = async (owner: string): Promise<boolean> =>
    unread[unread.push(await fetch(at.url + owner, { signal })) - 1]?.status === 200;
  assert.deepEqual([await begin('acc_1'), await begin('acc_2')], [true, true]);
  await until('the third stream begins', () => begin('acc_3'));
  await until('a stream is reset', () => at.incomplete.length > 0);
  assert.equal(at.incomplete.length, 1);
  assert.match(
    at.incomplete[0] ?? '',
    /^test acc_[12] Error: the client read too slowly, and another stream got its place$/,
  );
  // The bound of one owner stays.
  assert.equal(await begin('acc_3'), false);
  aborting.abort();
  await until('all streams have ended', () => at.incomplete.length === 3);
});
