/** Makes a PostgreSQL database unavailable to a running service. */
import { PostgresDatabases } from '../../../server/test-kit/postgres/databases.ts';

/** @param url of the database @returns a function that makes it available again */
export async function breakDatabase(url: string): Promise<() => Promise<void>> {
  const name = new URL(url).pathname.slice(1);
  const server = new URL(url);
  server.pathname = '/postgres';
  const databases = new PostgresDatabases(server.href);
  await databases.run(`alter database ${name} allow_connections false`);
  await databases.run(`select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`);
  return () => databases.run(`alter database ${name} allow_connections true`);
}
