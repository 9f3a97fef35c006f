/**
 * Closing a port while clients are still coming, without losing a request that was sent. A proxy that has sent one into
 * a connection which is then reset can't know whether it was carried out, and answers 502. Two kinds are in danger: a
 * connection that the system has accepted and this program hasn't, which ends with the port, and one from which nothing
 * was read yet, which Node takes for idle. So the port closes in a moment in which nobody stands at the door.
 */
import type { IncomingMessage, Server } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { monotonicMs } from '../foundation/clock.ts';

/** Long enough for those to speak who came before the watch began. */
const watchMsMin = 50;
/** A turn of the event loop as short as that has only looked for connections; in a longer one others may have come. */
const quietTurnMsMax = 0.1;

export interface Closing {
  /** Once nothing new is accepted. */
  readonly isShut: Promise<void>;
  /** Once every connection has ended. */
  readonly ended: Promise<void>;
}

/**
 * Accepts until a turn has brought nobody, and everybody who came has sent a request; then closes.
 * @param msMax after it the port closes anyhow
 */
export function stopAccepting(server: Server, msMax: number): Closing {
  const { promise: ended, resolve } = Promise.withResolvers<void>();
  return { isShut: shut(server, msMax, resolve), ended };
}

async function shut(server: Server, msMax: number, onEnded: () => void): Promise<void> {
  const silent = new Set<Socket>();
  let arrivals = 0;
  const arrive = (socket: Socket): void => {
    arrivals++;
    silent.add(socket);
    socket.once('close', () => silent.delete(socket));
  };
  const speak = ({ socket }: IncomingMessage): void => void silent.delete(socket);
  server.on('connection', arrive).on('request', speak);
  const startedMs = monotonicMs();
  for (let turnMs = startedMs; turnMs - startedMs < msMax; turnMs = monotonicMs()) {
    const before = arrivals;
    await setImmediate();
    const now = monotonicMs();
    const isQuiet = arrivals === before && silent.size === 0 && now - turnMs < quietTurnMsMax;
    if (isQuiet && now - startedMs >= watchMsMin) break;
  }
  server.off('connection', arrive).off('request', speak);
  // In the same turn: whatever were awaited before it would open the door again.
  closePort(server, onEnded);
}

/** Not `close` of an HTTP server, which also ends what it takes for idle. */
function closePort(server: Server, onEnded: () => void): void {
  NetServer.prototype.close.call(server, onEnded);
}
