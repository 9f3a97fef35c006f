/** Describes errors of the database: which database, what failed, and what to do. */
import { processEnvironment, readConfig } from '../app/configuration/config.ts';
import { describeDatabase, type DatabaseLocation } from '../foundation/database/database.ts';

/** The first pattern that matches the driver's message determines the remedy. */
const remedies: readonly (readonly [message: RegExp, remedy: string])[] = [
  [
    /does not keep sessions/,
    'Set its pool_mode to session for this database, or name PostgreSQL itself in KEYREEVE_DATABASE_URL',
  ],
  [/^the ssl\w+ /, 'Put the file there, or correct KEYREEVE_DATABASE_URL'],
  [/needs version \d+ or newer/, 'Upgrade the server'],
  [/no schema has been selected/, 'Create the schema, or correct options or schema in KEYREEVE_DATABASE_URL'],
  [/channel_binding=require/, 'Name PostgreSQL itself, or remove channel_binding from KEYREEVE_DATABASE_URL'],
  [
    /unable to open database file/,
    'Check that the folder exists, that its disk is not read-only, and that this user may read and write it',
  ],
  [/readonly database/, 'Give this user write access to the file and to its folder'],
  [
    /file is not a database|malformed/,
    'Check KEYREEVE_DATABASE_URL, or restore a backup: keyreeve restore --from FILE',
  ],
  [/database or disk is full|ENOSPC|No space left/, 'Free space on its disk'],
  [/disk I\/O error/, 'Check the disk and the kernel log'],
  [/is locked/, 'Another process holds a lock on it: end that process, or run the command again'],
  [
    /ECONNREFUSED|ENOENT|timeout|ETIMEDOUT/,
    'Check that the server runs, and the host and port in KEYREEVE_DATABASE_URL',
  ],
  [/ENOTFOUND|EAI_AGAIN/, 'Check the host name in KEYREEVE_DATABASE_URL'],
  [
    /password authentication failed|no password supplied|SCRAM/,
    'Check the user and the password in KEYREEVE_DATABASE_URL',
  ],
  [/no pg_hba\.conf entry/, 'Allow this machine and user in pg_hba.conf, or set sslmode in KEYREEVE_DATABASE_URL'],
  [/role ".*" does not exist/, 'Create the role with createuser, or correct the user in KEYREEVE_DATABASE_URL'],
  [/database ".*" does not exist/, 'Create it with createdb'],
  [/permission denied/, 'Grant the role of KEYREEVE_DATABASE_URL access to its schema and tables'],
  [/too many clients|remaining connection slots/, 'Raise max_connections of the server, or run fewer instances'],
  [
    /does not support SSL|self.signed|certificate/,
    'Set sslmode and sslrootcert in KEYREEVE_DATABASE_URL, or KEYREEVE_DATABASE_CA',
  ],
  [/not proven to be the newest primary/, 'Check synchronous_standby_names and the state of that standby'],
  [/standby or read-only/, 'Name the primary in KEYREEVE_DATABASE_URL'],
];

/** @param message what the driver reported */
export function describeDatabaseFailure(message: string): string {
  const remedy = remedies.find(([pattern]) => pattern.test(message))?.[1] ?? 'Run keyreeve doctor';
  return `the database ${configuredDatabase()} cannot be used: ${message}. ${remedy}.`;
}

/** Without the password. */
function configuredDatabase(): string {
  let location: DatabaseLocation;
  try {
    location = readConfig(processEnvironment()).database;
  } catch {
    // The configuration is not valid, so the command reports that error instead.
    return '';
  }
  return describeDatabase(location);
}
