/**
 * A folder of servers that tests start as an unprivileged user. Its keeper (`keeper.ts`) ends the servers and removes the folder
 * after the process that created it has ended, for any reason.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { chownSync, closeSync, mkdtempSync, openSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { memoryFolder } from '../memory-folder.ts';
import { until } from '../until.ts';
import { postgresUser, type PostgresUser } from './binaries.ts';

const keeperFile = fileURLToPath(new URL('./keeper.ts', import.meta.url));

export class ServerFolder implements AsyncDisposable {
  readonly path: string;
  readonly user: PostgresUser;
  readonly #keeper: ChildProcess;

  /** @param name of the programs, in the name of the folder */
  constructor(name: string) {
    this.user = postgresUser();
    // The user that runs the servers may lack access to root's temporary folder.
    const parent = memoryFolder() ?? (this.user.uid === undefined ? tmpdir() : '/tmp');
    this.path = mkdtempSync(join(parent, `keyreeve-${name}-`));
    // It inherits stderr: a reader of this output waits until the keeper has removed the folder.
    this.#keeper = spawn(process.execPath, [keeperFile, this.path], {
      env: {},
      stdio: ['pipe', 'ignore', 'inherit'],
      detached: true,
    });
    this.#keeper.unref();
    this.give(this.path);
  }

  /** Makes the user of the servers the owner. */
  give(path: string): void {
    if (this.user.uid !== undefined && this.user.gid !== undefined) chownSync(path, this.user.uid, this.user.gid);
  }

  /** Starts a program in its own session, so that signals of a terminal do not reach it. @param log the name of its log */
  spawn(program: string, args: readonly string[], log = 'log'): ChildProcess {
    const file = openSync(join(this.path, log), 'a');
    const child = spawn(program, args, {
      ...this.user,
      cwd: this.path,
      env: { LC_ALL: 'C', TZ: 'UTC' },
      stdio: ['ignore', file, file],
      detached: true,
    });
    closeSync(file);
    child.unref();
    return child;
  }

  /** @returns what the programs with this log have printed */
  log(log = 'log'): string {
    try {
      return readFileSync(join(this.path, log), 'utf8');
    } catch {
      return '';
    }
  }

  /** Ends the servers and removes the folder. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#keeper.stdin?.end();
    await until('the folder is removed', () => hasEnded(this.#keeper));
    if (this.#keeper.exitCode !== 0) throw new Error(`the folder ${this.path} could not be removed`);
  }
}

export const hasEnded = (child: ChildProcess): boolean => child.exitCode !== null || child.signalCode !== null;
