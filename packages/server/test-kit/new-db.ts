/** Real databases of each supported kind, each in its own location. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { databaseUrl } from '../src/app/configuration/config-values.ts';
import { masterKeyPath } from '../src/app/installation/earlier-installation.ts';
import { createMasterKey } from '../src/app/key-files/master-key-file.ts';
import { deriveKeys } from '../src/foundation/crypto/master-key.ts';
import { openDatabase } from '../src/foundation/database/database.ts';
import type { Db } from '../src/foundation/database/db.ts';
import type { Dialect } from '../src/foundation/database/sql.ts';
import { migratedTemplate, sharedPostgres } from './postgres/running.ts';
import { runEnvironment } from './run-environment.ts';
import { copySqliteTemplate } from './sqlite-template.ts';
import { newTempFolder } from './temp-folder.ts';
import { databaseWaits as waits } from './time-limits.ts';
import { fixedRootKeys } from './fixed-root-keys.ts';

/** The location of a database, by default without tables. */
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
export const testRootKeys = fixedRootKeys(Buffer.alloc(32, 7), Date.UTC(2026, 10, 1));
export const testKeys = deriveKeys(testRootKeys.newest);

export const databaseKinds = ['sqlite', 'postgres'] as const satisfies readonly Dialect[];

/**
 * The databases for tests that do not depend on the database: `npm test` uses SQLite, the extended lane PostgreSQL
 * (`TEST_DATABASES`). A part of the tests that a developer runs uses both.
 */
export const testedKinds: readonly Dialect[] = databaseKinds.filter(
  (kind) => (runEnvironment.databases ?? kind) === kind,
);

/** The database kind of the running test, which is the default for new databases. */
export const currentKind = new AsyncLocalStorage<Dialect>();

interface PlaceOptions {
  /** Whether it has the tables of the newest schema. */
  readonly isMigrated?: boolean;
}

export async function newPlace(
  kind: Dialect = currentKind.getStore() ?? 'sqlite',
  { isMigrated = false }: PlaceOptions = {},
): Promise<DatabasePlace> {
  if (kind === 'sqlite') {
    const folder = newTempFolder();
    const path = join(folder.path, 'keyreeve.db');
    const url = `sqlite:${path}`;
    if (isMigrated) {
      await copySqliteTemplate(path);
      // A database without its master key is rejected.
      await createMasterKey(masterKeyPath(path));
    }
    return {
      kind,
      url,
      environment: { KEYREEVE_DATABASE_URL: url },
      [Symbol.asyncDispose]: () => Promise.resolve(folder[Symbol.dispose]()),
    };
  }
  const database = await (await sharedPostgres()).createDatabase(isMigrated ? migratedTemplate : undefined);
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
export const databases = Object.fromEntries(
  databaseKinds.map((kind) => [kind, () => newDb(kind, { isMigrated: true })]),
);

/** The SQLite database without tables, for tests of its writer. */
export const newSqliteDb = (): Promise<TestDb> => newDb('sqlite');

async function newDb(kind: Dialect, options: PlaceOptions = {}): Promise<TestDb> {
  const place = await newPlace(kind, options);
  const connections: Db[] = [];
  const connect = async (): Promise<Db> => {
    const db = await openDatabase({ ...databaseUrl(place.url), waits }, testKeys.auditChain);
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
