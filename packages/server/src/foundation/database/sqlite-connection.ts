/** A connection to an SQLite file: its settings, prepared statements, and the oldest supported library. */
import { closeSync, existsSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { monotonicMs } from '../clock.ts';

/** Older versions can corrupt a WAL file that two processes open (https://sqlite.org/wal.html#walresetbug). */
const sqliteOldest = [3, 51, 3] as const;
export const busyTimeoutMs = 5_000;
/** Interval of attempts while another process holds the lock of the file. */
export const lockRetryMs = 10;
/** https://sqlite.org/rescode.html#busy */
const sqliteBusy = 5;
/** Page cache, which is most of the service's memory. */
const cacheKib = { read: 40_960, write: 4_096 } as const;

export function createFile(path: string): void {
  if (existsSync(path)) return;
  // Only this user may read the folder and the file. SQLite gives -wal and -shm the same mode.
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  closeSync(openSync(path, 'a', 0o600));
}

export class SqliteConnection {
  readonly #database: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();

  constructor(path: string, access: 'read' | 'write') {
    assertLibrary();
    this.#database = new DatabaseSync(path, { timeout: busyTimeoutMs, enableForeignKeyConstraints: true });
    enterWalMode(this.#database);
    // In WAL mode, NORMAL may lose acknowledged commits at a power failure (https://sqlite.org/pragma.html#pragma_synchronous).
    this.#database.exec(
      `pragma synchronous = full; pragma trusted_schema = off; pragma cache_size = -${cacheKib[access]}`,
    );
    if (access === 'read') this.#database.exec('pragma query_only = on');
  }

  exec(text: string): void {
    this.#database.exec(text);
  }

  get isTransaction(): boolean {
    return this.#database.isTransaction;
  }

  /** Prepares each text once. */
  prepare(text: string): StatementSync {
    let statement = this.#statements.get(text);
    if (!statement) this.#statements.set(text, (statement = this.#database.prepare(text)));
    return statement;
  }

  close(): void {
    this.#database.close();
  }
}

/**
 * SQLite does not wait for another process that changes the mode of a new file at the same time
 * (https://sqlite.org/wal.html#sometimes_queries_return_sqlite_busy_in_wal_mode), so this function does.
 * @throws Error if the file stays locked
 */
function enterWalMode(database: DatabaseSync): void {
  const untilMs = monotonicMs() + busyTimeoutMs;
  for (;;) {
    try {
      return database.exec('pragma journal_mode = wal');
    } catch (error) {
      if (!isBusy(error) || monotonicMs() >= untilMs) throw error;
    }
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, lockRetryMs);
  }
}

/** Whether SQLite has failed because of a lock. The low byte is the primary result code. */
export const isBusy = (error: unknown): boolean =>
  (((error as { errcode?: number }).errcode ?? 0) & 0xff) === sqliteBusy;

function assertLibrary(): void {
  const found = (process.versions['sqlite'] ?? '0').split('.').map(Number);
  for (const [index, min] of sqliteOldest.entries()) {
    const part = found[index] ?? 0;
    if (part > min) return;
    if (part < min)
      throw new Error(`SQLite ${sqliteOldest.join('.')} or newer is required; this Node has ${found.join('.')}`);
  }
}
