/**
 * The folder of the deletion journal. Each process appends to a file of its own, so processes need no locks.
 * `position.json` records up to which event the files contain the audit log. The folder holds no secrets.
 */
import { randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, readdir, readFile, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { Readable } from 'node:stream';
import { syncFolder } from '../../foundation/database/sync-folder.ts';
import { giveToOwnerOf } from '../../foundation/file-owner.ts';
import { linesOf } from '../../foundation/lines.ts';
import { madeBeforeFirstRelease } from '../../foundation/made-before.ts';
import { sealedLineBytesMax } from '../../foundation/sealed-line.ts';
import { Chain } from './chain.ts';
import { isListed, readEarlierFiles, type EarlierFiles } from './earlier-files.ts';
import { changeKinds, isRevocation, type Revocation } from './revocation.ts';
import {
  headerOf,
  isPosition,
  journalVersion,
  makeFolder,
  undefinedIfMissing,
  writeSealed,
  type Header,
  type JournalKeys,
  type Position,
} from './sealed-files.ts';

export type { JournalKeys, Position } from './sealed-files.ts';

/**
 * A file of the journal is not trustworthy, or belongs to another installation. The message names the file and the
 * reason.
 */
export class JournalError extends Error {
  readonly path: string;

  /** @param reason completes "<path> …" or "<path>: …" */
  constructor(path: string, reason: string) {
    super(`${path}${reason}`);
    this.path = path;
  }
}

/** Whether the files contain the changes of all kinds that this program knows. */
export const hasAllChanges = ({ changeKinds: known }: Position): boolean => known >= changeKinds.length;

const ending = '.journal';
/** Of files from before release 1.0.0, besides those with the same ending. */
const unreleasedEnding = '.changes';
/** Bounds a file, so that a reader who needs recent entries can skip old files. */
const linesPerFileMax = 50_000;
const positionName = 'position.json';

/**
 * A file that one process appends to. It is not used again after a failure, because what reached the disk is unknown.
 */
export class JournalFile {
  readonly #folder: string;
  readonly #name = randomBytes(12).toString('hex');
  readonly #chain: Chain;
  readonly #keys: JournalKeys;
  #isNew = true;
  #lines = 0;

  constructor(folder: string, keys: JournalKeys) {
    this.#folder = folder;
    this.#keys = keys;
    this.#chain = new Chain(keys.deletionJournal);
  }

  /** The caller starts a new file then. */
  get isFull(): boolean {
    return this.#lines >= linesPerFileMax;
  }

  /** Resolves after the entries are on the disk. @throws Error of the file system */
  async append(revocations: readonly Revocation[]): Promise<void> {
    const isNew = this.#isNew;
    this.#isNew = false;
    this.#lines += revocations.length;
    if (isNew) await makeFolder(this.#folder);
    const lines = [...(isNew ? [headerOf(this.#keys, this.#name)] : []), ...revocations];
    const path = join(this.#folder, `${this.#name}${ending}`);
    const handle = await open(path, isNew ? 'ax' : 'a', 0o600);
    try {
      if (isNew) await giveToOwnerOf(this.#folder, handle);
      await handle.appendFile(lines.map((line) => this.#chain.seal(line)).join(''));
      await handle.datasync();
    } finally {
      await handle.close();
    }
    if (isNew) await syncFolder(this.#folder);
  }
}

/**
 * A position from before a rotation of the root key may be forged, so the one that the rotation has recorded replaces it.
 * @throws JournalError for a file of another installation, for a copy of another file, and without a position for a file from
 *   before release 1.0.0
 */
export async function readPosition(folder: string, keys: JournalKeys): Promise<Position | undefined> {
  const path = join(folder, positionName);
  const text = await readFile(path, 'utf8').catch(undefinedIfMissing);
  if (text === undefined) {
    // Otherwise, the service would write new files beside those that it cannot read.
    for (const file of await journalFiles(folder))
      if ((await stat(file)).isFile()) assertReleased(await firstLineOf(file), file);
    return (await readEarlierFiles(folder, keys)).position;
  }
  const [header = '', line = ''] = text.split('\n');
  const { chain, isEarlier } = openHeader(header, keys, path);
  if (isEarlier) return (await readEarlierFiles(folder, keys)).position;
  const position = chain.open(line);
  // Without a position, the whole audit log is read again.
  return isPosition(position) ? position : undefined;
}

export const writePosition = (folder: string, keys: JournalKeys, position: Position): Promise<void> =>
  writeSealed(folder, positionName, keys, [position]);

export interface FileSelection {
  /** Files that were last written before this time are left out; in milliseconds. */
  readonly since?: number;
  /** Paths to leave out. */
  readonly except?: ReadonlySet<string>;
}

/**
 * Reads the entries of all files, each file in order.
 * @param onDamage receives the error of each untrustworthy file, whose remaining lines are left out; without it the
 *   error is thrown
 * @throws JournalError for a line that was edited, a copied file and another installation's file
 */
export async function* readJournal(
  folder: string,
  keys: JournalKeys,
  { since = 0, except }: FileSelection = {},
  onDamage?: (error: JournalError) => void,
): AsyncGenerator<Revocation> {
  const earlier = await readEarlierFiles(folder, keys);
  for (const path of await journalFiles(folder)) {
    if (except?.has(path)) continue;
    try {
      const file = await stat(path);
      if (!file.isFile()) throw new JournalError(path, ' is not a file; move it out of the folder');
      if (file.mtimeMs >= since) yield* readJournalFile(path, keys, earlier);
    } catch (error) {
      if (!onDamage || !(error instanceof JournalError)) throw error;
      onDamage(error);
    }
  }
}

/** @returns the paths of the journal's files; none when the folder does not exist */
export const journalFiles = async (folder: string): Promise<string[]> =>
  ((await readdir(folder).catch(undefinedIfMissing)) ?? [])
    .filter((name) => name.endsWith(ending) || name.endsWith(unreleasedEnding))
    .toSorted()
    .map((name) => join(folder, name));

/** Whether the file names another installation, as an unverified first line states. */
export async function isOfAnother(path: string, keys: JournalKeys): Promise<boolean> {
  return ownerOf(await firstLineOf(path), keys) === 'another';
}

async function firstLineOf(path: string): Promise<string> {
  for await (const { bytes } of linesOf(createReadStream(path), sealedLineBytesMax)) return bytes?.toString() ?? '';
  return '';
}

/** @throws JournalError for an untrustworthy file */
export async function* readJournalFile(
  path: string,
  keys: JournalKeys,
  earlier: EarlierFiles,
): AsyncGenerator<Revocation> {
  // A file from before a rotation of the root key is read at once, because its digest is verified before its first line.
  const listed = earlier.digests.has(basename(path)) ? await readFile(path) : undefined;
  const isGenuine = listed !== undefined && isListed(earlier, basename(path), listed);
  const content = listed ? Readable.from([listed]) : createReadStream(path);
  let chain: Chain | undefined;
  for await (const { number, bytes, isEnded } of linesOf(content, sealedLineBytesMax)) {
    // The process died, or the disk was full, during this write: the line was never acknowledged.
    if (bytes && !isEnded) return;
    const line = bytes?.toString() ?? '';
    if (!chain) {
      const opened = openHeader(line, keys, path);
      if (opened.isEarlier && !isGenuine) throw new JournalError(path, unlisted);
      chain = opened.chain;
      continue;
    }
    const revocation = chain.open(line);
    if (revocation === undefined) throw new JournalError(path, `: line ${number} is damaged or was edited`);
    if (!isRevocation(revocation))
      throw new JournalError(path, `: line ${number} has a kind that this version does not know; install a newer one`);
    yield revocation;
  }
}

const unlisted =
  ' was written or changed with an earlier root key after its rotation, so it may be forged; move it out of the folder';

/** @returns the chain of the lines after the header, and whether its key is of an earlier root key */
function openHeader(line: string, keys: JournalKeys, path: string): { chain: Chain; isEarlier: boolean } {
  assertReleased(line, path);
  const version = versionOf(line);
  if (version !== undefined && version !== journalVersion)
    throw new JournalError(path, ' has a format that this version does not know; install a newer one');
  const owner = ownerOf(line, keys);
  if (owner === 'another')
    throw new JournalError(path, ' belongs to another installation, which has another master key');
  const chain = new Chain((owner ?? keys).deletionJournal);
  const header = chain.open(line) as Partial<Header> | undefined;
  if (header === undefined) {
    const remedy =
      basename(path) === positionName ? '; move it out of the folder, and the service writes a new one' : '';
    throw new JournalError(path, `: line 1 is damaged or was edited${remedy}`);
  }
  if (header.file !== basename(path, ending)) {
    const original = header.file === positionName ? positionName : `${header.file}${ending}`;
    throw new JournalError(path, ` is a copy of ${original}, or was renamed; move it out of the folder`);
  }
  return { chain, isEarlier: owner !== undefined && owner !== keys };
}

/** @param line the first one of the file @throws JournalError */
function assertReleased(line: string, path: string): void {
  if (versionOf(line) === 1 || path.endsWith(unreleasedEnding))
    throw new JournalError(path, ` ${madeBeforeFirstRelease}; move it out of the folder`);
}

/** @returns undefined if the line names no version, which is then damaged */
const versionOf = (line: string): number | undefined => {
  const version = /"format":"keyreeve-deletion-journal","version":(\d+)/.exec(line)?.[1];
  return version === undefined ? undefined : Number(version);
};

/** @returns the keys of the version that a header names; undefined if the line names no installation */
function ownerOf(line: string, keys: JournalKeys): Omit<JournalKeys, 'earlier'> | 'another' | undefined {
  const installation = /"installation":"([0-9a-f]+)"/.exec(line)?.[1];
  if (installation === undefined) return undefined;
  return [keys, ...keys.earlier].find(({ check }) => check.toString('hex') === installation) ?? 'another';
}
