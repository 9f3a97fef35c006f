/** Closing a port loses no request of a client that had connected before. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { stopAccepting } from '../stop-accepting.ts';

async function newServer() {
  const server = createServer((_request, response) => void response.end('answered')).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { server, newClient: () => connect(port, '127.0.0.1') };
}

const request = 'GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n';

test('a client that has connected and sent no request yet gets a response', async () => {
  const { server, newClient } = await newServer();
  const { portClosed, ended } = stopAccepting(server, 10_000);
  const client = newClient();
  await once(server, 'connection');
  client.write(request);
  assert.match(await text(client), /^HTTP\/1\.1 200 OK\r\n[^]*answered$/);
  await portClosed;
  assert.equal(server.listening, false);
  await ended;
});

test('a client that never sends a request does not keep the port open', async () => {
  const { server, newClient } = await newServer();
  const client = newClient();
  await stopAccepting(server, 100).portClosed;
  assert.equal(server.listening, false);
  client.on('error', () => undefined).destroy();
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
