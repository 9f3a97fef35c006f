/** Finds a loopback port for a server that cannot choose one, or that must restart on the same port. */
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Ports of this process. A port that a server has not opened yet, or that restarts, looks free. */
const given = new Set<number>();

/** Below the ports of outgoing connections, so that the port stays free during a restart. Never the same twice. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(15_000, 32_000);
    if (given.has(port)) continue;
    const probe = createServer().listen(port, '127.0.0.1');
    try {
      await once(probe, 'listening');
      probe.close();
      await once(probe, 'close');
      given.add(port);
      return port;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    }
  }
}
