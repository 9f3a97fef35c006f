/** Where `keyreeve backup` writes: a file or folder, standard output, or S3-compatible storage. */
import { createWriteStream, fstatSync, fsync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { BackupError } from '../modules/backup/format.ts';
import type { Sink } from '../modules/backup/write-backup.ts';
import { isClosedPipe } from './closed-pipe.ts';
import { UsageError } from './failure.ts';

export type Target =
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'output' }
  /** `prefix`: the beginning of the names of objects, empty or with a slash at its end. */
  | { readonly kind: 'storage'; readonly bucket: string; readonly prefix: string };

/** @param text the value of `--to` @throws UsageError */
export function targetOf(text: string): Target {
  if (text === '-') return { kind: 'output' };
  if (!text.startsWith('s3://')) return { kind: 'file', path: resolve(text) };
  const [, bucket, path = ''] = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/([\w./-]*))?$/.exec(text) ?? [];
  // In a URL, they name another folder or bucket.
  const isOther = path.split('/').some((segment) => segment === '.' || segment === '..');
  if (bucket === undefined || isOther)
    throw new UsageError(`--to must be like s3://bucket or s3://bucket/folder, not “${text}”`);
  return { kind: 'storage', bucket, prefix: path === '' || path.endsWith('/') ? path : `${path}/` };
}

/** @throws BackupError if standard output is a terminal */
export function assertNoTerminal(): void {
  if (process.stdout.isTTY) throw new BackupError('standard output is a terminal; redirect it to a program or a file');
}

/** Standard output. Resolves when the reader, or the disk, has all bytes. */
export const toOutput: Sink = async (bytes) => {
  const { fd } = process.stdout;
  const target = fstatSync(fd);
  try {
    if (target.isFIFO() || target.isSocket()) {
      for await (const chunk of bytes) await written(chunk);
      return;
    }
    // `process.stdout` ignores that a full disk has taken only a part of a chunk.
    await pipeline(bytes, createWriteStream('', { fd, autoClose: false }));
    if (target.isFile()) await promisify(fsync)(fd);
  } catch (error) {
    if (isClosedPipe(error))
      throw new BackupError('no complete backup was written: the reader of standard output has closed it');
    if (!(error instanceof Error && 'syscall' in error)) throw error;
    throw new BackupError(`no complete backup was written to standard output: ${error.message}`, { cause: error });
  }
};

const written = (chunk: Uint8Array): Promise<void> =>
  new Promise((done, fail) => {
    process.stdout.write(chunk, (error) => (error ? fail(error) : done()));
  });

/** @throws BackupError for a folder */
export function assertNoFolder(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory())
    throw new BackupError(`${path} is a folder; name a file, or add --keep`);
}
