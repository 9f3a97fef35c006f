/**
 * Space for a start on a full disk. While the service runs on a full disk of its SQLite database, verifications continue. A start
 * needs some space: SQLite for the `-shm` file and the write-ahead log, the service for its first rows. A file beside the database
 * holds that space: `serve` deletes it before it opens the database, and writes it again when it has started.
 */
import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, openSync, rmSync, statfsSync, statSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Db } from '../../foundation/database/db.ts';
import { truncateWriteAheadLog } from '../../foundation/database/erase.ts';
import type { Config } from '../configuration/config.ts';

/** Several times what a start writes. */
export const reservedBytes = 2 ** 20;
const chunkBytes = 2 ** 16;
/** After an operator has freed space. */
const keepEveryMs = 600_000;

export const reservedPathOf = (databasePath: string): string => `${databasePath}.reserved`;

export class ReservedSpace {
  readonly #path: string;
  readonly #releasedBytes: number;
  #timer: NodeJS.Timeout | undefined;

  private constructor(path: string, releasedBytes: number) {
    this.#path = path;
    this.#releasedBytes = releasedBytes;
  }

  /** Call it before the database is opened. @returns undefined without an SQLite database */
  static release({ database }: Pick<Config, 'database'>): ReservedSpace | undefined {
    if (database.kind !== 'sqlite') return undefined;
    const path = reservedPathOf(database.path);
    const bytes = sizeOf(path);
    ignoringFailures(() => rmSync(path, { force: true }));
    return new ReservedSpace(path, bytes);
  }

  /** Call it when the start has succeeded. */
  async keep(db: Db): Promise<void> {
    // What the start has written to the log counts again at the next start.
    if (this.#freeBytes() < 2 * reservedBytes) await truncateWriteAheadLog(db);
    this.#timer = setInterval(() => this.#fill(), keepEveryMs).unref();
    this.#fill();
  }

  /** Call it when the start has failed. Where no space was reserved, there may be no database either. */
  keepReleased(): void {
    if (this.#releasedBytes > 0) this.#fill();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** At most half of the free space, so that the file does not fill the disk, except for what this start has released. */
  #fill(): void {
    const free = this.#freeBytes();
    const bytes = Math.max(Math.min(reservedBytes, free / 2), Math.min(this.#releasedBytes, free));
    ignoringFailures(() => {
      if (sizeOf(this.#path) < bytes) writeFile(this.#path, bytes);
    });
  }

  #freeBytes(): number {
    try {
      const { bavail, bsize } = statfsSync(dirname(this.#path));
      return bavail * bsize;
    } catch {
      return 0;
    }
  }
}

/** @returns a function that rethrows the error of a start */
export const keepAfterFailure =
  (space: ReservedSpace | undefined) =>
  async (error: unknown): Promise<never> => {
    space?.keepReleased();
    throw error;
  };

const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;

/** Random bytes, because some file systems compress. A disk that becomes full keeps what was written. */
function writeFile(path: string, bytes: number): void {
  const descriptor = openSync(path, 'w', 0o600);
  try {
    const chunk = randomBytes(chunkBytes);
    for (let written = 0; written < bytes;)
      written += writeSync(descriptor, chunk, 0, Math.min(chunkBytes, bytes - written));
  } finally {
    ignoringFailures(() => fsyncSync(descriptor));
    closeSync(descriptor);
  }
}

/** The service also runs without the file. */
function ignoringFailures(action: () => void): void {
  try {
    action();
  } catch {
    // A disk that is full or read-only.
  }
}
