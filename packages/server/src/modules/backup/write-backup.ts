/**
 * Makes a backup from one snapshot of the database, while the service runs. A file appears when it is complete. A stream has the
 * last line only if everything before it was sent.
 */
import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import type { Core } from '../../foundation/core.ts';
import { toInstant } from '../../foundation/clock.ts';
import { createComplete, FileExistsError } from '../../foundation/complete-file.ts';
import type { InstallationKeys } from '../../foundation/crypto/master-key.ts';
import type { Db, Reader } from '../../foundation/database/db.ts';
import { isInstallationOf } from '../../foundation/database/installation.ts';
import { newestSchema } from '../../foundation/database/migrate.ts';
import type { DomainError } from '../../foundation/errors.ts';
import { isUnavailable } from '../../foundation/database/unavailable.ts';
import { listRootKeys } from '../../foundation/database/root-keys.ts';
import { rulesVersion } from '../../foundation/database/key-rules.ts';
import { sealLine } from '../../foundation/sealed-line.ts';
import {
  BackupError,
  endMacOf,
  formatName,
  formatVersion,
  type BackupEnd,
  type BackupHeader,
  type ChangeBytes,
  type StoredRootKey,
} from './format.ts';
import { verifyBackup } from './read-backup.ts';
import { pagesOf, storedTables } from './store.ts';
import type { Counts } from './table.ts';

export interface BackupOptions extends Core {
  readonly keys: InstallationKeys;
  /** Version of the program. */
  readonly version: string;
  /** Default: the bytes are not encrypted. */
  readonly encrypt?: ChangeBytes | undefined;
  /** Receives why the backup lacks usage and times of last use: the second file of an SQLite database cannot be read. */
  readonly onUsageMissing?: (error: DomainError) => void;
}

export interface BackupFileOptions extends BackupOptions {
  /** Compressed when it ends in `.gz` or `.gz.age`. */
  readonly path: string;
  /** Whether the file is read and verified before it gets its name, which needs an unencrypted one. Default: false. */
  readonly isReadBack?: boolean;
}

/** Resolves when all bytes are stored. If `bytes` throws, what it has stored is not complete. */
export type Sink = (bytes: AsyncIterable<Uint8Array>) => Promise<void>;

/** By error code: what to do. */
const remedies: Readonly<Record<string, string>> = {
  ENOSPC: 'Free space on its disk',
  EDQUOT: 'Free space in the quota of this user',
  EROFS: 'Mount its disk for writing',
  EACCES: 'Give this user write access to the folder',
  EPERM: 'Give this user write access to the folder',
  ENOENT: 'Create or mount the folder',
};

/** @returns the number of rows by table @throws BackupError if the file exists or cannot be written */
export async function writeBackup(options: BackupFileOptions): Promise<Counts> {
  const { db, keys, path, isReadBack = false } = options;
  let counts: Counts = {};
  try {
    await createComplete(path, async (draft) => {
      counts = await makeBackup(options, {
        isCompressed: /\.gz(?:\.age)?$/.test(path),
        sink: (bytes) => pipeline(bytes, createWriteStream(draft, { flags: 'wx', mode: 0o600, flush: true })),
      });
      if (isReadBack) await readBack(draft, keys);
      // After the steps that can take minutes: a restore rejects a backup from before a rotation.
      if (await isRotated(db, keys)) throw new BackupError(rotatedMeanwhile);
    });
    // Again, because a rotation may have committed after the check and before the file got its name.
    if (await isRotated(db, keys)) {
      await rm(path, { force: true });
      throw new BackupError(rotatedMeanwhile);
    }
  } catch (error) {
    throw describe(error, path);
  }
  return counts;
}

/** Sends a compressed backup. @returns the number of rows by table @throws BackupError, the error of `sink` */
export async function sendBackup(options: BackupOptions, sink: Sink): Promise<Counts> {
  const { db, keys } = options;
  const assertSame = async (): Promise<void> => {
    if (await isRotated(db, keys)) throw new BackupError(rotatedMeanwhile);
  };
  const counts = await makeBackup(options, { isCompressed: true, beforeEnd: assertSame, sink });
  // Again, because a rotation may have committed after the last line was sent. A restore rejects the backup.
  await assertSame();
  return counts;
}

interface Way {
  readonly isCompressed: boolean;
  /** Called when all rows have been sent, before the last line. */
  readonly beforeEnd?: () => Promise<void>;
  readonly sink: Sink;
}

/** A generator, so that an error of the sink is not one of the compression, which the pipeline would report instead. */
const unchanged: ChangeBytes = async function* unchanged(bytes) {
  yield* bytes;
};

async function makeBackup(options: BackupOptions, { isCompressed, beforeEnd, sink }: Way): Promise<Counts> {
  const { db, keys, clock, version, encrypt = unchanged, onUsageMissing = () => undefined } = options;
  const base: Omit<BackupHeader, 'rootKeys'> = {
    format: formatName,
    version: formatVersion,
    program: version,
    schema: newestSchema(db.dialect),
    rules: rulesVersion,
    dialect: db.dialect,
    madeAt: toInstant(clock.now()),
    installation: keys.check.toString('hex'),
  };
  const counts: Record<string, number> = {};
  await db.snapshot((reader) =>
    withUsage(db, { reader, onUsageMissing, beforeEnd }, async (source) => {
      const header = { ...base, rootKeys: await rootKeysIn(reader) };
      const lines = Readable.from(linesOf(source, header, keys, counts));
      const compression = isCompressed ? createGzip() : new PassThrough();
      await pipeline(lines, compression, (bytes: AsyncIterable<Uint8Array>) => sink(encrypt(bytes)));
    }),
  );
  return counts;
}

const isRotated = async (db: Db, { check }: InstallationKeys): Promise<boolean> =>
  (await isInstallationOf(db, check)) === false;

const rotatedMeanwhile =
  'no backup was written: the root key has changed since this command has started; run the command again';

/** From the snapshot of the rows, so that the header and the rows belong together. */
const rootKeysIn = async (reader: Reader): Promise<StoredRootKey[]> =>
  (await listRootKeys(reader)).map((row) => ({ ...row, wrapped: Buffer.from(row.wrapped).toString('hex') }));

async function readBack(draft: string, keys: InstallationKeys): Promise<void> {
  try {
    await verifyBackup({ path: draft }, keys);
  } catch (error) {
    if (!(error instanceof BackupError)) throw error;
    throw new BackupError(`no backup was written: ${error.message} after it was written. Check the disk.`);
  }
}

function describe(error: unknown, path: string): unknown {
  if (error instanceof FileExistsError) return new BackupError(`${path} already exists; name another file`);
  if (!(error instanceof Error && 'code' in error && 'syscall' in error)) return error;
  const remedy = remedies[String(error.code)] ?? 'Check its disk and the kernel log';
  return new BackupError(`no backup was written to ${dirname(path)}: ${error.message}. ${remedy}.`, { cause: error });
}

interface Source {
  readonly reader: Reader;
  /** Of the tables of usage; undefined if their file cannot be read. Default: `reader`. */
  readonly usage?: Reader | undefined;
  readonly onUsageMissing: (error: DomainError) => void;
  readonly beforeEnd: (() => Promise<void>) | undefined;
}

/** Also reads the second file of an embedded database. Without it, the backup has everything but usage and times of last use. */
async function withUsage(db: Db, source: Source, write: (source: Source) => Promise<void>): Promise<void> {
  if (!db.usageFile) return write({ ...source, usage: source.reader });
  let isOpen = false;
  try {
    await db.usage.snapshot((usage) => {
      isOpen = true;
      return write({ ...source, usage });
    });
  } catch (error) {
    if (isOpen || !isUnavailable(error)) throw error;
    source.onUsageMissing(error);
    await write(source);
  }
}

async function* linesOf(
  { reader, usage, onUsageMissing, beforeEnd }: Source,
  header: BackupHeader,
  keys: InstallationKeys,
  counts: Record<string, number>,
): AsyncGenerator<string> {
  const digest = createHash('sha256');
  const line = (value: object): string => {
    const text = `${JSON.stringify(value)}\n`;
    digest.update(text);
    return text;
  };
  yield line(header);
  for (const table of storedTables.filter(({ isInBackup }) => isInBackup)) {
    counts[table.name] = 0;
    const from = table.isUsage ? usage : reader;
    if (!from) continue;
    try {
      for await (const rows of pagesOf(from, table)) {
        counts[table.name] = (counts[table.name] ?? 0) + rows.length;
        yield line({ table: table.name, rows });
      }
    } catch (error) {
      if (from === reader || !isUnavailable(error)) throw error;
      onUsageMissing(error);
    }
  }
  await beforeEnd?.();
  yield sealLine({ counts } satisfies BackupEnd, endMacOf(keys, digest));
}
