/** Reads a backup: verifies its installation in the first line, and its integrity in the last line. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import type { InstallationKeys } from '../../foundation/crypto/master-key.ts';
import { linesOf } from '../../foundation/lines.ts';
import { madeBeforeFirstRelease } from '../../foundation/made-before.ts';
import { openLine, sealedLineBytesMax } from '../../foundation/sealed-line.ts';
import { DecryptionError } from './encryption.ts';
import {
  BackupError,
  endMacOf,
  formatName,
  formatVersion,
  type BackupEnd,
  type BackupHeader,
  type BackupRows,
  type ChangeBytes,
} from './format.ts';
import type { Counts } from './table.ts';

export interface BackupFile {
  readonly path: string;
  /** Undefined: an encrypted file is rejected. */
  readonly decrypt?: ChangeBytes | undefined;
}

/** @param schemaNewest the newest schema that this program knows @throws BackupError, Error of the file system */
export async function readHeader(file: BackupFile, schemaNewest: number): Promise<BackupHeader> {
  for await (const line of backupLinesOf(file)) return acceptHeader(line, file.path, schemaNewest);
  throw damaged(file.path);
}

/**
 * Yields the rows. The backup is verified after the last row, so the caller must be able to undo what it did with them.
 * @throws BackupError at the latest at the end, for a file that is damaged or was edited
 */
export async function* readRows(file: BackupFile, keys: InstallationKeys): AsyncGenerator<BackupRows> {
  const { path } = file;
  const digest = createHash('sha256');
  const counts: Record<string, number> = {};
  let isHeader = true;
  let counted: Counts | undefined;
  for await (const line of backupLinesOf(file)) {
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
export async function verifyBackup(file: BackupFile, keys: InstallationKeys): Promise<void> {
  const rows = readRows(file, keys);
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
async function* backupLinesOf({ path, decrypt }: BackupFile): AsyncGenerator<Buffer> {
  const file = createReadStream(path);
  try {
    for await (const { bytes, isEnded } of linesOf(plainBytes(file, { path, decrypt }), sealedLineBytesMax)) {
      if (!bytes) throw damaged(path);
      if (!isEnded) throw new BackupError(`${path} is cut off: its end is missing`);
      yield bytes;
    }
  } catch (error) {
    const isOfBytes =
      error instanceof DecryptionError ||
      (error instanceof Error && 'code' in error && String(error.code).startsWith('Z_'));
    throw isOfBytes ? damaged(path) : error;
  } finally {
    file.destroy();
  }
}

/** Decrypts and decompresses what is encrypted or compressed. */
async function* plainBytes(
  source: AsyncIterable<Uint8Array>,
  { path, decrypt }: BackupFile,
): AsyncGenerator<Uint8Array> {
  const file = await withStart(source);
  const isEncrypted = file.start.subarray(0, ageStart.length).equals(ageStart);
  if (isEncrypted && !decrypt)
    throw new BackupError(`${path} is encrypted; name the file of its identity with --identity`);
  const { start, bytes } = isEncrypted && decrypt ? await withStart(decrypt(file.bytes)) : file;
  const isCompressed = start.length >= 2 && start.readUInt16BE() === 0x1f8b;
  // An error of one stream ends both, and the loop throws it.
  yield* isCompressed ? pipeline(bytes, createGunzip(), () => undefined) : bytes;
}

/** The first line of every encrypted file (C2SP age, section “Header”). */
const ageStart = Buffer.from('age-encryption.org/v1\n');

/** @returns the first bytes, at most those of the longest of the marks, and all bytes */
async function withStart(
  source: AsyncIterable<Uint8Array>,
): Promise<{ start: Buffer; bytes: AsyncIterable<Uint8Array> }> {
  const chunks = source[Symbol.asyncIterator]();
  let start = Buffer.alloc(0);
  while (start.length < ageStart.length) {
    const { done, value } = await chunks.next();
    if (done === true) break;
    start = Buffer.concat([start, value]);
  }
  async function* bytes(): AsyncGenerator<Uint8Array> {
    try {
      if (start.length > 0) yield start;
      for (let next = await chunks.next(); next.done !== true; next = await chunks.next()) yield next.value;
    } finally {
      await chunks.return?.();
    }
  }
  return { start, bytes: bytes() };
}
