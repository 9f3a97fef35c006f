/**
 * The PostgreSQL server that tests share: the one that `scripts/test.ts` started, otherwise one for this process. It has a
 * migrated database as a template, because a copy takes less time than the migrations.
 */
import { systemClock } from '../../src/foundation/clock.ts';
import { databaseUrl } from '../../src/app/configuration/config-values.ts';
import { deriveKeys } from '../../src/foundation/crypto/master-key.ts';
import { openDatabase } from '../../src/foundation/database/database.ts';
import { migrate } from '../../src/foundation/database/migrate.ts';
import { runEnvironment } from '../run-environment.ts';
import { PostgresDatabases } from './databases.ts';
import { PostgresServer } from './server.ts';

let shared: Promise<PostgresDatabases> | undefined;
/** Of the server that the processes of a run share. */
let url = runEnvironment.postgresUrl;

/** A server that this call starts ends with this process. */
export function sharedPostgres(): Promise<PostgresDatabases> {
  shared ??= find();
  return shared;
}

/**
 * The tests of this process get a server of their own. For tests that expect `vacuum full` to remove every deleted row: it
 * keeps the rows that were deleted after the start of any writing transaction of the server, in whichever database.
 */
export function useOwnPostgres(): void {
  if (url !== undefined) shared = undefined;
  url = undefined;
}

async function find(): Promise<PostgresDatabases> {
  return new PostgresDatabases(url ?? (await startWithTemplate()).url());
}

/** A server with the database `migratedTemplate`. */
export async function startWithTemplate(): Promise<PostgresServer> {
  const server = await PostgresServer.start();
  await new PostgresDatabases(server.url()).run(`create database ${migratedTemplate}`);
  const { auditChain } = deriveKeys(Buffer.alloc(32));
  const db = await openDatabase(databaseUrl(server.url(migratedTemplate)), auditChain);
  await migrate(db, systemClock);
  await db.close();
  return server;
}

/** The tables of the newest schema, without rows. */
export const migratedTemplate = 'keyreeve_migrated';
