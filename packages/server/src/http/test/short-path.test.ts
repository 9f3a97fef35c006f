/** On the short path, bounds, timeouts, half-closed clients, unread responses and draining are those of node:http. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { test } from 'node:test';
import { createLog } from '../../foundation/log.ts';
import { KeptConnection } from '../../../test-kit/kept-connection.ts';
import { head } from '../../../test-kit/raw-http.ts';
import type { BacklogOptions } from '../backlog.ts';
import { SecurityHeaders } from '../headers.ts';
import { createHttpServer, listen } from '../server.ts';
import type { BareResponse } from '../short-path.ts';

const request = head('GET /short HTTP/1.1', 'Host: a', 'X-API-Key: b');
const mib = 2 ** 20;

/** Answers each request with the path that it took, when `answer` is called. */
class PathServer implements AsyncDisposable {
  readonly server: Server;
  readonly paths: ('node' | 'short')[] = [];
  readonly #clients: KeptConnection[] = [];
  /** The connections of the clients, in their order. */
  readonly sockets: Socket[] = [];
  /** The next responses wait for {@link answer}. */
  isWaiting = false;
  mayAnswer = true;
  body = '';
  #port = 0;
  #answers: (() => void)[] = [];

  constructor(backlog: BacklogOptions = {}) {
    const reply = (path: 'node' | 'short', response: ServerResponse | BareResponse): void => {
      this.paths.push(path);
      const answer = (): void =>
        void response.writeHead(200, ['Content-Length', String(this.body.length)]).end(this.body);
      if (this.isWaiting) this.#answers.push(answer);
      else answer();
    };
    this.server = createHttpServer(
      new SecurityHeaders(false),
      createLog('silent'),
      (_request, response) => reply('node', response),
      {
        backlog,
        shortPath: {
          mayAnswer: ({ url }) => this.mayAnswer && url === '/short',
          handle: ({ body }, response) => {
            if (body === 'general') return false;
            reply('short', response);
            return true;
          },
        },
      },
    );
  }

  /** @returns a client whose next request takes the short path */
  async client(): Promise<KeptConnection> {
    if (!this.server.listening) ({ port: this.#port } = await listen(this.server, '127.0.0.1', 0));
    const client = new KeptConnection(this.#port);
    this.#clients.push(client);
    this.server.once('connection', (socket: Socket) => this.sockets.push(socket));
    await client.ask(request);
    await client.ask(request);
    this.paths.length = 0;
    return client;
  }

  /** Sends bytes to which there is no response. */
  async receive(client: KeptConnection, bytes: string): Promise<void> {
    const socket = this.sockets[this.#clients.indexOf(client)];
    const before = socket?.bytesRead ?? 0;
    client.socket.write(bytes);
    while (socket?.bytesRead !== before + bytes.length) await new Promise(setImmediate);
  }

  /** Sends a request whose response waits for {@link answer}. */
  async hold(client: KeptConnection): Promise<void> {
    this.isWaiting = true;
    client.socket.write(request);
    await this.requests(1);
  }

  async requests(count: number): Promise<void> {
    while (this.paths.length < count) await new Promise(setImmediate);
  }

  answer(): void {
    for (const answer of this.#answers.splice(0)) answer();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const client of this.#clients) client[Symbol.dispose]();
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}

test('from the third request on, a connection has the short path, and its responses have the same bytes', async () => {
  await using at = new PathServer();
  const client = await at.client();
  const short = await client.ask(request);
  // A trailing space is not in the subset.
  const node = await client.ask(request.replace('X-API-Key: b', 'X-API-Key: b '));
  assert.deepEqual(at.paths, ['short', 'node']);
  assert.equal(short, node);
  assert.equal(
    short,
    'HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: keep-alive\r\nKeep-Alive: timeout=65, max=10000\r\n\r\n',
  );
});

const post = (body: string): string => head('POST /short HTTP/1.1', 'Host: a', `Content-Length: ${body.length}`) + body;

test('the rest of a body may arrive later, and node:http waits for it when it is late', async () => {
  await using at = new PathServer();
  const client = await at.client();
  const bytes = post('hello');
  for (const place of [bytes.length - 5, bytes.length - 1]) {
    await at.receive(client, bytes.slice(0, place));
    assert.match(await client.ask(bytes.slice(place)), /^HTTP\/1\.1 200 OK\r\n/);
  }
  assert.deepEqual(at.paths, ['short', 'short']);
  at.server.requestTimeout = 50;
  at.server.headersTimeout = 50;
  await client.ask(bytes.slice(0, -1));
  assert.deepEqual(at.paths, ['short', 'short', 'node']);
});

test('closing idle connections does not close one with a part of a request', async () => {
  await using at = new PathServer();
  const client = await at.client();
  const bytes = post('hello');
  await at.receive(client, bytes.slice(0, -1));
  at.server.closeIdleConnections();
  assert.match(await client.ask(bytes.slice(-1)), /^HTTP\/1\.1 200 OK\r\n/);
  await at.receive(client, bytes.slice(0, -1));
  client.socket.resetAndDestroy();
  while (!at.sockets[0]?.closed) await new Promise(setImmediate);
  const other = await at.client();
  at.server.closeIdleConnections();
  other.socket.resume();
  await once(other.socket, 'end');
});

test('a request that the handler does not accept goes to node:http', async () => {
  await using at = new PathServer();
  const client = await at.client();
  const short = await client.ask(post('hello'));
  assert.equal(await client.ask(post('general')), short);
  assert.equal(await client.ask(post('hello')), short);
  assert.deepEqual(at.paths, ['short', 'node', 'node']);
});

test('a connection that has left the short path does not return', async () => {
  await using at = new PathServer();
  const client = await at.client();
  await client.ask(request);
  client.socket.write(request.slice(0, 20));
  while (at.sockets[0]?.bytesRead !== 3 * request.length + 20) await new Promise(setImmediate);
  await client.ask(request.slice(20));
  await client.ask(request);
  assert.deepEqual(at.paths, ['short', 'node', 'node']);
});

test('requests behind a request in progress are answered in order, and each of them once', async () => {
  await using at = new PathServer();
  const client = await at.client();
  await at.hold(client);
  await at.receive(client, request + request + request.slice(0, 20));
  client.socket.end(request.slice(20));
  for (let n = 0; n < 4; n++) {
    await at.requests(1 + n);
    assert.equal(at.paths.length, 1 + n);
    at.answer();
    assert.match(await client.response(), /^HTTP\/1\.1 200 OK\r\n/);
  }
  client.socket.resume();
  await once(client.socket, 'end');
  assert.deepEqual(at.paths, ['short', 'node', 'node', 'node']);
});

test('while a request is in progress, its connection is read up to a bound, which the backlog counts', async () => {
  const read = 65_536;
  await using at = new PathServer({ bytesMax: 3 * read });
  const clients = [await at.client(), await at.client()] as const;
  at.isWaiting = true;
  const closed = once(at.sockets[0] as Socket, 'close');
  for (const [index, client] of clients.entries()) {
    client.socket.write(request);
    await at.requests(index + 1);
    client.socket.write('x'.repeat(16 * mib));
    if (index > 0) break;
    while ((at.sockets[0]?.bytesRead ?? 0) < 2 * read) await new Promise(setImmediate);
    for (let turn = 0; turn < 100; turn++) await new Promise(setImmediate);
    assert.ok((at.sockets[0]?.bytesRead ?? 0) < 4 * read);
  }
  await closed;
});

test('a client that has closed its side gets its response, and then the connection closes', async () => {
  await using at = new PathServer();
  const client = await at.client();
  await at.hold(client);
  const [socket] = at.sockets;
  client.socket.end();
  await once(socket as Socket, 'end');
  at.answer();
  assert.match(await client.response(), /^HTTP\/1\.1 200 OK\r\n/);
  client.socket.resume();
  await once(client.socket, 'end');
  assert.deepEqual(at.paths, ['short']);
});

test('an idle connection is closed after the keep-alive timeout', async () => {
  await using at = new PathServer();
  const client = await at.client();
  await client.ask(request);
  const [socket] = at.sockets;
  assert.equal(socket?.timeout, at.server.keepAliveTimeout + at.server.keepAliveTimeoutBuffer);
  socket.setTimeout(1);
  client.socket.resume();
  await once(client.socket, 'end');
  assert.deepEqual(at.paths, ['short']);
});

test('headers that arrive too slowly after a request on the short path return 408', async () => {
  await using at = new PathServer();
  const client = await at.client();
  await client.ask(request);
  at.server.headersTimeout = 50;
  assert.match(await client.ask(request.slice(0, 20)), /^HTTP\/1\.1 408 /);
  assert.deepEqual(at.paths, ['short']);
});

test('closing idle connections does not close one with a request in progress', async () => {
  await using at = new PathServer();
  const client = await at.client();
  await at.hold(client);
  at.server.closeIdleConnections();
  at.answer();
  assert.match(await client.response(), /^HTTP\/1\.1 200 OK\r\n/);
  at.server.closeIdleConnections();
  client.socket.resume();
  await once(client.socket, 'end');
});

test('the last request of a connection gets a response that closes it', async () => {
  await using at = new PathServer();
  at.server.maxRequestsPerSocket = 4;
  const client = await at.client();
  assert.match(await client.ask(request), /\r\nConnection: keep-alive\r\nKeep-Alive: timeout=65, max=4\r\n/);
  assert.match(await client.ask(request), /\r\nConnection: close\r\n/);
  assert.deepEqual(at.paths, ['short', 'node']);
});

test('a request goes to node:http when the short path may no longer answer', async () => {
  await using at = new PathServer();
  const client = await at.client();
  await client.ask(request);
  at.mayAnswer = false;
  await client.ask(request);
  assert.deepEqual(at.paths, ['short', 'node']);
});

test('a request waits while the client does not read the previous response', async () => {
  await using at = new PathServer();
  const client = await at.client();
  // More than the kernel accepts for a client that reads nothing.
  at.body = 'x'.repeat(16 * mib);
  client.socket.write(request);
  await at.requests(1);
  client.socket.write(request);
  for (let turn = 0; turn < 100; turn++) await new Promise(setImmediate);
  assert.deepEqual(at.paths, ['short']);
  at.body = '';
  await client.response();
  assert.match(await client.response(), /^HTTP\/1\.1 200 OK\r\n/);
  assert.deepEqual(at.paths, ['short', 'node']);
});

test('beyond the total of unread responses, the connection that stalled longest is closed', async () => {
  await using at = new PathServer({ bytesMax: 20 * mib });
  const clients = [await at.client(), await at.client()] as const;
  at.body = 'x'.repeat(16 * mib);
  const closed = at.sockets.map((socket) => once(socket, 'close'));
  for (const [index, { socket }] of clients.entries()) {
    socket.write(request);
    await at.requests(index + 1);
  }
  assert.deepEqual(at.paths, ['short', 'short']);
  await closed[0];
  assert.ok((await clients[1].response()).length > 16 * mib);
});
