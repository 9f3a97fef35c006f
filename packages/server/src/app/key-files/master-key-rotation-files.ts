/**
 * The files of a rotation of the master key beside an SQLite database. Each step leaves a file in place that opens the
 * installation, because both master keys open it during the rotation.
 *
 * Call every method under the lock of the root keys (`startRotation`, `finishRotation`, `cancelRotation`, `withMasterKeys`), so
 * that no other command changes the files or the database meanwhile. They are synchronous, because a transaction may await
 * nothing else.
 */
import {
  closeSync,
  existsSync,
  fchownSync,
  fsyncSync,
  linkSync,
  lstatSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { randomBytes } from 'node:crypto';
import { basename, dirname, join } from 'node:path';
import { ConfigError, type Config } from '../configuration/config.ts';
import { newMasterKeyText, readMasterKey } from './master-key-file.ts';
import { draftSuffix } from '../../foundation/complete-file.ts';
import { masterKeyIdOf } from '../../foundation/crypto/root-key.ts';
import { RotationError, type MasterKey } from '../../modules/master-key/rotation.ts';

export class MasterKeyFiles {
  /** Of the file in use. */
  readonly path: string;
  readonly #config: Config;
  /** A generated file, until it takes the place of the file in use. */
  readonly #next: string;

  constructor(path: string, config: Config) {
    this.path = path;
    this.#config = config;
    this.#next = `${path}.next`;
  }

  /** The file of a master key that another one has replaced. */
  keptOf(masterKeyId: string): string {
    return `${this.path}.${masterKeyId}`;
  }

  /**
   * @param added the new master key of an unfinished rotation
   * @returns the master key that the rotation adds, from a file that {@link putAddedInPlace} finds
   * @throws RotationError
   */
  newMasterKey(added: MasterKey | undefined): Buffer {
    this.#refuseLink();
    if (added === undefined) {
      // A file from a call that has added nothing is replaced: another user may have planted it, or have copied it.
      this.#generateNext();
      return readMasterKey(this.#next, this.#config);
    }
    const { id } = added;
    if (this.#idInUse() === id)
      throw new RotationError(
        `the rotation to the master key ${id} is unfinished, and ${this.path} contains it; restart the service and run \`keyreeve master-key rotate --finish\`, or run \`keyreeve master-key rotate --cancel\``,
      );
    return readMasterKey(this.#fileOf(id), this.#config);
  }

  /** @param keys that open the installation @throws RotationError if another command has removed the master key */
  putAddedInPlace(masterKeyId: string, keys: readonly MasterKey[]): void {
    if (!keys.some(({ id }) => id === masterKeyId))
      throw new RotationError(
        `another command has cancelled the rotation to the master key ${masterKeyId}; ${this.path} is unchanged`,
      );
    this.putInPlace(masterKeyId);
  }

  /** Keeps the file in use under another name, which contains the id of its master key. @throws RotationError */
  putInPlace(masterKeyId: string): void {
    const current = this.#idInUse();
    if (current === masterKeyId) return;
    const file = this.#fileOf(masterKeyId);
    this.#refuseLink();
    this.#keep(current);
    // A file system may write the two changes in any order. A power failure after the rename alone would lose the previous key.
    syncFolder(dirname(this.path));
    renameSync(file, this.path);
    syncFolder(dirname(this.path));
  }

  /** Removes generated files that are not in use. */
  removeNext(): void {
    const prefix = basename(this.#next);
    for (const name of readdirSync(dirname(this.path))) {
      const isDraft = name.startsWith(prefix) && draftSuffix.test(name) && name.replace(draftSuffix, '') === prefix;
      if (name === prefix || isDraft) rmSync(join(dirname(this.path), name));
    }
  }

  /** Removes the file of a master key whose rotation is being cancelled. Backups from meanwhile open with the previous one. */
  removeCancelled(masterKeyId: string): void {
    if (idOf(this.keptOf(masterKeyId), this.#config) === masterKeyId) rmSync(this.keptOf(masterKeyId));
  }

  #idInUse(): string {
    return masterKeyIdOf(readMasterKey(this.path, this.#config));
  }

  /** Link and rename would replace the link, and leave the previous master key in the file that others name. */
  #refuseLink(): void {
    if (isLink(this.path))
      throw new RotationError(
        `${this.path} is a symbolic link, which a rotation does not replace; name the file of the new master key (\`keyreeve master-key rotate --new-file <file> --generate\`), and set KEYREEVE_MASTER_KEY_FILE to it`,
      );
  }

  #fileOf(masterKeyId: string): string {
    const file = [this.#next, this.keptOf(masterKeyId)].find((path) => idOf(path, this.#config) === masterKeyId);
    if (file !== undefined) return file;
    throw new RotationError(
      `no file beside ${this.path} contains the master key ${masterKeyId}; set KEYREEVE_MASTER_KEY_FILE to its file, and repeat the command`,
    );
  }

  #keep(current: string): void {
    const kept = this.keptOf(current);
    if (idOf(kept, this.#config) === current) return;
    // Of the same name, but without this master key: nothing is lost.
    rmSync(kept, { force: true });
    linkSync(this.path, kept);
  }

  /** The owner changes on the descriptor: the user of the service could replace the name by a symbolic link. */
  #generateNext(): void {
    this.removeNext();
    const draft = `${this.#next}.${randomBytes(8).toString('hex')}.partial`;
    const descriptor = openSync(draft, 'wx', 0o600);
    try {
      if (process.getuid?.() === 0) {
        const { uid, gid } = statSync(this.path);
        fchownSync(descriptor, uid, gid);
      }
      writeFileSync(descriptor, newMasterKeyText());
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    renameSync(draft, this.#next);
    syncFolder(dirname(this.path));
  }
}

/** @returns undefined without the file, and if it is a symbolic link or contains no master key */
function idOf(path: string, config: Config): string | undefined {
  if (!existsSync(path) || isLink(path)) return undefined;
  try {
    return masterKeyIdOf(readMasterKey(path, config));
  } catch (error) {
    if (error instanceof ConfigError) return undefined;
    throw error;
  }
}

const isLink = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;

function syncFolder(path: string): void {
  if (process.platform === 'win32') return;
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
