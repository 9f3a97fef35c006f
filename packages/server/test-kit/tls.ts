/** The certificate of `localhost` in `test/e2e/tls` with its key, and PostgreSQL servers that use it. */
import { appendFileSync, chmodSync, chownSync, copyFileSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PostgresServer } from './postgres/server.ts';

export const tlsPath = (name: string): string => fileURLToPath(new URL(`../test/e2e/tls/${name}`, import.meta.url));
/** As a server's options name them. */
export const tls = { key: readFileSync(tlsPath('server.key')), cert: readFileSync(tlsPath('server.crt')) };

export async function newTlsServer(): Promise<PostgresServer> {
  const server = await PostgresServer.start();
  const data = join(server.folder, 'data');
  const { uid, gid } = statSync(data);
  for (const name of ['server.crt', 'server.key']) {
    const path = join(data, name);
    copyFileSync(tlsPath(name), path);
    chownSync(path, uid, gid);
    // PostgreSQL rejects a private key that other users can read.
    chmodSync(path, 0o600);
  }
  appendFileSync(join(data, 'postgresql.conf'), 'ssl = on\n');
  await server.restart();
  return server;
}
