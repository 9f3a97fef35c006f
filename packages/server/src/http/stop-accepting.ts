/**
 * Closes a port while clients still connect, without losing a request. If a connection is reset after a proxy sent a
 * request, the proxy cannot know whether the request was processed, and returns 502. Two kinds of connections are at risk:
 * those that the kernel has accepted and the process has not, which end with the port, and those from which nothing was
 * read yet, which Node closes as idle. So the port closes at a moment when there are none of either kind.
 */
import type { IncomingMessage, Server } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { systemTimers, type Timers } from '../foundation/clock.ts';

/** Enough for connections from before the stop to send their request. */
const firstRequestMs = 50;
/** In a longer turn of the event loop, the kernel may have accepted further connections. */
const quietTurnMsMax = 0.1;
/** Turns in a row. The first ones read what has arrived, so they are long. */
const turnsMax = 10;
/** Between rows of turns. Without a pause, a client that connects and sends nothing would keep a processor busy. */
const pauseMs = 5;

export interface Closing {
  /** Resolves when the port is closed. */
  readonly portClosed: Promise<void>;
  /** Resolves when every connection has ended. */
  readonly ended: Promise<void>;
}

/** The connections of a server, as far as the moment matters in which its port closes. */
interface Connections {
  /** Since the start of the server. */
  accepted: number;
  /** Those that have sent no request. */
  readonly silent: Set<Socket>;
}

const connectionsOf = new WeakMap<Server, Connections>();

/** To be called before the server listens, so that {@link stopAccepting} knows its connections. */
export function watchConnections(server: Server): void {
  const connections: Connections = { accepted: 0, silent: new Set() };
  connectionsOf.set(server, connections);
  const { silent } = connections;
  server.on('connection', (socket: Socket) => {
    connections.accepted++;
    silent.add(socket);
    socket.once('close', () => silent.delete(socket));
  });
  server.on('request', ({ socket }: IncomingMessage) => silent.delete(socket));
}

/**
 * Accepts connections until a turn brings none and each has sent a request. Then it closes the port.
 * @param msMax time after which the port closes in any case
 */
export function stopAccepting(server: Server, msMax: number, timers = systemTimers): Closing {
  const { promise: ended, resolve } = Promise.withResolvers<void>();
  return { portClosed: closeWhenQuiet(server, { msMax, timers, onEnded: resolve }), ended };
}

interface CloseOptions {
  readonly msMax: number;
  readonly timers: Timers;
  readonly onEnded: () => void;
}

async function closeWhenQuiet(server: Server, { msMax, timers, onEnded }: CloseOptions): Promise<void> {
  const connections = connectionsOf.get(server);
  if (!connections) throw new Error('the connections of the server are not watched');
  const { silent } = connections;
  const earlier = new Set(silent);
  const startedMs = timers.monotonicMs();
  const elapsedMs = (): number => timers.monotonicMs() - startedMs;
  const isQuiet = (): boolean => silent.size === 0 || (elapsedMs() >= firstRequestMs && silent.isSubsetOf(earlier));
  while (!(isQuiet() && (await hasQuietTurn(connections, timers)) && isQuiet()) && elapsedMs() < msMax)
    await timers.sleep(pauseMs);
  // In the same turn: awaiting anything before would let connections arrive again.
  closePort(server, onEnded);
}

/** Whether a turn of the event loop, of some, brings no connection. It ends with that turn. */
async function hasQuietTurn(connections: Connections, timers: Timers): Promise<boolean> {
  for (let turn = 0; turn < turnsMax; turn++) {
    const { accepted } = connections;
    const turnMs = timers.monotonicMs();
    await setImmediate();
    if (connections.accepted === accepted && timers.monotonicMs() - turnMs < quietTurnMsMax) return true;
  }
  return false;
}

/** `close` of an HTTP server would also close connections that it considers idle. */
function closePort(server: Server, onEnded: () => void): void {
  NetServer.prototype.close.call(server, onEnded);
}
