/** Ends the connections of servers that stop, without losing a request. */
import type { Server } from 'node:http';
import { systemTimers, type Timers } from '../../foundation/clock.ts';
import { stopAccepting } from '../../http/stop-accepting.ts';

/** Interval at which idle connections are closed while the service drains. */
const idleCheckMs = 20;
/** Bound on waiting for a moment without new connections in which the port can close. */
const closePortMsMax = 1_000;
/** The last phase, if half of the time is shorter. */
const graceMsMin = 1_000;
/** A longer interval between two checks counts as this one: the process did not run, so its clients could not end. */
const intervalMsMax = 5 * idleCheckMs;
/** Bound on the time in which the process does not run. */
const pausesMsMax = 2_000;

const graceMsOf = (seconds: number): number => Math.max(seconds * 500, graceMsMin);

/** The time that a drain takes at most. */
export const drainMsMax = (seconds: number): number => seconds * 500 + graceMsOf(seconds) + pausesMsMax;

export interface DrainOptions {
  /** Called when the port is closed. */
  readonly onClosed?: () => void;
  readonly timers?: Timers;
}

/**
 * Stops the servers in three phases:
 *
 * 1. For half of `seconds`, they serve as before. `/health/ready` returns 503, so load balancers stop sending requests.
 * 2. The port closes. Requests in progress are finished, and each connection closes after its next response.
 * 3. After another quarter, idle connections are closed. By then, a proxy that keeps idle connections for a shorter time has
 *    closed them itself, so that no request is lost on a connection that closes.
 *
 * @returns whether all connections ended in time
 */
export async function drain(
  servers: readonly Server[],
  seconds: number,
  { onClosed, timers = systemTimers }: DrainOptions = {},
): Promise<boolean> {
  await timers.sleep(seconds * 500);
  const graceMs = graceMsOf(seconds);
  const closing = servers.map((server) => stopAccepting(server, Math.min(graceMs / 4, closePortMsMax), timers));
  const ended = Promise.all(closing.map(({ ended: each }) => each)).then(() => true);
  await Promise.all(closing.map(({ portClosed }) => portClosed));
  onClosed?.();
  const idleFromMs = timers.monotonicMs() + seconds * 250;
  let [isDrained, now, leftMs, pausesLeftMs] = [false, timers.monotonicMs(), graceMs, pausesMsMax];
  while (!isDrained && leftMs > 0 && pausesLeftMs > 0) {
    // Repeated, because a connection becomes idle when its request is answered.
    if (now >= idleFromMs) for (const server of servers) server.closeIdleConnections();
    isDrained = await Promise.race([ended, timers.sleep(idleCheckMs).then(() => false)]);
    const intervalMs = timers.monotonicMs() - now;
    const countedMs = Math.min(intervalMs, intervalMsMax);
    now += intervalMs;
    leftMs -= countedMs;
    pausesLeftMs -= intervalMs - countedMs;
  }
  for (const server of servers) server.closeAllConnections();
  return isDrained;
}
