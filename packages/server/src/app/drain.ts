/** Ends the connections of servers that stop, without losing a request. */
import type { Server } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { monotonicMs } from '../foundation/clock.ts';
import { stopAccepting } from '../http/stop-accepting.ts';

/** Interval at which idle connections are closed while the service drains. */
const idleCheckMs = 20;
/** Bound on waiting for a moment without new connections in which the port can close. */
const closePortMsMax = 1_000;

/**
 * Stops the servers in three phases:
 *
 * 1. For half of `seconds`, they serve as before. `/health/ready` returns 503, so load balancers stop sending requests.
 * 2. The port closes. Requests in progress are finished, and each connection closes after its next response.
 * 3. After another quarter, idle connections are closed. By then, a proxy that keeps idle connections for a shorter time has
 *    closed them itself, so that no request is lost on a connection that closes.
 *
 * @param onClosed is called when the port is closed
 * @returns whether all connections ended in time
 */
export async function drain(servers: readonly Server[], seconds: number, onClosed?: () => void): Promise<boolean> {
  const ms = seconds * 1000;
  await sleep(ms / 2);
  const graceMs = Math.max(ms / 2, 1_000);
  const closing = servers.map((server) => stopAccepting(server, Math.min(graceMs / 4, closePortMsMax)));
  const closed = Promise.all(closing.map(({ ended }) => ended));
  await Promise.all(closing.map(({ portClosed }) => portClosed));
  onClosed?.();
  const idleFromMs = monotonicMs() + ms / 4;
  // Repeated, because a connection becomes idle when its request is answered.
  const closeIdle = (): void => {
    if (monotonicMs() >= idleFromMs) for (const server of servers) server.closeIdleConnections();
  };
  closeIdle();
  const timer = setInterval(closeIdle, idleCheckMs);
  const isDrained = await Promise.race([closed.then(() => true), sleep(graceMs, false, { ref: false })]);
  clearInterval(timer);
  for (const server of servers) server.closeAllConnections();
  return isDrained;
}
