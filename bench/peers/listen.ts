/** Starts a measured server and prints its URL in the format that the benchmark reads. */
import type { Server } from 'node:http';

export function listen(server: Server): void {
  server.listen(0, '127.0.0.1', () => {
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : undefined;
    console.log(JSON.stringify({ event: 'listening', url: `http://127.0.0.1:${port}` }));
  });
  process.on('SIGTERM', () => process.exit(0));
}
