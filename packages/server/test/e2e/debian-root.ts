/** An empty Debian in a folder, in which programs run as on a machine of its own, with the network of this one. Needs root. */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { cpSync, globSync, mkdirSync, readFileSync, realpathSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { runEnvironment } from '../../test-kit/run-environment.ts';
import { newTempFolder } from '../../test-kit/temp-folder.ts';
import { programMsMax } from '../../test-kit/time-limits.ts';
import { Program, type Environment, type Exit } from './program.ts';

const programs = ['mmdebstrap', 'unshare', 'chroot', 'npm'] as const;

/** Why the tests are not tried; false where they are. Under CI they run, and fail without the programs. */
export function skipWithoutDebian(): string | false {
  if (runEnvironment.needsPrograms) return false;
  const missing: string[] = programs.filter((name) => spawnSync(name, ['--version']).error !== undefined);
  if (process.getuid?.() !== 0) missing.unshift('root');
  return missing.length > 0 && `not tried, because this machine lacks ${missing.join(', ')}`;
}

/** The release that docs/deploy.md names. */
const suite = 'trixie';
/** What apt-get would install for the packages under test. */
const dependencies = 'libatomic1,libstdc++6,passwd';
/** Nothing of these belongs to a package under test. */
const notListed = /^(?:dev|proc|sys|tmp)\/|^var\/(?:lib\/dpkg|log|cache)\/|^etc\/(?:[^/]*-|\.pwd\.lock)$/;
const inRoot = 'mount -t proc proc "$0/proc" && exec chroot "$0" "$@"';

export class DebianRoot implements Disposable {
  readonly #folder = newTempFolder();
  readonly path = join(this.#folder.path, 'root');

  /** @throws Error if a program fails */
  constructor() {
    const archive = join(this.#folder.path, 'root.tar');
    const options = ['--quiet', '--variant=essential', `--include=${dependencies}`];
    execFileSync('mmdebstrap', [...options, suite, archive], { timeout: programMsMax, stdio: 'pipe' });
    mkdirSync(this.path, { mode: 0o755 });
    execFileSync('tar', ['-xf', archive, '-C', this.path]);
  }

  /** The Node and the npm of this test, in /opt/node. */
  addNode(): void {
    const npm = realpathSync(execFileSync('sh', ['-c', 'command -v npm'], { encoding: 'utf8' }).trim());
    mkdirSync(this.at('/opt/node/bin'), { recursive: true });
    cpSync(process.execPath, this.at('/opt/node/bin/node'));
    cpSync(join(npm, '../..'), this.at('/opt/node/npm'), { recursive: true });
    symlinkSync('../npm/bin/npm-cli.js', this.at('/opt/node/bin/npm'));
  }

  at(path: string): string {
    return join(this.path, path);
  }

  /** Starts a command, in the process of which it runs. */
  start(environment: Environment, command: readonly string[]): Program {
    const child = spawn('unshare', ['--mount', 'sh', '-c', inRoot, this.path, ...command], {
      env: { PATH: '/opt/node/bin:/usr/sbin:/usr/bin:/sbin:/bin', HOME: '/root', LC_ALL: 'C', ...environment },
    });
    return new Program(child, this.path);
  }

  async run(command: readonly string[], { environment = {}, input = '' }: RunOptions = {}): Promise<Exit> {
    const program = this.start(environment, command);
    program.child.stdin?.on('error', () => undefined).end(input);
    return program.exited();
  }

  /** @returns what it printed @throws Error unless the status is 0 */
  async succeed(command: readonly string[], options?: RunOptions): Promise<string> {
    const { status, stdout, stderr } = await this.run(command, options);
    if (status !== 0) throw new Error(`${command.join(' ')}: ${status}: ${stdout}${stderr}`);
    return stdout + stderr;
  }

  /** All paths, and the users: what a package may not leave behind. */
  listing(): readonly string[] {
    const paths = globSync('**', { cwd: this.path, exclude: ['proc/**', 'sys/**', 'dev/**'] });
    const users = readFileSync(this.at('/etc/passwd'), 'utf8').split('\n');
    return [...paths.filter((path) => !notListed.test(path)), ...users].toSorted();
  }

  [Symbol.dispose](): void {
    this.#folder[Symbol.dispose]();
  }
}

interface RunOptions {
  readonly environment?: Environment;
  readonly input?: string;
}
