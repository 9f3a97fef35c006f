/** The location of a database, and its driver. Only this file refers to every driver. */
import type { DatabaseWaits } from './database-waits.ts';
import type { AuditKey, Db } from './db.ts';
import type { RemoteCommits } from './remote-commits.ts';
import type { PostgresLocation } from './postgres-url.ts';
import type { SqliteDb } from './sqlite.ts';
import type { StepRunner } from './sqlite-steps.ts';

export interface SqliteLocation {
  readonly kind: 'sqlite';
  /** Absolute path of the file. */
  readonly path: string;
  /** Reads use a memory mapping of this much of the file. Default: none. */
  readonly mappedMib?: number;
  /** Default: those of the product. */
  readonly waits?: DatabaseWaits;
}

export type DatabaseLocation = SqliteLocation | PostgresLocation;

export type EmbeddedWriter = 'thread' | 'direct' | RemoteCommits;

/**
 * Opens a database. An embedded database is created if it does not exist.
 * @param auditKey for the audit events of transactions
 * @param writer of an embedded database: a writer thread (default), this thread, or another process, which must have
 *   created the file
 * @throws DomainError `unavailable`
 */
export async function openDatabase(
  location: DatabaseLocation,
  auditKey: AuditKey,
  writer: EmbeddedWriter = 'thread',
): Promise<Db> {
  // Loads only the driver in use.
  switch (location.kind) {
    case 'sqlite': {
      const db = await openSqlite(location, auditKey, writer);
      const [{ UsageFile }, { SqliteDb }] = [await import('./usage-file.ts'), await import('./sqlite.ts')];
      const newWriter = await newUsageWriter(writer);
      const open = async (path: string): Promise<typeof db> => {
        const file = await SqliteDb.open(path, auditKey, newWriter, location.waits);
        file.limitCache(usageCacheKib);
        return file;
      };
      db.storeUsageIn(new UsageFile(db, location.path, open));
      return db;
    }
    case 'postgres':
      return (await import('./postgres.ts')).PostgresDb.open(location, auditKey);
  }
}

/** Of reads of the second file, which lists of keys and the housekeeping make. */
const usageCacheKib = 4_096;

async function openSqlite(location: SqliteLocation, auditKey: AuditKey, writer: EmbeddedWriter): Promise<SqliteDb> {
  const { SqliteDb } = await import('./sqlite.ts');
  const { path, mappedMib = 0, waits } = location;
  if (writer === 'direct') {
    const { DirectWriter } = await import('./direct-writer.ts');
    return SqliteDb.open(path, auditKey, () => new DirectWriter(path), waits);
  }
  const db =
    writer === 'thread'
      ? await SqliteDb.open(path, auditKey, undefined, waits)
      : SqliteDb.openRemote(path, auditKey, writer);
  if (mappedMib > 0) db.mapFile(mappedMib);
  return db;
}

/** Each process writes to the second file itself. */
async function newUsageWriter(writer: EmbeddedWriter): Promise<(path: string) => StepRunner> {
  if (writer === 'direct') {
    const { DirectWriter } = await import('./direct-writer.ts');
    return (path) => new DirectWriter(path);
  }
  const { WriterThread } = await import('./sqlite-writer-thread.ts');
  return (path) => new WriterThread(path, { isBackground: true });
}

/** The database URL without the password, for messages and logs. */
export function describeDatabase(location: DatabaseLocation): string {
  if (location.kind === 'sqlite') return location.path;
  const { user, hosts, database } = location;
  const sockets = hosts.filter(({ host }) => host.startsWith('/'));
  if (sockets.length > 0) return `postgres://${user}@/${database}?host=${sockets.map(({ host }) => host).join(',')}`;
  const listed = hosts.map(({ host, port }) => `${host.includes(':') ? `[${host}]` : host}:${port}`);
  return `postgres://${user}@${listed.join(',')}/${database}`;
}
