/**
 * The files of an embedded database, compared by device and inode with those that this process has open. When another
 * file takes the path, an open connection keeps reading the earlier one, and processes that open the path later read the
 * new one: a key that was deleted in one file still works in the other. So a difference stops the process.
 *
 * An inode number is not reused while a connection holds the file open. The check uses `stat` alone: closing another
 * descriptor of the file would release SQLite's locks on it (https://sqlite.org/howtocorrupt.html, section 2.2).
 */
import { realpathSync, statSync } from 'node:fs';

const compareEveryMs = 1_000;

/** Device and inode of the database file, its `-wal` and its `-shm`. Undefined values are not compared. */
export type FileIdentity = readonly (string | undefined)[];

/** The service cannot continue: it would serve a file that other processes do not see. */
export class DatabaseReplacedError extends Error {
  /** The exit status of the service. */
  readonly status = 1;
  readonly path: string;

  constructor(path: string) {
    super(`the file ${path} was replaced or removed while it was open`);
    this.path = path;
  }
}

/** @returns undefined for a missing file, and on file systems without inode numbers */
export function identityOf(path: string): string | undefined {
  try {
    const { dev, ino } = statSync(path, { bigint: true });
    return ino === 0n ? undefined : `${dev}:${ino}`;
  } catch {
    return undefined;
  }
}

export class DatabaseFile {
  readonly identity: FileIdentity;
  readonly #paths: readonly string[];
  readonly #replaced = Promise.withResolvers<DatabaseReplacedError>();
  readonly #timer: NodeJS.Timeout;
  #error: DatabaseReplacedError | undefined;

  /** @param path of a file that a connection of this process has open, and has read in WAL mode */
  constructor(path: string) {
    // SQLite creates `-wal` and `-shm` beside the target of a symbolic link. Their inodes stay while a connection is open.
    const target = realpathSync(path);
    this.#paths = [path, `${target}-wal`, `${target}-shm`];
    this.identity = this.#paths.map(identityOf);
    this.#timer = setInterval(() => this.#detect(this.identity), compareEveryMs).unref();
  }

  /** Resolves when the path holds another file or none. */
  get replaced(): Promise<DatabaseReplacedError> {
    return this.#replaced.promise;
  }

  /** Uses the last comparison, for reads. @throws DatabaseReplacedError */
  assertInPlace(): void {
    if (this.#error) throw this.#error;
  }

  /**
   * Compares now.
   * @param expected the identity in another process that must have the same files open
   * @throws DatabaseReplacedError
   */
  compare(expected?: FileIdentity): void {
    this.#detect(this.identity);
    if (expected) this.#detect(expected);
    this.assertInPlace();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #detect(expected: FileIdentity): void {
    if (this.#error) return;
    const replaced = this.#paths.find((path, index) => {
      const before = expected[index];
      return before !== undefined && identityOf(path) !== before;
    });
    if (replaced === undefined) return;
    this.#error = new DatabaseReplacedError(replaced);
    this.stop();
    this.#replaced.resolve(this.#error);
  }
}
