/** The phases of a drain, with timers that the test advances, and real connections. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { test } from 'node:test';
import { SteppedTimers } from '../../../test-kit/stepped-timers.ts';
import { until } from '../../../test-kit/until.ts';
import { watchConnections } from '../../http/stop-accepting.ts';
import { drain } from '../processes/drain.ts';

interface Drained extends AsyncDisposable {
  readonly server: Server;
  readonly timers: SteppedTimers;
  readonly isClosed: () => boolean;
  /** Undefined before the end. */
  readonly isDrained: () => boolean | undefined;
  /** Starts a request, whose response the test sends. */
  readonly request: () => Promise<readonly [Socket, ServerResponse]>;
}

async function startDrain(seconds: number): Promise<Drained> {
  const server = createServer({ keepAliveTimeout: 0, headersTimeout: 0, requestTimeout: 0 });
  watchConnections(server);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const sockets: Socket[] = [];
  const timers = new SteppedTimers();
  let [isClosed, isDrained]: [boolean, boolean | undefined] = [false, undefined];
  const drained = drain([server], seconds, { timers, onClosed: () => (isClosed = true) });
  void drained.then((result) => (isDrained = result));
  return {
    server,
    timers,
    isClosed: () => isClosed,
    isDrained: () => isDrained,
    request: async () => {
      const [socket, response] = await startRequest(server, port);
      sockets.push(socket);
      return [socket, response];
    },
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      await until('the drain ends', async () => {
        await timers.pass(1_000);
        return isDrained !== undefined;
      });
    },
  };
}

async function startRequest(server: Server, port: number): Promise<readonly [Socket, ServerResponse]> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined).resume();
  const received = once(server, 'request');
  socket.write('GET / HTTP/1.1\r\nhost: localhost\r\n\r\n');
  const [, response] = (await received) as [unknown, ServerResponse];
  return [socket, response];
}

/** Lets the port close, which waits for a turn of the event loop without connections. */
const portCloses = ({ timers, isClosed }: Drained): Promise<void> =>
  until('the port closes', async () => {
    await timers.pause(0);
    return isClosed();
  });

test('for half of the time, servers accept connections and respond', async () => {
  await using drained = await startDrain(12);
  await drained.timers.pass(5_990);
  assert.deepEqual([drained.isClosed(), drained.server.listening], [false, true]);
  const [socket, response] = await drained.request();
  response.end();
  await once(socket, 'data');
  await drained.timers.pass(10);
  await portCloses(drained);
  assert.equal(drained.server.listening, false);
});

test('a connection closes after its next response, and the drain ends with the last one', async () => {
  await using drained = await startDrain(12);
  const [socket, response] = await drained.request();
  await drained.timers.pass(6_000);
  await portCloses(drained);
  await drained.timers.pass(2_000);
  assert.equal(drained.isDrained(), undefined);
  response.setHeader('connection', 'close');
  response.end();
  await once(socket, 'close');
  await until('the drain ends', () => drained.isDrained() !== undefined);
  assert.equal(drained.isDrained(), true);
});

test('an idle connection is closed after another quarter of the time, and not before', async () => {
  await using drained = await startDrain(12);
  const [socket, response] = await drained.request();
  response.end();
  await once(socket, 'data');
  await drained.timers.pass(6_000);
  await portCloses(drained);
  await drained.timers.pass(2_970);
  assert.deepEqual([socket.closed, drained.isDrained()], [false, undefined]);
  await drained.timers.pass(60);
  if (!socket.closed) await once(socket, 'close');
  await until('the drain ends', () => drained.isDrained() !== undefined);
  assert.equal(drained.isDrained(), true);
});

for (const [seconds, graceMs] of [
  [12, 6_000],
  [0, 1_000],
] as const) {
  test(`with a request that never ends, a drain of ${seconds} s ends ${graceMs} ms after the port has closed`, async () => {
    await using drained = await startDrain(seconds);
    const [socket] = await drained.request();
    await drained.timers.pass(seconds * 500);
    await portCloses(drained);
    await drained.timers.pass(graceMs - 10);
    assert.deepEqual([socket.closed, drained.isDrained()], [false, undefined]);
    await drained.timers.pass(30);
    await until('the drain ends', () => drained.isDrained() !== undefined);
    assert.equal(drained.isDrained(), false);
    if (!socket.closed) await once(socket, 'close');
  });
}

test('a pause of the process does not count, up to 2 s in all', async () => {
  await using drained = await startDrain(0);
  const [socket, response] = await drained.request();
  await drained.timers.pass(10);
  await portCloses(drained);
  await drained.timers.pause(1_500);
  assert.equal(drained.isDrained(), undefined);
  response.setHeader('connection', 'close');
  response.end();
  await once(socket, 'close');
  await until('the drain ends', () => drained.isDrained() !== undefined);
  assert.equal(drained.isDrained(), true);

  await using late = await startDrain(0);
  await late.request();
  await late.timers.pass(10);
  await portCloses(late);
  await late.timers.pause(1_500);
  await late.timers.pause(1_500);
  await until('the drain ends', () => late.isDrained() !== undefined);
  assert.equal(late.isDrained(), false);
});
