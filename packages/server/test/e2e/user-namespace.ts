/**
 * A user namespace, in which programs are root without privileges on the machine: outside it, they run as a user that owns
 * nothing. A tool that works there works "rootless". Root sets it up, so the machine needs no entry in /etc/subuid.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { awaited } from '../../test-kit/until.ts';

/** Users 0 to 65535 of the namespace are users from this one on outside. */
export const firstUser = 100_000;
const users = 65_536;

export class UserNamespace implements Disposable {
  readonly #holder: ChildProcess;
  readonly #home: string;

  /** @param home a folder in which programs of the namespace may write */
  static async create(home: string): Promise<UserNamespace> {
    const user = String(firstUser);
    // `cat` ends when this process ends.
    const holder = spawn(
      'setpriv',
      [
        '--reuid',
        user,
        '--regid',
        user,
        '--clear-groups',
        'unshare',
        '--user',
        '--mount',
        'sh',
        '-c',
        'echo; exec cat',
      ],
      { stdio: ['pipe', 'pipe', 'inherit'] },
    );
    const namespace = new UserNamespace(holder, home);
    await awaited('the user namespace exists', (signal) => once(holder.stdout, 'data', { signal }));
    for (const map of ['uid_map', 'gid_map']) writeFileSync(`/proc/${holder.pid}/${map}`, `0 ${firstUser} ${users}\n`);
    return namespace;
  }

  private constructor(holder: ChildProcess, home: string) {
    this.#holder = holder;
    this.#home = home;
  }

  /** @returns the arguments of `nsenter`, which runs the command in the namespace */
  argumentsFor(command: string, args: readonly string[]): readonly string[] {
    const namespaces = ['user', 'mnt'].map((name) => `/proc/${this.#holder.pid}/ns/${name}`);
    const [user, mount] = namespaces;
    const home = ['HOME', 'XDG_RUNTIME_DIR'].map((name) => `${name}=${this.#home}`);
    return [
      `--user=${user}`,
      `--mount=${mount}`,
      '--setuid',
      '0',
      '--setgid',
      '0',
      '--',
      'env',
      ...home,
      command,
      ...args,
    ];
  }

  [Symbol.dispose](): void {
    this.#holder.kill('SIGKILL');
  }
}
