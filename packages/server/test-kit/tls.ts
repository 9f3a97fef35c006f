/** The certificate of `localhost` in `test/e2e/tls` with its key, and PostgreSQL servers that use it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PostgresServer } from './postgres/server.ts';
import { enableTls, tls as folder } from './postgres/tls.ts';

export const tlsPath = (name: string): string => join(folder, name);
/** As a server's options name them. */
export const tls = { key: readFileSync(tlsPath('server.key')), cert: readFileSync(tlsPath('server.crt')) };

export async function newTlsServer(): Promise<PostgresServer> {
  const server = await PostgresServer.start();
  await enableTls(server);
  return server;
}
