/** PgBouncer in front of a PostgreSQL server of a test. Debian's package `pgbouncer` has it. */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { chownSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { freePort } from '../free-port.ts';
import { runEnvironment } from '../run-environment.ts';
import { newTempFolder, type TempFolder } from '../temp-folder.ts';
import { until } from '../until.ts';
import { postgresUser } from './binaries.ts';

const candidates = [runEnvironment.pgbouncer, '/usr/sbin/pgbouncer', 'pgbouncer'].filter((path) => path !== undefined);

const findProgram = (): string | undefined =>
  candidates.find((path) => spawnSync(path, ['--version'], { stdio: 'ignore' }).status === 0);

/** Why the tests are not tried; false where they are. Under CI they run, and fail without the program. */
export const skipWithoutPgBouncer = (): string | false =>
  !runEnvironment.needsPrograms && findProgram() === undefined && 'not tried: this machine lacks pgbouncer';

export type PoolMode = 'session' | 'transaction' | 'statement';

export class PgBouncer implements AsyncDisposable {
  readonly #folder: TempFolder;
  readonly #target: URL;
  readonly #port: number;
  readonly #settings: Readonly<Record<string, string>>;
  readonly #child: ChildProcess;

  private constructor(
    databaseUrl: string,
    { port, mode, settings }: { port: number; mode: PoolMode; settings: Readonly<Record<string, string>> },
  ) {
    const program = findProgram();
    if (program === undefined) throw new Error('PgBouncer is not installed');
    this.#target = new URL(databaseUrl);
    this.#port = port;
    this.#settings = settings;
    // Like PostgreSQL, it does not run as root, and the user may lack access to root's temporary folder.
    const user = postgresUser();
    this.#folder = newTempFolder(user.uid === undefined ? undefined : '/tmp');
    const { username, password } = this.#target;
    writeFileSync(join(this.#folder.path, 'users'), `"${username}" "${password}"\n`);
    this.#configure(mode);
    if (user.uid !== undefined && user.gid !== undefined) chownSync(this.#folder.path, user.uid, user.gid);
    this.#child = spawn(program, ['--quiet', this.#file], { ...user, cwd: this.#folder.path, stdio: 'ignore' });
  }

  /** @param settings additional ones of `[pgbouncer]` */
  static async start(
    databaseUrl: string,
    mode: PoolMode,
    settings: Readonly<Record<string, string>> = {},
  ): Promise<PgBouncer> {
    const bouncer = new PgBouncer(databaseUrl, { port: await freePort(), mode, settings });
    await until('PgBouncer accepts connections', () => bouncer.#accepts());
    return bouncer;
  }

  /** @returns the URL of the same database through PgBouncer */
  through(databaseUrl: string): string {
    const url = new URL(databaseUrl);
    url.port = String(this.#port);
    return url.href;
  }

  /** Applies another mode to the connections that are open. */
  setMode(mode: PoolMode): void {
    this.#configure(mode);
    this.#child.kill('SIGHUP');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill('SIGTERM');
    await until('PgBouncer ends', () => this.#child.exitCode !== null || this.#child.signalCode !== null);
    this.#folder[Symbol.dispose]();
  }

  get #file(): string {
    return join(this.#folder.path, 'pgbouncer.ini');
  }

  #configure(mode: PoolMode): void {
    const settings = {
      listen_addr: '127.0.0.1',
      listen_port: String(this.#port),
      unix_socket_dir: '',
      auth_type: 'plain',
      auth_file: join(this.#folder.path, 'users'),
      pool_mode: mode,
      ...this.#settings,
    };
    const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}`);
    const { hostname, port } = this.#target;
    writeFileSync(
      this.#file,
      ['[databases]', `* = host=${hostname} port=${port}`, '[pgbouncer]', ...lines, ''].join('\n'),
      { mode: 0o644 },
    );
  }

  #accepts(): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const socket = connect(this.#port, '127.0.0.1');
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    return promise.finally(() => socket.destroy());
  }
}
