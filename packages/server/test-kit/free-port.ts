/**
 * Finds a loopback port for a server that cannot choose one, or that must restart on the same port. A port that a server has not
 * opened yet, or that restarts, looks free. So the process leases each port until it ends.
 */
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type ListenOptions } from 'node:net';

/** Leases of this process. */
const leased = new Set<number>();

/** Below the ports of outgoing connections, so that the port stays free during a restart. Never the same twice. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(15_000, 32_000);
    if (leased.has(port)) continue;
    leased.add(port);
    if ((await lease(port)) && (await isFree(port))) return port;
  }
}

/**
 * Keeps a socket open whose abstract name contains the port: the kernel gives a name to one process, and takes it back when
 * that process ends in any way. Other systems than Linux have no such names, and no lease across processes.
 * @returns whether no other process has leased the port
 */
const lease = async (port: number): Promise<boolean> =>
  process.platform !== 'linux' || (await listen({ path: `\0keyreeve-test-port-${port}` })) !== undefined;

async function isFree(port: number): Promise<boolean> {
  const probe = await listen({ host: '127.0.0.1', port });
  if (!probe) return false;
  probe.close();
  await once(probe, 'close');
  return true;
}

async function listen(options: ListenOptions) {
  const server = createServer().listen(options).unref();
  try {
    await once(server, 'listening');
    return server;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    return undefined;
  }
}
