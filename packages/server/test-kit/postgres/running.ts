/** The PostgreSQL server that tests share: that of `scripts/test.ts`, otherwise one for this process. */
import { PostgresDatabases } from './databases.ts';
import { PostgresServer } from './server.ts';

let shared: Promise<PostgresDatabases> | undefined;

/** The server ends with the process that started it. */
export function sharedPostgres(): Promise<PostgresDatabases> {
  shared ??= find();
  return shared;
}

async function find(): Promise<PostgresDatabases> {
  const url = process.env['TEST_POSTGRES_URL'];
  return new PostgresDatabases(url === undefined || url === '' ? (await PostgresServer.start()).url() : url);
}
