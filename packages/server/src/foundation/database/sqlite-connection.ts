/** Opening an SQLite file: its settings, prepared statements, and the oldest library that may touch it. */
import { closeSync, existsSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';

/** Below this a WAL file that two processes open can be corrupted (https://sqlite.org/wal.html#walresetbug). */
const sqliteOldest = [3, 51, 3] as const;
const busyTimeoutMs = 5_000;
/** Most of the memory that the service uses: pages of the file that a read finds without asking the system. */
const cacheKib = { read: 40_960, write: 4_096 } as const;

export function createFile(path: string): void {
  if (existsSync(path)) return;
  // The folder and the file hold credentials: for this user alone. SQLite gives its -wal and -shm the same mode.
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  closeSync(openSync(path, 'a', 0o600));
}

export class SqliteConnection {
  readonly #database: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();

  constructor(path: string, access: 'read' | 'write') {
    assertLibrary();
    this.#database = new DatabaseSync(path, { timeout: busyTimeoutMs, enableForeignKeyConstraints: true });
    // FULL, not NORMAL: in WAL mode NORMAL may lose acknowledged commits when the power fails (https://sqlite.org/pragma.html#pragma_synchronous).
    this.#database.exec(
      `pragma journal_mode = wal; pragma synchronous = full; pragma trusted_schema = off; pragma cache_size = -${cacheKib[access]}`,
    );
    if (access === 'read') this.#database.exec('pragma query_only = on');
  }

  exec(text: string): void {
    this.#database.exec(text);
  }

  /** A statement is prepared once per text. */
  prepare(text: string): StatementSync {
    let statement = this.#statements.get(text);
    if (!statement) this.#statements.set(text, (statement = this.#database.prepare(text)));
    return statement;
  }

  close(): void {
    this.#database.close();
  }
}

function assertLibrary(): void {
  const found = (process.versions['sqlite'] ?? '0').split('.').map(Number);
  for (const [place, least] of sqliteOldest.entries()) {
    const part = found[place] ?? 0;
    if (part > least) return;
    if (part < least)
      throw new Error(`SQLite ${sqliteOldest.join('.')} or newer is needed, this Node has ${found.join('.')}`);
  }
}
