/** The bound of open connections: a new client is always accepted, and one client does not close the connections of others. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { test } from 'node:test';
import { createLog } from '../../foundation/log.ts';
import { head } from '../../../test-kit/raw-http.ts';
import { awaited, until } from '../../../test-kit/until.ts';
import { SecurityHeaders } from '../headers.ts';
import { createHttpServer, listen, type HttpServerOptions } from '../server.ts';

const connectionsMax = 5;
/** Two ranges of one network, and two ranges of others. */
const [first, neighbour, second, proxy] = ['127.0.0.1', '127.0.0.2', '127.1.0.1', '127.2.0.1'];

class Client {
  readonly socket: Socket;
  isClosed = false;

  constructor(port: number, ip: string) {
    this.socket = connect({ port, host: '127.0.0.1', localAddress: ip });
    this.socket.on('error', () => undefined);
    this.socket.on('close', () => (this.isClosed = true));
  }

  async ask(path = '/'): Promise<string> {
    this.socket.write(head(`GET ${path} HTTP/1.1`, 'Host: a'));
    const [bytes] = (await awaited('a response has arrived', once(this.socket, 'data'))) as [Buffer];
    return bytes.toString('latin1').slice(9, 12);
  }
}

interface Bounded extends AsyncDisposable {
  /** A connection that has sent a request and got its response. */
  readonly open: (ip: string) => Promise<Client>;
  readonly several: (ip: string, count: number) => Promise<readonly Client[]>;
  /** Sends bytes on a connection, and waits until the server has begun to process a request. */
  readonly begin: (client: Client, bytes: string) => Promise<void>;
  /** Responds to the requests of `/slow`. */
  readonly finish: () => void;
}

async function boundedServer(options: HttpServerOptions = {}): Promise<Bounded> {
  const slow: ServerResponse[] = [];
  let begun = 0;
  const server = createHttpServer(
    new SecurityHeaders(false),
    createLog('silent'),
    (request, response) => {
      begun++;
      if (request.url === '/slow') slow.push(response);
      else if (request.method === 'POST') request.resume().on('end', () => response.end('read'));
      else response.end('a');
    },
    options,
  );
  server.maxConnections = connectionsMax;
  const { port } = await listen(server, '127.0.0.1', 0);
  const clients: Client[] = [];
  const open = async (ip: string): Promise<Client> => {
    const client = new Client(port, ip);
    clients.push(client);
    assert.equal(await client.ask(), '200');
    return client;
  };
  return {
    open,
    several: async (ip, count) => {
      const opened: Client[] = [];
      for (let n = 0; n < count; n++) opened.push(await open(ip));
      return opened;
    },
    begin: async ({ socket }, bytes) => {
      const before = begun;
      socket.write(bytes);
      await until('the request is being processed', () => begun > before);
    },
    finish: () => slow.splice(0).forEach((response) => response.end('a')),
    [Symbol.asyncDispose]: async () => {
      for (const { socket } of clients) socket.destroy();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Exactly one of the connections closes. @returns its index */
async function closedOf(clients: readonly Client[]): Promise<number> {
  await until('a connection is closed', () => clients.some(({ isClosed }) => isClosed));
  const closed = clients.findIndex(({ isClosed }) => isClosed);
  for (const [index, client] of clients.entries())
    if (index !== closed) assert.equal(await client.ask(), '200', `${index}`);
  return closed;
}

/** As many as fit: the server makes room for the next client. */
const fill = connectionsMax - 1;

test('at the bound, the connection that has been idle longest closes, and the new client gets its response', async () => {
  await using at = await boundedServer();
  const clients = await at.several(first, fill);
  await clients[0]?.ask();
  await at.open(first);
  assert.equal(await closedOf(clients), 1);
});

test('at the bound, the connections of a smaller client IP range stay, also of a range in the same network', async () => {
  for (const smaller of [second, neighbour]) {
    await using at = await boundedServer();
    const clients = [await at.open(smaller), ...(await at.several(first, fill - 1))];
    await at.open(smaller);
    assert.equal(await closedOf(clients), 1, smaller);
  }
});

test('the ranges of one network count together, so that a network does not close others with many ranges', async () => {
  await using at = await boundedServer();
  const clients = [await at.open(second), await at.open(second), await at.open(first), await at.open(neighbour)];
  await at.open('127.0.0.3');
  const next = [...clients, await at.open('127.0.0.4')];
  await until('two connections are closed', () => next.filter(({ isClosed }) => isClosed).length === 2);
  assert.deepEqual(
    next.map(({ isClosed }) => isClosed),
    [true, false, true, false, false],
  );
});

test('the idle connections of a trusted proxy close last, however many there are', async () => {
  await using at = await boundedServer({ isProxy: (ip) => ip === proxy });
  const clients = [...(await at.several(proxy, fill - 1)), await at.open(second)];
  const later = await at.open(proxy);
  assert.equal(await closedOf(clients), fill - 1);
  await at.open(second);
  // The others have just got a response.
  assert.equal(await closedOf([...clients.slice(0, -1), later]), fill - 1);
});

test('a connection with a request in progress stays while another one is idle, and gets its response', async () => {
  await using at = await boundedServer();
  const clients = await at.several(first, fill);
  const [busy] = clients as [Client];
  await at.begin(busy, head('GET /slow HTTP/1.1', 'Host: a'));
  await at.open(second);
  assert.equal(await closedOf(clients.slice(1)), 0);
  const answered = once(busy.socket, 'data');
  at.finish();
  await awaited('the request in progress has its response', answered);
});

test('a connection whose request does not arrive completely counts as idle', async () => {
  const post = head('POST / HTTP/1.1', 'Host: a', 'Content-Length: 9');
  for (const bytes of [`${post}half`, 'GET / HTTP/1.1\r\nHost: a\r\nX-']) {
    await using at = await boundedServer();
    const clients = await at.several(first, fill);
    for (const client of clients)
      if (bytes.startsWith('POST')) await at.begin(client, bytes);
      else client.socket.write(bytes);
    await at.open(second);
    await until('a connection is closed', () => clients.some(({ isClosed }) => isClosed));
    assert.deepEqual(
      clients.map(({ isClosed }) => isClosed),
      clients.map((_, index) => index === 0),
      bytes,
    );
  }
});

test('with a request in progress on every connection, one of the largest range closes', async () => {
  await using at = await boundedServer();
  const clients = [await at.open(second), ...(await at.several(first, fill - 1))];
  for (const client of clients) await at.begin(client, head('GET /slow HTTP/1.1', 'Host: a'));
  await at.open(second);
  await until('a connection is closed', () => clients.some(({ isClosed }) => isClosed));
  assert.deepEqual(
    clients.map(({ isClosed }) => isClosed),
    [false, true, ...clients.slice(2).map(() => false)],
  );
});
