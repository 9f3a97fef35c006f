/** Makes a backup from one snapshot of the database, while the service runs. The file appears when it is complete. */
import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Readable } from 'node:stream';
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
  type StoredRootKey,
} from './format.ts';
import { verifyBackup } from './read-backup.ts';
import { pagesOf, storedTables } from './store.ts';
import type { Counts } from './table.ts';

export interface BackupOptions extends Core {
  readonly keys: InstallationKeys;
  /** Version of the program. */
  readonly version: string;
  /** Compressed when it ends in `.gz`. */
  readonly path: string;
  /** Whether the file is read and verified before it gets its name. Default: false. */
  readonly isReadBack?: boolean;
  /** Receives why the backup lacks usage and times of last use: the second file of an SQLite database cannot be read. */
  readonly onUsageMissing?: (error: DomainError) => void;
}

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
export async function writeBackup(options: BackupOptions): Promise<Counts> {
  const { db, keys, clock, version, path, isReadBack = false, onUsageMissing = () => undefined } = options;
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
  try {
    await createComplete(path, async (draft) => {
      await db.snapshot((reader) =>
        withUsage(db, { reader, onUsageMissing }, async (source) => {
          const header = { ...base, rootKeys: await rootKeysIn(reader) };
          const lines = Readable.from(linesOf(source, header, keys, counts));
          const file = createWriteStream(draft, { flags: 'wx', mode: 0o600, flush: true });
          await (path.endsWith('.gz') ? pipeline(lines, createGzip(), file) : pipeline(lines, file));
        }),
      );
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

const isRotated = async (db: Db, { check }: InstallationKeys): Promise<boolean> =>
  (await isInstallationOf(db, check)) === false;

const rotatedMeanwhile =
  'no backup was written: the root key has changed since this command has started; run the command again';

/** From the snapshot of the rows, so that the header and the rows belong together. */
const rootKeysIn = async (reader: Reader): Promise<StoredRootKey[]> =>
  (await listRootKeys(reader)).map((row) => ({ ...row, wrapped: Buffer.from(row.wrapped).toString('hex') }));

async function readBack(draft: string, keys: InstallationKeys): Promise<void> {
  try {
    await verifyBackup(draft, keys);
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
  { reader, usage, onUsageMissing }: Source,
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
  yield sealLine({ counts } satisfies BackupEnd, endMacOf(keys, digest));
}
