/**
 * The folder of the deletion journal. Each process appends to a file of its own, so processes need no locks.
 * `position.json` records up to which event the files contain the audit log. The folder holds no secrets.
 */
import { randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { chown, mkdir, open, readdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { InstallationKeys } from '../../foundation/crypto/master-key.ts';
import { syncFolder } from '../../foundation/database/sync-folder.ts';
import { linesOf } from '../../foundation/lines.ts';
import { sealedLineBytesMax } from '../../foundation/sealed-line.ts';
import { Chain } from './chain.ts';
import { changeKinds, isRevocation, type Revocation } from './revocation.ts';

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

/** The keys that the lines are verified with. */
export type JournalKeys = Pick<InstallationKeys, 'check' | 'deletionJournal'>;

interface Header {
  readonly format: 'keyreeve-deletion-journal';
  readonly version: 1;
  /** Identifies the installation, readable without its key. */
  readonly installation: string;
  /** The file's own name. A copy under another name is rejected. */
  readonly file: string;
}

/** The files contain all entries of the audit log up to an event. */
export interface Position {
  /** Id of the event. */
  readonly event: number;
  /**
   * Distinguishes the event from another with the same id, which follows when the database is put back to an older
   * state.
   */
  readonly mark?: string;
  /** The files also contain all entries that were in the audit log at this time, in milliseconds. */
  readonly at: number;
  /**
   * The number of kinds of changes that the program knows which wrote the position. It has passed over entries of other
   * kinds. Absent: none, as in version 0.1.0.
   */
  readonly changeKinds?: number;
  /**
   * Entries from before this time may be missing, in milliseconds: the retention had removed their audit events when the
   * files were completed. Absent: none.
   */
  readonly since?: number;
}

/** Whether the files contain the changes of all kinds that this program knows. */
export const hasAllChanges = ({ changeKinds: known = 0 }: Position): boolean => known >= changeKinds.length;

/**
 * `.journal` files hold deletions, `.changes` files hold changes that remove rights. Version 0.1.0 reads only the
 * former.
 */
export type JournalEnding = '.journal' | '.changes';
const endings: readonly JournalEnding[] = ['.journal', '.changes'];
/** Bounds a file, so that a reader who needs recent entries can skip old files. */
const linesPerFileMax = 50_000;
const positionName = 'position.json';

const headerOf = ({ check }: JournalKeys, file: string): Header => ({
  format: 'keyreeve-deletion-journal',
  version: 1,
  installation: check.toString('hex'),
  file,
});

/**
 * A file that one process appends to. It is not used again after a failure, because what reached the disk is unknown.
 */
export class JournalFile {
  readonly #ending: JournalEnding;
  readonly #folder: string;
  readonly #name = randomBytes(12).toString('hex');
  readonly #chain: Chain;
  readonly #keys: JournalKeys;
  #isNew = true;
  #lines = 0;

  constructor(folder: string, keys: JournalKeys, ending: JournalEnding = '.journal') {
    this.#ending = ending;
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
    const path = join(this.#folder, `${this.#name}${this.#ending}`);
    const handle = await open(path, isNew ? 'ax' : 'a', 0o600);
    try {
      if (isNew) await giveToOwnerOf(this.#folder, path);
      await handle.appendFile(lines.map((line) => this.#chain.seal(line)).join(''));
      await handle.datasync();
    } finally {
      await handle.close();
    }
    if (isNew) await syncFolder(this.#folder);
  }
}

async function makeFolder(folder: string): Promise<void> {
  const first = await mkdir(folder, { recursive: true, mode: 0o700 });
  if (first !== undefined) await giveToOwnerOf(dirname(first), folder);
}

/** Keeps files that a command of root creates readable to the service. */
async function giveToOwnerOf(folder: string, path: string): Promise<void> {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = await stat(folder);
  await chown(path, uid, gid);
}

/** @throws JournalError for a file of another installation and for a copy of another file */
export async function readPosition(folder: string, keys: JournalKeys): Promise<Position | undefined> {
  const path = join(folder, positionName);
  const text = await readFile(path, 'utf8').catch(undefinedIfMissing);
  if (text === undefined) return undefined;
  const chain = new Chain(keys.deletionJournal);
  const [header = '', line = ''] = text.split('\n');
  assertHeader(header, keys, path, chain);
  const position = chain.open(line);
  // Without a position, the whole audit log is read again.
  return isPosition(position) ? position : undefined;
}

function isPosition(value: unknown): value is Position {
  const { event, mark, at, since } = (value ?? {}) as Partial<Position>;
  return (
    Number.isSafeInteger(event) &&
    Number.isSafeInteger(at) &&
    (mark === undefined || typeof mark === 'string') &&
    (since === undefined || Number.isSafeInteger(since))
  );
}

export async function writePosition(folder: string, keys: JournalKeys, position: Position): Promise<void> {
  await makeFolder(folder);
  const chain = new Chain(keys.deletionJournal);
  const draft = join(folder, `${positionName}.${randomBytes(8).toString('hex')}`);
  const text = chain.seal(headerOf(keys, positionName)) + chain.seal(position);
  await writeFile(draft, text, { flag: 'wx', mode: 0o600, flush: true });
  await giveToOwnerOf(folder, draft);
  await rename(draft, join(folder, positionName));
}

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
  for (const path of await journalFiles(folder)) {
    if (except?.has(path)) continue;
    try {
      const file = await stat(path);
      if (!file.isFile()) throw new JournalError(path, ' is not a file; move it out of the folder');
      if (file.mtimeMs >= since) yield* readJournalFile(path, keys);
    } catch (error) {
      if (!onDamage || !(error instanceof JournalError)) throw error;
      onDamage(error);
    }
  }
}

/** @returns the paths of the journal's files; none when the folder does not exist */
export const journalFiles = async (folder: string): Promise<string[]> =>
  ((await readdir(folder).catch(undefinedIfMissing)) ?? [])
    .filter((name) => endings.some((ending) => name.endsWith(ending)))
    .toSorted()
    .map((name) => join(folder, name));

async function* readJournalFile(path: string, keys: JournalKeys): AsyncGenerator<Revocation> {
  const chain = new Chain(keys.deletionJournal);
  for await (const { number, bytes, isEnded } of linesOf(createReadStream(path), sealedLineBytesMax)) {
    // The process died, or the disk was full, during this write: the line was never acknowledged.
    if (bytes && !isEnded) return;
    const line = bytes?.toString() ?? '';
    if (number === 1) {
      assertHeader(line, keys, path, chain);
      continue;
    }
    const revocation = chain.open(line);
    if (revocation === undefined) throw new JournalError(path, `: line ${number} is damaged or was edited`);
    if (!isRevocation(revocation))
      throw new JournalError(path, `: line ${number} has a kind that this version does not know; install a newer one`);
    yield revocation;
  }
}

function assertHeader(line: string, { check }: JournalKeys, path: string, chain: Chain): void {
  const installation = /"installation":"([0-9a-f]+)"/.exec(line)?.[1];
  if (installation !== undefined && installation !== check.toString('hex'))
    throw new JournalError(path, ' belongs to another installation, which has another master key');
  const header = chain.open(line) as Partial<Header> | undefined;
  if (header === undefined) {
    const remedy =
      basename(path) === positionName ? '; move it out of the folder, and the service writes a new one' : '';
    throw new JournalError(path, `: line 1 is damaged or was edited${remedy}`);
  }
  const ending = endings.find((known) => path.endsWith(known)) ?? '';
  if (header.file !== basename(path, ending)) {
    const original = header.file === positionName ? positionName : `${header.file}${ending || '.journal'}`;
    throw new JournalError(path, ` is a copy of ${original}, or was renamed; move it out of the folder`);
  }
}

function undefinedIfMissing(error: unknown): undefined {
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
  throw error;
}
