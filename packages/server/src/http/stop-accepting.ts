/**
 * Closes a port while clients still connect, without losing a request. If a connection is reset after a proxy sent a
 * request, the proxy cannot know whether the request was processed, and returns 502. Two kinds of connections are at risk:
 * those that the kernel has accepted and the process has not, which end with the port, and those from which nothing was
 * read yet, which Node closes as idle. So the port closes at a moment when there are none of either kind.
 */
import type { IncomingMessage, Server } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { monotonicMs } from '../foundation/clock.ts';

/** Enough for connections from before the watch to send their request. */
const watchMsMin = 50;
/** In a longer turn of the event loop, the kernel may have accepted further connections. */
const quietTurnMsMax = 0.1;

export interface Closing {
  /** Resolves when the port is closed. */
  readonly portClosed: Promise<void>;
  /** Resolves when every connection has ended. */
  readonly ended: Promise<void>;
}

/**
 * Accepts connections until a turn brings none and each has sent a request. Then it closes the port.
 * @param msMax time after which the port closes in any case
 */
export function stopAccepting(server: Server, msMax: number): Closing {
  const { promise: ended, resolve } = Promise.withResolvers<void>();
  return { portClosed: closeWhenQuiet(server, msMax, resolve), ended };
}

async function closeWhenQuiet(server: Server, msMax: number, onEnded: () => void): Promise<void> {
  const silent = new Set<Socket>();
  let connections = 0;
  const onConnection = (socket: Socket): void => {
    connections++;
    silent.add(socket);
    socket.once('close', () => silent.delete(socket));
  };
  const onRequest = ({ socket }: IncomingMessage): void => void silent.delete(socket);
  server.on('connection', onConnection).on('request', onRequest);
  const startedMs = monotonicMs();
  for (let turnMs = startedMs; turnMs - startedMs < msMax; turnMs = monotonicMs()) {
    const before = connections;
    await setImmediate();
    const now = monotonicMs();
    const isQuiet = connections === before && silent.size === 0 && now - turnMs < quietTurnMsMax;
    if (isQuiet && now - startedMs >= watchMsMin) break;
  }
  server.off('connection', onConnection).off('request', onRequest);
  // In the same turn: awaiting anything before would let connections arrive again.
  closePort(server, onEnded);
}

/** `close` of an HTTP server would also close connections that it considers idle. */
function closePort(server: Server, onEnded: () => void): void {
  NetServer.prototype.close.call(server, onEnded);
}
