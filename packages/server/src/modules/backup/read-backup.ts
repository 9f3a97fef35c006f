/** Reading a backup: whose it is at its start, whether it is whole and as it was written at its end. */
import { createHash, timingSafeEqual } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { createGunzip } from 'node:zlib';
import type { InstallationKeys } from '../../foundation/crypto/master-key.ts';
import {
  BackupError,
  formatName,
  formatVersion,
  lineBytesMax,
  type BackupEnd,
  type BackupHeader,
  type BackupRows,
} from './format.ts';
import type { Counts } from './tables.ts';

/** @param schemaNewest that this program knows @throws BackupError, Error of the file system */
export async function readHeader(path: string, keys: InstallationKeys, schemaNewest: number): Promise<BackupHeader> {
  for await (const line of linesOf(path)) return acceptHeader(line.toString(), path, keys, schemaNewest);
  throw damaged(path);
}

/**
 * The rows after the header, then it is checked: who takes them must be able to give them back.
 * @throws BackupError at the end when the file isn't what was written, or before when that shows sooner
 */
export async function* readRows(path: string, keys: InstallationKeys): AsyncGenerator<BackupRows> {
  const digest = createHash('sha256');
  const counts: Record<string, number> = {};
  let isHeader = true;
  let end: BackupEnd | undefined;
  for await (const line of linesOf(path)) {
    if (end) throw damaged(path);
    if (isHeader) {
      digest.update(line).update('\n');
      isHeader = false;
      continue;
    }
    const value = parse(line, path) as Partial<BackupRows & BackupEnd>;
    if (value.counts) {
      end = { counts: value.counts, mac: String(value.mac) };
      continue;
    }
    digest.update(line).update('\n');
    if (typeof value.table !== 'string' || !Array.isArray(value.rows)) throw damaged(path);
    const { table, rows } = value as BackupRows;
    counts[table] = (counts[table] ?? 0) + rows.length;
    yield { table, rows };
  }
  if (!end) throw new BackupError(`${path} is cut off: its end is missing`);
  digest.update(JSON.stringify({ counts: end.counts }));
  const expected = keys.backup.mac(digest.digest());
  const given = Buffer.from(end.mac, 'hex');
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) throw damaged(path);
  if (!areEqual(counts, end.counts)) throw damaged(path);
}

/** Whether the file is whole and as it was written. @throws BackupError when it isn't */
export async function verifyBackup(path: string, keys: InstallationKeys): Promise<void> {
  const rows = readRows(path, keys);
  while (!(await rows.next()).done);
}

function acceptHeader(text: string, path: string, keys: InstallationKeys, schemaNewest: number): BackupHeader {
  const header = parse(text, path) as BackupHeader;
  if (header.format !== formatName) throw new BackupError(`${path} is not a backup that Keyreeve made`);
  if (header.version !== formatVersion || header.schema > schemaNewest) {
    throw new BackupError(
      `${path} was made by Keyreeve ${header.program}, which is newer than this program; install that`,
    );
  }
  const given = Buffer.from(header.installation, 'hex');
  if (given.length !== keys.check.length || !timingSafeEqual(given, keys.check)) {
    throw new BackupError(`${path} was made with another master key; restoring it needs that one`);
  }
  return header;
}

const damaged = (path: string): BackupError => new BackupError(`${path} is damaged or was edited`);

function parse(line: Buffer | string, path: string): object {
  try {
    const value: unknown = JSON.parse(line.toString());
    if (typeof value === 'object' && value !== null) return value;
  } catch {
    // Told below.
  }
  throw damaged(path);
}

const areEqual = (found: Counts, told: Counts): boolean =>
  [...new Set([...Object.keys(found), ...Object.keys(told)])].every((name) => (found[name] ?? 0) === (told[name] ?? 0));

/** Without their line feeds. What comes after the last one is cut off, and left out. */
async function* linesOf(path: string): AsyncGenerator<Buffer> {
  const isCompressed = await startsLikeGzip(path);
  const file = createReadStream(path);
  const stream = isCompressed ? file.pipe(createGunzip()) : file;
  file.on('error', (error) => stream.destroy(error));
  let parts: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      let from = 0;
      for (let end = chunk.indexOf(0x0a); end >= 0; end = chunk.indexOf(0x0a, from)) {
        yield Buffer.concat([...parts, chunk.subarray(from, end)]);
        parts = [];
        bytes = 0;
        from = end + 1;
      }
      parts.push(chunk.subarray(from));
      bytes += chunk.length - from;
      if (bytes > lineBytesMax) throw damaged(path);
    }
  } catch (error) {
    if (error instanceof Error && 'code' in error && String(error.code).startsWith('Z_')) throw damaged(path);
    throw error;
  } finally {
    file.destroy();
  }
  if (bytes > 0) throw new BackupError(`${path} is cut off: its end is missing`);
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
