/**
 * Writes tar archives whose bytes depend on their entries only: POSIX ustar, with records of pax for what it has no place for, which dpkg
 * rejects. Files of a folder get root as their owner, one time, and the mode 0755 or 0644.
 */
import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { join } from 'node:path';

export interface TarEntry {
  /** Relative, without a `/` at the end. */
  readonly path: string;
  readonly kind: 'file' | 'folder' | 'link';
  /** Default: 0755 for folders, 0644 for files. */
  readonly mode?: number;
  /** User and group. Default: 0. */
  readonly owner?: number;
  readonly content?: Buffer;
  /** Of a symbolic link. */
  readonly target?: string;
}

const blockBytes = 512;
const kinds = { file: '0', link: '2', folder: '5' } as const;
const modes = { file: 0o644, link: 0o777, folder: 0o755 } as const;

/**
 * @param seconds since 1970, the time of every entry
 * @throws Error for two entries with one path
 */
export function tarOf(entries: readonly TarEntry[], seconds: number): Buffer {
  const sorted = entries.toSorted((one, other) => (one.path < other.path ? -1 : 1));
  const repeated = sorted.find(({ path }, index) => sorted[index + 1]?.path === path);
  if (repeated) throw new Error(`two entries of an archive have the path ${repeated.path}`);
  const blocks = sorted.flatMap((entry) => blocksOf(entry, seconds));
  return Buffer.concat([...blocks, Buffer.alloc(2 * blockBytes)]);
}

/** @param place of the folder in the archive, such as `usr/lib`; empty for the root @returns its content, without the folder itself */
export function entriesOf(folder: string, place = ''): TarEntry[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry): TarEntry[] => {
    const from = join(folder, entry.name);
    const path = place === '' ? entry.name : `${place}/${entry.name}`;
    if (entry.isSymbolicLink()) return [{ path, kind: 'link', target: readlinkSync(from) }];
    if (entry.isDirectory()) return [{ path, kind: 'folder' }, ...entriesOf(from, path)];
    // Of the permissions, only whether the owner may run it: others depend on the umask.
    const mode = (statSync(from).mode & 0o100) === 0 ? 0o644 : 0o755;
    return [{ path, kind: 'file', mode, content: readFileSync(from) }];
  });
}

function blocksOf(entry: TarEntry, seconds: number): Buffer[] {
  const path = entry.kind === 'folder' ? `${entry.path}/` : entry.path;
  const { content = Buffer.alloc(0), target = '' } = entry;
  const place = placeOf(path);
  const long = { ...(!place && { path }), ...(Buffer.byteLength(target) > 100 && { linkpath: target }) };
  const records = Buffer.from(Object.entries(long).map(recordOf).join(''));
  const mode = entry.mode ?? modes[entry.kind];
  const header = { ...entry, mode, kind: kinds[entry.kind], path, target, ...place };
  const extended = { path: 'pax', kind: 'x', mode: 0o644, target: '' };
  return [
    ...(records.length === 0 ? [] : [headerOf(extended, records.length, seconds), padded(records)]),
    headerOf(header, content.length, seconds),
    padded(content),
  ];
}

/** @returns the fields for a path of more than 100 bytes, divided at a `/`; undefined if it does not fit */
function placeOf(path: string): { readonly prefix: string; readonly path: string } | undefined {
  const places = [...path.matchAll(/\//g)].map(({ index }) => ({
    prefix: path.slice(0, index),
    path: path.slice(index + 1),
  }));
  return [{ prefix: '', path }, ...places].find(
    (place) => place.path !== '' && Buffer.byteLength(place.path) <= 100 && Buffer.byteLength(place.prefix) <= 155,
  );
}

interface Header {
  readonly path: string;
  readonly prefix?: string;
  readonly kind: string;
  readonly mode: number;
  readonly owner?: number;
  readonly target: string;
}

function headerOf({ path, prefix = '', kind, mode, owner = 0, target }: Header, size: number, seconds: number): Buffer {
  const block = Buffer.alloc(blockBytes);
  const number = (value: number, offset: number, length: number): void => {
    block.write(value.toString(8).padStart(length - 1, '0'), offset);
  };
  Buffer.from(path).copy(block, 0, 0, 100);
  number(mode, 100, 8);
  number(owner, 108, 8);
  number(owner, 116, 8);
  number(size, 124, 12);
  number(seconds, 136, 12);
  // The checksum counts its own field as spaces.
  block.write(' '.repeat(8) + kind, 148);
  Buffer.from(target).copy(block, 157, 0, 100);
  block.write('ustar\x0000', 257);
  block.write(prefix, 345);
  const checksum = block.reduce((sum, byte) => sum + byte, 0);
  block.write(`${checksum.toString(8).padStart(6, '0')}\0 `, 148);
  return block;
}

/** A record of pax begins with its own length in bytes, including the digits of that length. */
function recordOf([name, value]: [string, string]): string {
  const rest = Buffer.byteLength(` ${name}=${value}\n`);
  const length = [1, 2, 3, 4].map((digits) => rest + digits).find((sum) => `${sum}`.length === sum - rest);
  return `${length} ${name}=${value}\n`;
}

const padded = (content: Buffer): Buffer =>
  Buffer.concat([content, Buffer.alloc((blockBytes - (content.length % blockBytes)) % blockBytes)]);
