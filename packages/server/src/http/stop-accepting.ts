/**
 * Closing a port while clients are still coming, without losing a request that was sent. A proxy that has sent one into
 * a connection which is then reset can't know whether it was carried out, and answers 502. Two kinds are in danger: a
 * connection that the system has accepted and this program hasn't, which ends with the port, and one from which nothing
 * was read yet, which Node takes for idle. So the port closes in a moment in which nobody stands at the door.
 */
import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { monotonicMs } from '../clock.ts';

/** Long enough for those to speak who came before the watch began. */
const watchMsMin = 50;
/** A turn of the event loop as short as that has only looked for connections; in a longer one others may have come. */
const quietTurnMsMax = 0.1;

/**
 * Accepts until a turn has brought nobody, and everybody who came has sent a request; then closes.
 * @param msMax after it the port closes anyhow
 * @returns once every connection has ended
 */
export async function stopAccepting(server: Server, msMax: number): Promise<void> {
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
  await new Promise<void>((resolve) => server.close(() => resolve()));
}
