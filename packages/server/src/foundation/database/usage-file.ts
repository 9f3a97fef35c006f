/**
 * The second file of an embedded database: usage and times of last use of keys. Flushes of verifications write to it, so that
 * they leave the page cache of the connection that verifies as it is. It has its own connections, a writer thread of lower
 * priority, and is opened when it is first needed. Its loss loses counts, never keys.
 *
 * Both files have the generation of the pair, which is random, and the second one counts its commits. The main file has that
 * count as of the last minute. A file of another generation is of another installation, or from before a restore: its rows are
 * removed. A file with fewer commits is an older copy: its rows stay. Both, and a new file, get a new generation, and the
 * days without a use of keys count anew. A file that SQLite cannot use gets another name.
 */
import { randomBytes } from 'node:crypto';
import { closeSync, existsSync, fchownSync, openSync, realpathSync, renameSync, rmSync, statSync } from 'node:fs';
import { monotonicMs, systemClock } from '../clock.ts';
import { DomainError } from '../errors.ts';
import type { Db, Reader, SecondFile, Transaction, TransactionOptions, UsageFileRenewal } from './db.ts';
import { identityOf } from './file-identity.ts';
import { restartUnusedKeysCountTx } from './installation.ts';
import { countMissingMigrations, migrate, SchemaError } from './migrate.ts';
import { ownFile } from '../own-files.ts';
import type { SqliteDb } from './sqlite.ts';
import { sql, type SqlValue, type Statement } from './sql.ts';
import { unavailable } from './unavailable.ts';

/** Beside the target of a symbolic link, as `-wal` and `-shm` are: every name of a database leads to the same second file. */
export const usagePathOf = (databasePath: string): string =>
  `${existsSync(databasePath) ? realpathSync(databasePath) : databasePath}.usage`;

/** The name of a file that SQLite could not use. A later one replaces it. */
const unusablePathOf = (path: string): string => `${path}.unusable`;

/** After a failure to open the file, calls fail without another attempt, which takes a thread. */
const reopenAfterMs = 1_000;

const folder = ownFile('foundation/database/usage-migrations/');

interface Pair {
  /** Null in a main file: it never had a second file. */
  readonly generation: string | null;
  /** Of the second file. */
  readonly commits: number;
}

const selectOfFile = sql<Pair>('select_usage_file', 'select generation, commits from usage_file where id = 1');
const selectOfMain = sql<Pair>(
  'select_usage_generation',
  'select usage_generation as generation, usage_commits as commits from installation where id = 1',
);
const countCommit = sql<Pair>(
  'count_usage_commit',
  'update usage_file set commits = commits + 1 where id = 1 returning generation, commits',
);
const recordCommits = sql(
  'record_usage_commits',
  'update installation set usage_commits = $2 where id = 1 and usage_generation = $1 and usage_commits < $2',
);
const setOfMain = sql(
  'set_usage_generation',
  'update installation set usage_generation = $1, usage_commits = $2 where id = 1',
);
const setOfFile = sql(
  'set_usage_file',
  `insert into usage_file (id, generation, commits) values (1, $1, 0)
   on conflict (id) do update set generation = excluded.generation`,
);
const clearUsage = sql('clear_usage_file', 'delete from key_usage');
const clearLastUses = sql('clear_last_uses_of_file', 'delete from key_last_uses');

/** @returns undefined in a main file without an installation */
export const findUsagePair = (reader: Reader, file: 'file' | 'main'): Promise<Pair | undefined> =>
  reader.get(file === 'file' ? selectOfFile : selectOfMain);

/** The database gets the rows of a second file afterwards, or none: any file that exists is not of this content. */
export const forgetUsageFileTx = async (tx: Transaction): Promise<void> => void (await tx.run(setOfMain, [null, 0]));

/** Whether a second file is the one that belongs to a main file, with everything that the main file knows of. */
export const isPair = (file: Pair | undefined, main: Pair | undefined): boolean =>
  file !== undefined && (main === undefined || (file.generation === main.generation && file.commits >= main.commits));

export class UsageFile implements SecondFile {
  readonly path: string;
  onRenewed: (reason: UsageFileRenewal) => void = () => undefined;
  readonly #main: Db;
  readonly #databasePath: string;
  readonly #open: (path: string) => Promise<SqliteDb>;
  #opened: Promise<SqliteDb> | undefined;
  #pair: Pair = { generation: null, commits: 0 };
  /** The identity of a file that SQLite cannot use. */
  #unusable: { readonly identity: string | undefined } | undefined;
  /** The last failure to open the file. */
  #failed: { readonly error: DomainError; readonly untilMs: number } | undefined;
  readonly #nowMs: () => number;
  #isClosed = false;

  /** @param open opens the file, which exists @param nowMs monotonic */
  constructor(main: Db, databasePath: string, open: (path: string) => Promise<SqliteDb>, nowMs = monotonicMs) {
    this.#main = main;
    this.#databasePath = databasePath;
    this.path = usagePathOf(databasePath);
    this.#open = open;
    this.#nowMs = nowMs;
  }

  all<Row>(statement: Statement<Row>, values?: readonly SqlValue[]): Promise<Row[]> {
    return this.#use((db) => db.all(statement, values));
  }

  get<Row>(statement: Statement<Row>, values?: readonly SqlValue[]): Promise<Row | undefined> {
    return this.#use((db) => db.get(statement, values));
  }

  /** `body` may use the main file: the lock of this file comes first, so no transaction of the main file may use this one. */
  transaction<T>(body: (tx: Transaction) => Promise<T>, options?: TransactionOptions): Promise<T> {
    let isOfMain = false;
    const run = async (tx: Transaction): Promise<readonly [T, Pair | undefined]> => {
      const counted = tx.get(countCommit);
      counted.catch(() => undefined);
      try {
        return [await body(tx), await counted];
      } catch (error) {
        // After a statement of this file has failed, this one fails as well.
        isOfMain = (await findUsagePair(tx, 'file').catch(() => undefined)) !== undefined;
        throw error;
      }
    };
    return this.#use(
      async (db) => {
        const [value, pair] = await db.transaction(run, options);
        if (pair) this.#pair = pair;
        return value;
      },
      () => !isOfMain,
    );
  }

  snapshot<T>(body: (reader: Reader) => Promise<T>): Promise<T> {
    let isOpen = false;
    const run = (reader: Reader): Promise<T> => {
      isOpen = true;
      return body(reader);
    };
    return this.#use(
      (db) => db.snapshot(run),
      () => !isOpen,
    );
  }

  recordCommitsTx(tx: Transaction): void {
    const { generation, commits } = this.#pair;
    // Also if nothing has changed: a transaction that recorded the number may have been rolled back.
    if (generation !== null) tx.enqueue(recordCommits, [generation, commits]);
  }

  async reopen(): Promise<void> {
    const opened = this.#opened;
    this.#opened = undefined;
    this.#failed = undefined;
    await (await opened?.catch(() => undefined))?.close();
    await this.#use(() => Promise.resolve());
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await (await this.#opened?.catch(() => undefined))?.close();
  }

  /** @param isOwn whether an error is of this file. Default: yes. A caller's code may also use the main file. */
  async #use<T>(run: (db: SqliteDb) => Promise<T>, isOwn = () => true): Promise<T> {
    const db = await this.#usable();
    try {
      return await run(db);
    } catch (error) {
      if (isUnusable(error) && isOwn()) this.#unusable = { identity: db.file.identity[0] };
      throw error;
    }
  }

  /** @returns the file at the path, which is opened again if it was replaced or has failed */
  async #usable(): Promise<SqliteDb> {
    if (this.#isClosed) throw unavailable(new Error('the database is closed'));
    if (!this.#opened && this.#failed && this.#nowMs() < this.#failed.untilMs) throw this.#failed.error;
    const current = (this.#opened ??= this.#openPair());
    try {
      const db = await current;
      if (!this.#unusable) db.file.compare();
      if (!this.#unusable) return db;
    } catch (error) {
      // Undefined if the file could not be opened.
      if (!(await isOpened(current))) {
        if (this.#opened === current) {
          this.#opened = undefined;
          this.#failed = { error: unavailable(error), untilMs: this.#nowMs() + reopenAfterMs };
        }
        throw unavailable(error);
      }
    }
    // Another call may have opened the file again.
    if (this.#opened !== current) return this.#usable();
    this.#opened = current.then((db) => db.close()).then(() => this.#openPair());
    return this.#usable();
  }

  async #openPair(): Promise<SqliteDb> {
    for (let attempt = 1; ; attempt++) {
      const wasPutAside = this.#putAside();
      let db: SqliteDb | undefined;
      try {
        this.#create();
        db = await this.#open(this.path);
        if ((await countMissingMigrations(db, folder)) > 0) await migrate(db, systemClock, { folder });
        this.#pair = await this.#recognised(db, wasPutAside);
        return db;
      } catch (error) {
        await db?.close();
        if (attempt > 1 || !isUnusable(error)) throw unavailable(error);
        this.#unusable = { identity: identityOf(this.path) };
      }
    }
  }

  /** Checks that the two files belong together, and otherwise makes them a pair. */
  async #recognised(db: SqliteDb, wasPutAside: boolean): Promise<Pair> {
    const main = await findUsagePair(this.#main, 'main');
    const found = await findUsagePair(db, 'file');
    if (found && isPair(found, main)) return found;
    const { generation, commits, reason } = await db.transaction(async (tx) => {
      const file = await findUsagePair(tx, 'file');
      const joined = await this.#main.transaction((mainTx) => joinTx(mainTx, file));
      // After the commit of the main file: if this process is killed between the two, the next one removes the rows as well.
      if (joined.isForeign) {
        tx.enqueue(clearUsage);
        tx.enqueue(clearLastUses);
      }
      if (joined.isNew) await tx.run(setOfFile, [joined.generation]);
      return { ...joined, commits: file?.commits ?? 0 };
    });
    if (reason) this.onRenewed(wasPutAside ? 'unusable' : reason);
    return { generation, commits };
  }

  /** Root, which runs a command, gives the file to the owner of the database: on the descriptor, as in `file-owner.ts`. */
  #create(): void {
    let descriptor: number;
    try {
      descriptor = openSync(this.path, 'ax', 0o600);
    } catch (error) {
      // Another process may have created it.
      if (existsSync(this.path)) return;
      throw error;
    }
    try {
      const { uid, gid } = statSync(this.#databasePath);
      if (process.getuid?.() === 0) fchownSync(descriptor, uid, gid);
    } finally {
      closeSync(descriptor);
    }
  }

  /** A process that has the file open finds that it was replaced, and opens the new one. */
  #putAside(): boolean {
    const unusable = this.#unusable;
    this.#unusable = undefined;
    if (!unusable || !existsSync(this.path) || identityOf(this.path) !== unusable.identity) return false;
    renameSync(this.path, unusablePathOf(this.path));
    // SQLite ignores and deletes those of an empty file.
    for (const suffix of ['-wal', '-shm']) rmSync(`${this.path}${suffix}`, { force: true });
    return true;
  }
}

const isOpened = (opening: Promise<SqliteDb>): Promise<boolean> =>
  opening.then(
    () => true,
    () => false,
  );

interface Joined {
  readonly generation: string | null;
  /** Undefined if nothing was lost. */
  readonly reason?: UsageFileRenewal;
  readonly isNew: boolean;
  /** Whether the rows of the second file are of another database. */
  readonly isForeign: boolean;
}

/** Gives the main file the generation of the second one, which follows. */
async function joinTx(tx: Transaction, file: Pair | undefined): Promise<Joined> {
  const main = await findUsagePair(tx, 'main');
  // Another process has made the files a pair meanwhile.
  if (file && isPair(file, main)) return { generation: file.generation, isNew: false, isForeign: false };
  const generation = randomBytes(16).toString('hex');
  const isForeign = file?.generation !== main?.generation;
  await tx.run(setOfMain, [generation, isForeign ? 0 : (file?.commits ?? 0)]);
  const made = { generation, isNew: true, isForeign };
  // A database without a second file has no uses that could be missing.
  if (!main || main.generation === null) return made;
  await restartUnusedKeysCountTx(tx);
  return { ...made, reason: !file ? 'missing' : isForeign ? 'foreign' : 'older' };
}

/** Messages of SQLite about files that are damaged or have other tables (https://sqlite.org/rescode.html#corrupt, #notadb). */
const unusableMessages = /file is not a database|malformed|already exists|no such (?:table|column)|has no column/;

function isUnusable(error: unknown): boolean {
  if (error instanceof SchemaError) return true;
  const cause = error instanceof DomainError ? error.cause : error;
  return cause instanceof Error && unusableMessages.test(cause.message);
}
