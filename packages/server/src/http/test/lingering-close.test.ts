/** Connections that a client does not close: the server closes them soon after the response, and no reset ends the process. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { newApp, type TestApp } from '../../../test-kit/new-app.ts';
import { test } from '../../../test-kit/app-on-each-database.ts';

/** A client that never closes its side. */
function holdOpen(url: string, bytes: string): Socket {
  const { port } = new URL(url);
  const socket = connect({ port: Number(port), host: '127.0.0.1', allowHalfOpen: true });
  socket.on('error', () => undefined);
  socket.write(bytes);
  return socket;
}

const isRunning = async (app: TestApp): Promise<boolean> => (await app.call('GET', '/health/live')).status === 200;

for (const [what, bytes] of [
  ['a request that isn’t HTTP', 'nonsense\r\n\r\n'],
  ['a CONNECT', 'CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n'],
] as const) {
  test(`the connection of ${what} is closed, also when the client keeps its side open`, async () => {
    await using app = await newApp();
    const socket = holdOpen(app.url, bytes);
    let answer = '';
    socket.on('data', (chunk: Buffer) => (answer += chunk.toString()));
    await once(socket, 'end');
    assert.match(answer, /^HTTP\/1\.1 4\d\d /);
    // After the server has destroyed its side, writing causes a reset.
    const closed = new Promise((resolve) => socket.once('close', resolve));
    const writing = setInterval(() => socket.write('x'), 50);
    await closed;
    clearInterval(writing);
  });
}

for (const when of ['at once', 'after the answer'] as const) {
  test(`a CONNECT whose client resets the connection ${when} does not end the process`, async () => {
    await using app = await newApp();
    for (const url of [app.url, app.service.adminUrl]) {
      const socket = holdOpen(url, 'CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n');
      await once(socket, when === 'at once' ? 'connect' : 'data');
      socket.resetAndDestroy();
      if (!socket.closed) await new Promise((resolve) => socket.once('close', resolve));
    }
    assert.equal(await isRunning(app), true);
  });
}

test('a request without a required body gets a response', async () => {
  await using app = await newApp();
  const socket = holdOpen(
    app.url,
    'POST /auth/token/refresh HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n',
  );
  let answer = '';
  socket.on('data', (chunk: Buffer) => (answer += chunk.toString()));
  await once(socket, 'end');
  socket.destroy();
  assert.match(answer, /^HTTP\/1\.1 400 /);
  assert.match(answer, /"code":"malformed_json"/);
});
