/**
 * The files of the deletion journal from before a rotation of the root key. Their own key may have leaked, so a list that is
 * sealed with the new key decides which of them count, by name and digest. The rotation writes the list before its commit:
 * until then, no process can open it.
 */
import { createHash, randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Chain } from './chain.ts';
import {
  isPosition,
  undefinedIfMissing,
  writeSealed,
  type Header,
  type JournalKeys,
  type Position,
} from './sealed-files.ts';

export interface EarlierFiles {
  /** By name of the file: SHA-256 in hexadecimal. */
  readonly digests: ReadonlyMap<string, string>;
  /** Of the journal at the rotation. */
  readonly position: Position | undefined;
}

type Line = { readonly name: string; readonly sha256: string } | { readonly position: Position | null };

const listPattern = /^earlier-[0-9a-f]{24}\.list$/;

export const digestOf = (content: Uint8Array): string => createHash('sha256').update(content).digest('hex');

export const isListed = ({ digests }: EarlierFiles, name: string, content: Uint8Array): boolean =>
  digests.get(name) === digestOf(content);

/** Lists of other versions of the root key, and lists that were edited, have no effect. @throws Error of the file system */
export async function readEarlierFiles(folder: string, keys: JournalKeys): Promise<EarlierFiles> {
  const digests = new Map<string, string>();
  let position: Position | undefined;
  if (keys.earlier.length === 0) return { digests, position };
  const names = ((await readdir(folder).catch(undefinedIfMissing)) ?? []).filter((name) => listPattern.test(name));
  for (const name of names) {
    const lines = openLines(name, await readFile(join(folder, name), 'utf8'), keys) ?? [];
    for (const line of lines) {
      if ('name' in line) digests.set(line.name, line.sha256);
      else if (isPosition(line.position)) position = line.position;
    }
  }
  return { digests, position };
}

function openLines(name: string, text: string, keys: JournalKeys): Line[] | undefined {
  const chain = new Chain(keys.deletionJournal);
  const [first = '', ...rest] = text.split('\n').filter((line) => line !== '');
  const header = chain.open(first) as Partial<Header> | undefined;
  if (header?.file !== name || header.installation !== keys.check.toString('hex')) return undefined;
  const lines = rest.map((line) => chain.open(line) as Line | undefined);
  return lines.every((line) => line !== undefined) ? lines : undefined;
}

/** @param next the keys of the new version @returns the path of the list @throws Error of the file system */
export async function writeEarlierFiles(folder: string, next: JournalKeys, files: EarlierFiles): Promise<string> {
  const { digests, position = null } = files;
  const lines: Line[] = [{ position }, ...[...digests].map(([name, sha256]) => ({ name, sha256 }))];
  const list = `earlier-${randomBytes(12).toString('hex')}.list`;
  await writeSealed(folder, list, next, lines);
  return join(folder, list);
}
