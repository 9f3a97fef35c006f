/** TLS of a PostgreSQL server of a test, with the certificate of `test/e2e/tls`. */
import { appendFileSync, chmodSync, chownSync, copyFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { PostgresServer } from './server.ts';

const tls = fileURLToPath(new URL('../../test/e2e/tls/', import.meta.url));

/** @param folder with `server.crt` and `server.key` */
export async function enableTls(server: PostgresServer, folder = tls): Promise<void> {
  const data = join(server.folder, 'data');
  const { uid, gid } = statSync(data);
  for (const name of ['server.crt', 'server.key']) {
    const path = join(data, name);
    copyFileSync(join(folder, name), path);
    chownSync(path, uid, gid);
    // PostgreSQL rejects a private key that other users can read.
    chmodSync(path, 0o600);
  }
  appendFileSync(join(data, 'postgresql.conf'), 'ssl = on\n');
  await server.restart();
}
