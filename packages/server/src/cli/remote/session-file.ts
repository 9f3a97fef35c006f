/**
 * The file with the session of an administrator at one service: in a folder of this user, with mode 0600. A file that another
 * user could have written or read is rejected: its tokens could be those of another account, or be known.
 */
import { createHash, randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { lstat, mkdir, open, rename, rm, type FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { stateFolder } from '../../app/configuration/config.ts';
import { lockFile } from '../../foundation/database/file-lock.ts';
import { syncFolder } from '../../foundation/database/sync-folder.ts';
import { RemoteError } from './remote-error.ts';

export interface KeptSession {
  /** Of the service, as `--url` names it. */
  readonly url: string;
  readonly accountId: string;
  readonly email: string;
  readonly accessToken: string;
  readonly refreshToken: string;
}

const bytesMax = 16_384;
const lockPauseMs = 50;
/** Longer than the 30 s after which a request of a refresh fails. */
const lockPausesMax = 800;

export class SessionFile {
  readonly path: string;
  readonly #url: string;

  constructor(url: string) {
    this.#url = url;
    const digest = createHash('sha256').update(url).digest('hex').slice(0, 16);
    // A host name has no slash. An IPv6 address has brackets and colons.
    const host = new URL(url).hostname.replaceAll(/[^\w.-]/g, '_');
    this.path = join(stateFolder(), `${host}-${digest}.json`);
  }

  /** @returns undefined without a session @throws RemoteError `session_file_rejected` */
  async read(): Promise<KeptSession | undefined> {
    if (!(await this.#checkFolder())) return undefined;
    const handle = await this.#open();
    if (!handle) return undefined;
    try {
      const stats = await handle.stat();
      if (!stats.isFile()) throw this.#rejected('is not a file');
      if (!isOwn(stats.uid)) throw this.#rejected('belongs to another user');
      if (hasModes && (stats.mode & 0o077) !== 0)
        throw this.#rejected('can be read or changed by other users; it must have mode 0600');
      if (stats.size > bytesMax) throw this.#rejected('is too long');
      return this.#parse(await handle.readFile('utf8'));
    } finally {
      await handle.close();
    }
  }

  /** Replaces the file completely or not at all. */
  async write(session: KeptSession): Promise<void> {
    await mkdir(dirname(this.path), { recursive: true, mode: 0o700 });
    await this.#checkFolder();
    const draft = `${this.path}.${randomBytes(8).toString('hex')}.partial`;
    try {
      const handle = await open(draft, 'wx', 0o600);
      try {
        await handle.writeFile(`${JSON.stringify(session)}\n`);
        await handle.sync();
      } finally {
        await handle.close();
      }
      await rename(draft, this.path);
    } catch (error) {
      await rm(draft, { force: true });
      throw error;
    }
    await syncFolder(dirname(this.path));
  }

  remove(): Promise<void> {
    return rm(this.path, { force: true });
  }

  /** Runs `change` while no other command changes the session. */
  async locked<T>(change: () => Promise<T>): Promise<T> {
    await mkdir(dirname(this.path), { recursive: true, mode: 0o700 });
    await this.#checkFolder();
    const path = `${this.path}.lock`;
    for (let tries = 0; tries < lockPausesMax; tries++) {
      const lock = lockFile(path);
      if (!lock) {
        await pause(lockPauseMs);
        continue;
      }
      try {
        return await change();
      } finally {
        lock.close();
      }
    }
    throw new RemoteError('session_file_rejected', `another command holds the lock ${path}`);
  }

  /** @returns whether the folder exists @throws RemoteError if another user can put files there */
  async #checkFolder(): Promise<boolean> {
    const folder = dirname(this.path);
    const stats = await lstat(folder).catch(nothingIfAbsent);
    if (!stats) return false;
    const isSafe = stats.isDirectory() && isOwn(stats.uid) && (!hasModes || (stats.mode & 0o022) === 0);
    if (isSafe) return true;
    throw new RemoteError(
      'session_file_rejected',
      `the folder ${folder} must be a folder of this user that no other user can change (chmod 700 ${folder})`,
    );
  }

  async #open(): Promise<FileHandle | undefined> {
    try {
      // Neither follows a link nor waits for the writer of a pipe.
      return await open(this.path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
    } catch (error) {
      if (isCode(error, 'ELOOP')) throw this.#rejected('is a symbolic link');
      return nothingIfAbsent(error);
    }
  }

  #parse(text: string): KeptSession {
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      // It has none of the members.
    }
    const { url, accountId, email, accessToken, refreshToken } = (value ?? {}) as Partial<
      Record<keyof KeptSession, unknown>
    >;
    const isText = (member: unknown): member is string => typeof member === 'string';
    if (url !== this.#url) throw this.#rejected('is not the session of this URL');
    // No header field has other characters.
    const isToken = (member: unknown): member is string => isText(member) && /^[\x21-\x7E]+$/.test(member);
    if (isText(accountId) && isText(email) && isToken(accessToken) && isToken(refreshToken))
      return { url: this.#url, accountId, email, accessToken, refreshToken };
    throw this.#rejected('is not complete');
  }

  #rejected(reason: string): RemoteError {
    return new RemoteError(
      'session_file_rejected',
      `the session in ${this.path} is not used, because the file ${reason}. Delete it, and sign in again: keyreeve --url ${this.#url} login`,
    );
  }
}

/** Windows has no such owners and modes. */
const hasModes = process.platform !== 'win32';
const isOwn = (uid: number): boolean => uid === (process.geteuid?.() ?? uid);
const isCode = (error: unknown, code: string): boolean =>
  error instanceof Error && 'code' in error && error.code === code;

function nothingIfAbsent(error: unknown): undefined {
  if (!isCode(error, 'ENOENT')) throw error;
}
