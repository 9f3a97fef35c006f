/** A real database of each kind that stores must work on, in a place of its own. */
import { join } from 'node:path';
import { systemClock } from '../clock.ts';
import type { Db } from '../db/db.ts';
import { migrate } from '../db/migrate.ts';
import { SqliteDb } from '../db/sqlite.ts';
import { newTempFolder } from './temp-folder.ts';

export interface TestDb extends AsyncDisposable {
  readonly db: Db;
  /** Another connection to the same database, as a second program would open one. Closed with it. */
  readonly connect: () => Promise<Db>;
}

type OpenTestDb = () => Promise<TestDb>;

/** By name: each suite runs once for each. Nothing is in them yet, not even tables. */
export const emptyDatabases: Readonly<Record<string, OpenTestDb>> = { sqlite: newSqlite };

/** The same, migrated. */
export const databases: Readonly<Record<string, OpenTestDb>> = Object.fromEntries(
  Object.entries(emptyDatabases).map(([name, open]) => [name, () => migrated(open)]),
);

async function migrated(open: OpenTestDb): Promise<TestDb> {
  const opened = await open();
  await migrate(opened.db, systemClock);
  return opened;
}

async function newSqlite(): Promise<TestDb> {
  const folder = newTempFolder();
  const connections: Db[] = [];
  const connect = async (): Promise<Db> => {
    const db = await SqliteDb.open(join(folder.path, 'keyreeve.db'));
    connections.push(db);
    return db;
  };
  return {
    db: await connect(),
    connect,
    [Symbol.asyncDispose]: async () => {
      // One that a test has closed already refuses to be closed again.
      await Promise.allSettled(connections.map((connection) => connection.close()));
      folder[Symbol.dispose]();
    },
  };
}
