/** Reads a backup: verifies its installation in the first line, and its integrity in the last line. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { createGunzip } from 'node:zlib';
import type { InstallationKeys } from '../../foundation/crypto/master-key.ts';
import { linesOf } from '../../foundation/lines.ts';
import { madeBeforeFirstRelease } from '../../foundation/made-before.ts';
import { openLine, sealedLineBytesMax } from '../../foundation/sealed-line.ts';
import {
  BackupError,
  endMacOf,
  formatName,
  formatVersion,
  type BackupEnd,
  type BackupHeader,
  type BackupRows,
} from './format.ts';
import type { Counts } from './table.ts';

/** @param schemaNewest the newest schema that this program knows @throws BackupError, Error of the file system */
export async function readHeader(path: string, schemaNewest: number): Promise<BackupHeader> {
  for await (const line of backupLinesOf(path)) return acceptHeader(line, path, schemaNewest);
  throw damaged(path);
}

/**
 * Yields the rows. The backup is verified after the last row, so the caller must be able to undo what it did with them.
 * @throws BackupError at the latest at the end, for a file that is damaged or was edited
 */
export async function* readRows(path: string, keys: InstallationKeys): AsyncGenerator<BackupRows> {
  const digest = createHash('sha256');
  const counts: Record<string, number> = {};
  let isHeader = true;
  let counted: Counts | undefined;
  for await (const line of backupLinesOf(path)) {
    if (counted) throw damaged(path);
    if (isHeader) {
      digest.update(line).update('\n');
      isHeader = false;
      continue;
    }
    const value = parse(line, path) as Partial<BackupRows & BackupEnd>;
    if (value.counts) {
      if (!openLine(line.toString(), endMacOf(keys, digest))) throw damaged(path);
      counted = value.counts;
      continue;
    }
    digest.update(line).update('\n');
    if (typeof value.table !== 'string' || !Array.isArray(value.rows)) throw damaged(path);
    const { table, rows } = value as BackupRows;
    counts[table] = (counts[table] ?? 0) + rows.length;
    yield { table, rows };
  }
  if (!counted) throw new BackupError(`${path} is cut off: its end is missing`);
  if (!areEqual(counts, counted)) throw damaged(path);
}

/** Verifies that the file is complete and unchanged. @throws BackupError otherwise */
export async function verifyBackup(path: string, keys: InstallationKeys): Promise<void> {
  const rows = readRows(path, keys);
  while (!(await rows.next()).done);
}

function acceptHeader(line: Buffer, path: string, schemaNewest: number): BackupHeader {
  const header = parse(line, path) as Omit<BackupHeader, 'version'> & { readonly version: number };
  if (header.format !== formatName) throw new BackupError(`${path} is not a backup of Keyreeve`);
  if (header.version === 1) throw new BackupError(`${path} ${madeBeforeFirstRelease}`);
  if (header.version !== formatVersion || header.schema > schemaNewest) {
    throw new BackupError(
      `${path} was made by Keyreeve ${header.program}, which is newer than this program; install that`,
    );
  }
  return { ...header, version: formatVersion };
}

export const damaged = (path: string): BackupError => new BackupError(`${path} is damaged or was edited`);

function parse(line: Buffer, path: string): object {
  try {
    const value: unknown = JSON.parse(line.toString());
    if (typeof value === 'object' && value !== null) return value;
  } catch {
    // Reported below.
  }
  throw damaged(path);
}

const areEqual = (found: Counts, counted: Counts): boolean =>
  [...new Set([...Object.keys(found), ...Object.keys(counted)])].every(
    (name) => (found[name] ?? 0) === (counted[name] ?? 0),
  );

/** Lines without their line feeds. @throws BackupError for a last line without a line feed */
async function* backupLinesOf(path: string): AsyncGenerator<Buffer> {
  const isCompressed = await startsLikeGzip(path);
  const file = createReadStream(path);
  const stream = isCompressed ? file.pipe(createGunzip()) : file;
  file.on('error', (error) => stream.destroy(error));
  try {
    for await (const { bytes, isEnded } of linesOf(stream as AsyncIterable<Buffer>, sealedLineBytesMax)) {
      if (!bytes) throw damaged(path);
      if (!isEnded) throw new BackupError(`${path} is cut off: its end is missing`);
      yield bytes;
    }
  } catch (error) {
    if (error instanceof Error && 'code' in error && String(error.code).startsWith('Z_')) throw damaged(path);
    throw error;
  } finally {
    file.destroy();
  }
}

async function startsLikeGzip(path: string): Promise<boolean> {
  const handle = await open(path, 'r');
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(2), 0, 2, 0);
    return bytesRead === 2 && buffer.readUInt16BE() === 0x1f8b;
  } finally {
    await handle.close();
  }
}
