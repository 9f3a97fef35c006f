/** Where a database lies, and opening it: the one place that knows every driver. */
import type { AuditKey, Db } from './db.ts';
import type { PostgresLocation } from './postgres-url.ts';

export interface SqliteLocation {
  readonly kind: 'sqlite';
  /** Absolute path of the file. */
  readonly path: string;
}

export type DatabaseLocation = SqliteLocation | PostgresLocation;

/**
 * An embedded database is made if it doesn't exist.
 * @param auditKey with it transactions record what they change
 * @throws DomainError `unavailable`
 */
export async function openDatabase(address: DatabaseLocation, auditKey: AuditKey): Promise<Db> {
  // Each loads its driver alone: a start pays for no other.
  switch (address.kind) {
    case 'sqlite':
      return (await import('./sqlite.ts')).SqliteDb.open(address.path, auditKey);
    case 'postgres':
      return (await import('./postgres.ts')).PostgresDb.open(address, auditKey);
  }
}

/** For people and logs: never with a password. */
export function describeDatabase(address: DatabaseLocation): string {
  if (address.kind === 'sqlite') return address.path;
  const { user, host, port, database } = address;
  return host.startsWith('/')
    ? `postgres://${user}@/${database}?host=${host}`
    : `postgres://${user}@${host.includes(':') ? `[${host}]` : host}:${port}/${database}`;
}
