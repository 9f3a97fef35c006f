/** The variables that the runner of the tests (`scripts/test.ts`) sets for a test file. A file that runs alone has none. */

const read = (name: string): string | undefined => {
  const value = process.env[name];
  return value === '' ? undefined : value;
};

export const runEnvironment = {
  /** URL of the PostgreSQL server that all files share. */
  postgresUrl: read('TEST_POSTGRES_URL'),
  /** Path of a migrated SQLite file without rows. */
  sqliteTemplate: read('TEST_SQLITE_TEMPLATE'),
  /** The database for tests that do not depend on the database: `sqlite` or `postgres`. */
  databases: read('TEST_DATABASES'),
  /** The program PgBouncer, for a version other than that of the system. */
  pgbouncer: read('TEST_PGBOUNCER'),
  /** File for the time that each file takes. */
  times: read('TEST_TIMES'),
  /** The folders of programs. */
  path: read('PATH') ?? '',
  /** Whether a test fails without a program that it needs. Otherwise, it is not tried. */
  needsPrograms: read('CI') === 'true',
  /** Whether this is the process of a test file, and not the runner or a child of a test. */
  isTestFile: process.env['NODE_TEST_CONTEXT'] === 'child-v8',
} as const;
