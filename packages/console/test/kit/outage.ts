/** Makes a database unavailable to a running service. */
import { rmSync } from 'node:fs';
import type { DatabasePlace } from '../../../server/test-kit/new-db.ts';
import { PostgresDatabases } from '../../../server/test-kit/postgres/databases.ts';

/** @returns a function that makes it available again; undefined for SQLite, whose removed file ends the service */
export async function breakDatabase({ kind, url }: DatabasePlace): Promise<(() => Promise<void>) | undefined> {
  if (kind === 'sqlite') {
    rmSync(url.slice('sqlite:'.length));
    return undefined;
  }
  const name = new URL(url).pathname.slice(1);
  const server = new URL(url);
  server.pathname = '/postgres';
  const databases = new PostgresDatabases(server.href);
  await databases.run(`alter database ${name} allow_connections false`);
  await databases.run(`select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`);
  return () => databases.run(`alter database ${name} allow_connections true`);
}
