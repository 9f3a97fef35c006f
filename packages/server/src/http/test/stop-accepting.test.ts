/** Closing a port loses no request of a client that had connected before. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { SteppedTimers } from '../../../test-kit/stepped-timers.ts';
import type { Timers } from '../../foundation/clock.ts';
import { stopAccepting, watchConnections, type Closing } from '../stop-accepting.ts';

async function newServer() {
  const server = createServer((_request, response) => void response.end('answered'));
  watchConnections(server);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return { server, newClient: () => connect(port, '127.0.0.1') };
}

const request = 'GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n';

/** Begins to stop in the turn in which a client connects, before the connection is known. */
async function stopDuringConnection(server: Server, newClient: () => Socket, msMax: number, timers: Timers) {
  const stopping = Promise.withResolvers<Closing>();
  server.prependOnceListener('connection', () => stopping.resolve(stopAccepting(server, msMax, timers)));
  const client = newClient();
  return { client, closing: await stopping.promise };
}

test('a client that connects during the stop and sends its request later gets a response', async () => {
  const { server, newClient } = await newServer();
  const timers = new SteppedTimers();
  const { client, closing } = await stopDuringConnection(server, newClient, 10_000, timers);
  await timers.pass(9_000);
  assert.equal(server.listening, true);
  client.write(request);
  assert.match(await text(client), /^HTTP\/1\.1 200 OK\r\n[^]*answered$/);
  await timers.pass(10);
  await closing.portClosed;
  assert.equal(server.listening, false);
  await closing.ended;
});

test('a client that has connected before the stop has 50 ms for its request', async () => {
  const { server, newClient } = await newServer();
  const timers = new SteppedTimers();
  const client = newClient();
  await once(server, 'connection');
  const { portClosed } = stopAccepting(server, 10_000, timers);
  await timers.pass(40);
  assert.equal(server.listening, true);
  await timers.pass(20);
  await portClosed;
  assert.equal(server.listening, false);
  client.on('error', () => undefined).destroy();
});

test('a client that never sends a request keeps the port open only until the limit', async () => {
  const { server, newClient } = await newServer();
  const timers = new SteppedTimers();
  const { client, closing } = await stopDuringConnection(server, newClient, 100, timers);
  await timers.pass(90);
  assert.equal(server.listening, true);
  await timers.pass(20);
  await closing.portClosed;
  assert.equal(server.listening, false);
  client.on('error', () => undefined).destroy();
});

test('the port of a server without clients closes without a wait', async () => {
  const { server } = await newServer();
  // Time does not pass.
  await stopAccepting(server, 10_000, new SteppedTimers()).portClosed;
  assert.equal(server.listening, false);
});

test('a client with a connection can send requests after the port has closed', async () => {
  const { server, newClient } = await newServer();
  const client = newClient();
  client.write(request.replace('close', 'keep-alive'));
  await once(client, 'data');
  const { portClosed, ended } = stopAccepting(server, 10_000);
  await portClosed;
  assert.equal(server.listening, false);
  client.write(request);
  assert.match(await text(client), /^HTTP\/1\.1 200 OK\r\n[^]*answered$/);
  await ended;
});
