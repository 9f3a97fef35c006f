/** Clients that do not read their responses: the waiting bytes are bounded, and other clients are not affected. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { test } from 'node:test';
import type { BacklogOptions } from '../backlog.ts';
import { SecurityHeaders } from '../headers.ts';
import { createHttpServer, listen } from '../server.ts';
import { createLog } from '../../foundation/log.ts';
import { head } from '../../../test-kit/raw-http.ts';

const mib = 2 ** 20;
/** More than the kernel accepts for a client that reads nothing. */
const large = Buffer.alloc(16 * mib, 'x');

interface Client {
  readonly socket: Socket;
  /** Resolves when the server has closed the connection. */
  readonly closed: Promise<void>;
}

interface Stalling extends AsyncDisposable {
  readonly logLines: string[];
  /** Resolves with a client that reads nothing, after the server has written its first response. */
  readonly stall: (bytes?: string) => Promise<Client>;
}

const get = head('GET /large HTTP/1.1', 'Host: a');

async function stallingServer(backlog: BacklogOptions): Promise<Stalling> {
  const logLines: string[] = [];
  const log = createLog('info', { write: (line) => void logLines.push(line) });
  let onWritten = (): void => undefined;
  const server = createHttpServer(
    new SecurityHeaders(false),
    log,
    ({ url }, response) => {
      response.end(url === '/large' ? large : 'small');
      onWritten();
    },
    { backlog },
  );
  const { port } = await listen(server, '127.0.0.1', 0);
  const sockets: Socket[] = [];
  return {
    logLines,
    stall: async (bytes = get) => {
      const written = new Promise<void>((resolve) => (onWritten = resolve));
      const accepted = once(server, 'connection') as Promise<[Socket]>;
      const socket = connect(port, '127.0.0.1').pause();
      socket.on('error', () => undefined);
      sockets.push(socket);
      socket.write(bytes);
      const [accepting] = await accepted;
      const closed = new Promise<void>((resolve) => accepting.once('close', () => resolve()));
      await written;
      return { socket, closed };
    },
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Reads the response. @returns whether it was complete before the connection closed */
async function readsAll({ socket }: Client): Promise<boolean> {
  let bytes = 0;
  const isWhole = new Promise<boolean>((resolve) => {
    socket.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > large.length) resolve(true);
    });
    socket.on('close', () => resolve(false));
  });
  socket.resume();
  return isWhole;
}

test('beyond the total, the connections that stalled longest are closed, and no others', async () => {
  await using at = await stallingServer({ bytesMax: 40 * mib });
  // The kernel accepts a part of 16 MiB, and the rest counts: two responses fit.
  const clients = [await at.stall(), await at.stall(), await at.stall(), await at.stall()];
  await Promise.all(clients.slice(0, 2).map(({ closed }) => closed));
  assert.deepEqual(await Promise.all(clients.map(readsAll)), [false, false, true, true]);
});

test('a client that reads gets its responses while others read nothing', async () => {
  await using at = await stallingServer({ bytesMax: 20 * mib });
  for (let n = 0; n < 10; n++) {
    await at.stall();
    assert.equal(await readsAll(await at.stall()), true);
  }
});

test('requests behind an unread response count in the total', async () => {
  await using at = await stallingServer({ bytesMax: 33 * mib });
  // Each may have a body of which 128 KiB are read ahead.
  const waiting = `${head('POST /small HTTP/1.1', 'Host: a', 'Transfer-Encoding: chunked')}0\r\n\r\n`;
  const crowded = await at.stall(get + waiting.repeat(64));
  await at.stall();
  await crowded.closed;
});

test('a client below the minimum rate is disconnected and counted in the log', async () => {
  await using at = await stallingServer({ bytesPerSecondMin: mib, stallSecondsMax: 0.2, sweepMs: 20 });
  const { closed } = await at.stall();
  await closed;
  while (at.logLines.length === 0) await new Promise(setImmediate);
  const { level, event, closed: count } = JSON.parse(at.logLines[0] ?? '') as Record<string, unknown>;
  assert.deepEqual([level, event, count], ['warn', 'stalled_connections_closed', 1]);
});

test('a slow client at the minimum rate gets its complete response', async () => {
  await using at = await stallingServer({ bytesPerSecondMin: 1_024, stallSecondsMax: 2, sweepMs: 20 });
  const { socket } = await at.stall();
  let bytes = 0;
  while (bytes <= large.length) {
    const chunk = socket.read() as Buffer | null;
    bytes += chunk?.length ?? 0;
    if (chunk === null) await once(socket, 'readable');
    // Several turns of the event loop for each chunk: much slower than the connection.
    for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
  }
  assert.ok(bytes > large.length);
});
