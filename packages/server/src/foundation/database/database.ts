/** The location of a database, and its driver. Only this file refers to every driver. */
import type { AuditKey, Db } from './db.ts';
import type { RemoteCommits } from './remote-commits.ts';
import type { PostgresLocation } from './postgres-url.ts';

export interface SqliteLocation {
  readonly kind: 'sqlite';
  /** Absolute path of the file. */
  readonly path: string;
}

export type DatabaseLocation = SqliteLocation | PostgresLocation;

/**
 * Opens a database. An embedded database is created if it does not exist.
 * @param auditKey for the audit events of transactions
 * @param remote what writes for this process to an embedded database that another process has created
 * @throws DomainError `unavailable`
 */
export async function openDatabase(
  location: DatabaseLocation,
  auditKey: AuditKey,
  remote?: RemoteCommits,
): Promise<Db> {
  // Loads only the driver in use.
  switch (location.kind) {
    case 'sqlite': {
      const { SqliteDb } = await import('./sqlite.ts');
      return remote ? SqliteDb.openRemote(location.path, auditKey, remote) : SqliteDb.open(location.path, auditKey);
    }
    case 'postgres':
      return (await import('./postgres.ts')).PostgresDb.open(location, auditKey);
  }
}

/** The database URL without the password, for messages and logs. */
export function describeDatabase(location: DatabaseLocation): string {
  if (location.kind === 'sqlite') return location.path;
  const { user, host, port, database } = location;
  return host.startsWith('/')
    ? `postgres://${user}@/${database}?host=${host}`
    : `postgres://${user}@${host.includes(':') ? `[${host}]` : host}:${port}/${database}`;
}
