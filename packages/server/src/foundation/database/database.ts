/** The location of a database, and its driver. Only this file refers to every driver. */
import { existsSync } from 'node:fs';
import type { DatabaseWaits } from './database-waits.ts';
import type { AuditKey, BeforeRead, Db } from './db.ts';
import type { PostgresLocation } from './postgres-url.ts';
import type { SqliteDb } from './sqlite.ts';

export interface SqliteLocation {
  readonly kind: 'sqlite';
  /** Absolute path of the file. */
  readonly path: string;
  /** Files of procedures that the writer thread loads at its start. Default: none. */
  readonly procedures?: readonly string[];
  /** Default: those of the product. */
  readonly waits?: DatabaseWaits;
}

export type DatabaseLocation = SqliteLocation | PostgresLocation;

/**
 * Opens a database. An embedded database is created if it does not exist.
 * @param auditKey for the audit events of transactions
 * @param beforeRead of a process that only reads; see {@link BeforeRead}
 * @throws DomainError `unavailable`
 */
export async function openDatabase(
  location: DatabaseLocation,
  auditKey: AuditKey,
  beforeRead?: BeforeRead,
): Promise<Db> {
  // Loads only the driver in use.
  switch (location.kind) {
    case 'sqlite': {
      const { SqliteDb } = await import('./sqlite.ts');
      const { path, procedures = [], waits } = location;
      if (beforeRead) return SqliteDb.openReader(path, auditKey, beforeRead);
      const db = await SqliteDb.open(path, auditKey, { waits, procedures });
      const { UsageFile } = await import('./usage-file.ts');
      const open = async (usagePath: string): Promise<typeof db> => {
        const file = await SqliteDb.open(usagePath, auditKey, { waits, isBackground: true });
        file.limitCache(usageCacheKib);
        return file;
      };
      db.storeUsageIn(new UsageFile(db, path, open));
      return db;
    }
    case 'postgres':
      return (await import('./postgres.ts')).PostgresDb.open(location, auditKey, beforeRead);
  }
}

/** A database that is only read. No file is created or changed. */
export interface ReadDatabase extends Pick<Db, 'dialect' | 'all' | 'get' | 'snapshot' | 'close'> {
  /** The second file; undefined if it is missing, cannot be read, or belongs to another database. */
  readonly usage: Pick<Db, 'snapshot'> | undefined;
}

/** Opens an embedded database that exists. @throws DomainError `unavailable` */
export async function openForReads({ path }: SqliteLocation, auditKey: AuditKey): Promise<ReadDatabase> {
  const { SqliteDb } = await import('./sqlite.ts');
  const { findUsagePair, isPair, usagePathOf } = await import('./usage-file.ts');
  const open = (file: string): SqliteDb => SqliteDb.openReader(file, auditKey, (read) => read?.assertInPlace());
  const main = open(path);
  const usage = existsSync(usagePathOf(path)) ? orNothing(() => open(usagePathOf(path))) : undefined;
  const isOwn = async (): Promise<boolean> =>
    usage !== undefined && isPair(await findUsagePair(usage, 'file'), await findUsagePair(main, 'main'));
  return {
    dialect: main.dialect,
    all: (statement, values) => main.all(statement, values),
    get: (statement, values) => main.get(statement, values),
    snapshot: (body) => main.snapshot(body),
    usage: (await isOwn().catch(() => false)) ? usage : undefined,
    close: async () => {
      await usage?.close();
      await main.close();
    },
  };
}

function orNothing<T>(open: () => T): T | undefined {
  try {
    return open();
  } catch {
    return undefined;
  }
}

/** Of reads of the second file, which lists of keys and the housekeeping make. */
const usageCacheKib = 4_096;

/** The database URL without the password, for messages and logs. */
export function describeDatabase(location: DatabaseLocation): string {
  if (location.kind === 'sqlite') return location.path;
  const { user, hosts, database } = location;
  const sockets = hosts.filter(({ host }) => host.startsWith('/'));
  if (sockets.length > 0) return `postgres://${user}@/${database}?host=${sockets.map(({ host }) => host).join(',')}`;
  const listed = hosts.map(({ host, port }) => `${host.includes(':') ? `[${host}]` : host}:${port}`);
  return `postgres://${user}@${listed.join(',')}/${database}`;
}
