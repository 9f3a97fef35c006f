/** Real databases of each supported kind, each in its own location. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { systemClock } from '../src/foundation/clock.ts';
import { databaseUrl } from '../src/app/config-values.ts';
import { deriveKeys } from '../src/foundation/crypto/master-key.ts';
import { RootKeys } from '../src/foundation/crypto/root-key.ts';
import { openDatabase } from '../src/foundation/database/database.ts';
import type { Db } from '../src/foundation/database/db.ts';
import { migrate } from '../src/foundation/database/migrate.ts';
import type { Dialect } from '../src/foundation/database/sql.ts';
import { migratedTemplate, sharedPostgres } from './postgres/running.ts';
import { newTempFolder } from './temp-folder.ts';

/** The location of an empty database without tables. */
export interface DatabasePlace extends AsyncDisposable {
  readonly kind: Dialect;
  /** Value of KEYREEVE_DATABASE_URL. */
  readonly url: string;
  /** Settings for a service process on it. */
  readonly environment: Readonly<Record<string, string>>;
}

export interface TestDb extends AsyncDisposable {
  readonly db: Db;
  readonly url: string;
  /** Opens another connection to the same database, like a second process. It is closed with the database. */
  readonly connect: () => Promise<Db>;
}

/** Keys of databases that the test kit creates. */
export const testRootKeys = RootKeys.ofEarlier(Buffer.alloc(32, 7), Date.UTC(2026, 10, 1));
export const testKeys = deriveKeys(testRootKeys.newest);

export const databaseKinds = ['sqlite', 'postgres'] as const satisfies readonly Dialect[];

/** The database kind of the running test, which is the default for new databases. */
export const currentKind = new AsyncLocalStorage<Dialect>();

/** @param template for PostgreSQL: `migratedTemplate` for a database with tables */
export async function newPlace(
  kind: Dialect = currentKind.getStore() ?? 'sqlite',
  template?: string,
): Promise<DatabasePlace> {
  if (kind === 'sqlite') {
    const folder = newTempFolder();
    const url = `sqlite:${join(folder.path, 'keyreeve.db')}`;
    return {
      kind,
      url,
      environment: { KEYREEVE_DATABASE_URL: url },
      [Symbol.asyncDispose]: () => Promise.resolve(folder[Symbol.dispose]()),
    };
  }
  const database = await (await sharedPostgres()).createDatabase(template);
  const { url } = database;
  const masterKey = randomBytes(32).toString('base64url');
  return {
    kind,
    url,
    environment: { KEYREEVE_DATABASE_URL: url, KEYREEVE_MASTER_KEY: masterKey },
    [Symbol.asyncDispose]: () => database.drop(),
  };
}

/** The database kinds by name. Each suite runs once for each. */
export const emptyDatabases = Object.fromEntries(databaseKinds.map((kind) => [kind, () => newDb(kind)]));

/** The same, migrated. */
export const databases = Object.fromEntries(databaseKinds.map((kind) => [kind, () => newMigratedDb(kind)]));

async function newMigratedDb(kind: Dialect): Promise<TestDb> {
  const opened = await newDb(kind, migratedTemplate);
  if (kind === 'sqlite') await migrate(opened.db, systemClock);
  return opened;
}

async function newDb(kind: Dialect, template?: string): Promise<TestDb> {
  const place = await newPlace(kind, template);
  const connections: Db[] = [];
  const connect = async (): Promise<Db> => {
    const db = await openDatabase(databaseUrl(place.url), testKeys.auditChain);
    connections.push(db);
    return db;
  };
  return {
    db: await connect(),
    url: place.url,
    connect,
    [Symbol.asyncDispose]: async () => {
      // A connection that the test has closed cannot be closed again.
      await Promise.allSettled(connections.map((connection) => connection.close()));
      await place[Symbol.asyncDispose]();
    },
  };
}
