/**
 * A PostgreSQL server for tests, in a temporary folder on a free loopback port, which tests can restart, crash and pause. It
 * ends with the process that started it, for any reason (`keeper.ts`), and does not keep that process running.
 */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chownSync, closeSync, mkdtempSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '../free-port.ts';
import { memoryFolder } from '../memory-folder.ts';
import { until } from '../until.ts';
import { findPostgres, postgresUser, type PostgresBinaries, type PostgresUser } from './binaries.ts';
import { PostgresDatabases, type TestDatabase } from './databases.ts';
import { familyOf, runningProcesses, signalAll } from './processes.ts';

const portTriesMax = 10;

const keeperFile = fileURLToPath(new URL('./keeper.ts', import.meta.url));

export interface PostgresServerOptions {
  /** Whether a commit waits for the disk. Otherwise the server is several times faster. */
  readonly durable?: boolean;
  /** Additional settings for `postgresql.conf`. */
  readonly settings?: Readonly<Record<string, string>>;
}

export class PostgresServer implements AsyncDisposable {
  /** Contains its data and its log. */
  readonly folder: string;
  readonly #user: PostgresUser;
  readonly #keeper: ChildProcess;
  readonly #secret: string;
  readonly #settings: Readonly<Record<string, string>>;
  #binaries: PostgresBinaries | undefined;
  #postmaster: ChildProcess | undefined;
  #port = 0;

  private constructor(
    { durable = false, settings = {} }: PostgresServerOptions,
    secret = randomBytes(16).toString('hex'),
  ) {
    this.#secret = secret;
    this.#user = postgresUser();
    // The user that runs the server may lack access to root's temporary folder.
    const parent = memoryFolder() ?? (this.#user.uid === undefined ? tmpdir() : '/tmp');
    this.folder = mkdtempSync(join(parent, 'keyreeve-postgres-'));
    this.#keeper = startKeeper(this.folder);
    this.#settings = {
      listen_addresses: '127.0.0.1',
      unix_socket_directories: '',
      max_connections: '300',
      // Files in the data folder, which is removed after a kill.
      dynamic_shared_memory_type: 'mmap',
      ...(durable ? {} : { fsync: 'off', full_page_writes: 'off' }),
      ...settings,
    };
  }

  /** @throws Error with PostgreSQL's output if it does not start */
  static async start(options: PostgresServerOptions = {}): Promise<PostgresServer> {
    const server = new PostgresServer(options);
    try {
      await server.#install();
      await server.startAgain();
      return server;
    } catch (error) {
      await server[Symbol.asyncDispose]();
      throw error;
    }
  }

  /**
   * Starts a streaming standby with a copy of the primary's data. This restarts the primary, whose commits then wait until the
   * standby has flushed them. The primary may be a standby itself: its commits wait after its promotion.
   */
  static async startStandbyOf(primary: PostgresServer, name = 'standby'): Promise<PostgresServer> {
    const standby = new PostgresServer({}, primary.#secret);
    try {
      await standby.#copy(primary, name);
      await standby.startAgain();
      const databases = new PostgresDatabases(primary.url());
      await databases.run(`alter system set synchronous_standby_names = '${name}'`);
      await databases.run('select pg_reload_conf()');
      const confirming = `select from pg_stat_replication
        where state = 'streaming' and (sync_state = 'sync' or pg_is_in_recovery())`;
      await until('the standby confirms commits', async () => (await databases.all(confirming)).length === 1);
      return standby;
    } catch (error) {
      await standby[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Of the postmaster; undefined while it is not running. */
  get pid(): number | undefined {
    return this.#postmaster?.pid;
  }

  /** The database URL of the superuser, with a SCRAM password. */
  url(database = 'postgres'): string {
    return `postgres://postgres:${this.#secret}@127.0.0.1:${this.#port}/${database}`;
  }

  createDatabase(): Promise<TestDatabase> {
    return new PostgresDatabases(this.url()).createDatabase();
  }

  /** Makes a standby a primary. */
  async promote(): Promise<void> {
    await new PostgresDatabases(this.url()).run('select pg_promote()');
  }

  /** A fast shutdown, which cuts connections and writes commits to the disk. */
  async stop(): Promise<void> {
    const postmaster = this.#running();
    signalAll([postmaster], 'SIGINT');
    await this.#ended(postmaster);
  }

  /** Starts the server after `stop` or `crash`, on the same port. */
  async startAgain(): Promise<void> {
    if (this.#postmaster !== undefined) throw new Error('PostgreSQL is already running');
    for (let tries = 1; ; tries++) {
      const isPortKept = this.#port !== 0;
      if (!isPortKept) this.#port = await freePort();
      const problem = await this.#tryStart();
      if (problem === undefined) return;
      const mayTryAgain = !isPortKept && tries < portTriesMax && problem.includes('Address already in use');
      if (!mayTryAgain) throw new Error(`PostgreSQL did not start:\n${problem}`);
      this.#port = 0;
    }
  }

  async restart(): Promise<void> {
    await this.stop();
    await this.startAgain();
  }

  /** Kills all its processes at one moment, like a failure of the machine. */
  async crash(): Promise<void> {
    const postmaster = this.#running();
    // Pauses them first, so that none reacts to the end of another.
    await this.pause();
    const family = familyOf(postmaster.pid);
    signalAll(family, 'SIGKILL');
    const pids = new Set(family.map(({ pid }) => pid));
    await until('all processes have ended', () => !runningProcesses().some(({ pid }) => pids.has(pid)));
    await this.#ended(postmaster);
  }

  /** Stops all its processes with SIGSTOP: connections stay open without responses. */
  async pause(): Promise<void> {
    const { pid } = this.#running();
    const areStopped = (): boolean => familyOf(pid).every(({ state }) => state === 'T');
    signalAll([{ pid }], 'SIGSTOP');
    await until('the postmaster stops', () => familyOf(pid).some((one) => one.pid === pid && one.state === 'T'));
    // A stopped postmaster starts no children.
    signalAll(familyOf(pid), 'SIGSTOP');
    await until('all processes stop', areStopped);
  }

  resume(): void {
    signalAll(familyOf(this.#running().pid), 'SIGCONT');
  }

  /** Ends the server and removes its folder. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#keeper.stdin?.end();
    await until('the folder is removed', () => hasEnded(this.#keeper));
    this.#postmaster = undefined;
    if (this.#keeper.exitCode !== 0) throw new Error(`PostgreSQL’s folder ${this.folder} could not be removed`);
  }

  #running(): ChildProcess & { readonly pid: number } {
    if (this.#postmaster?.pid === undefined) throw new Error('PostgreSQL is not running');
    return this.#postmaster as ChildProcess & { readonly pid: number };
  }

  async #ended(postmaster: ChildProcess): Promise<void> {
    await until('the postmaster ends', () => hasEnded(postmaster));
    this.#postmaster = undefined;
  }

  #findBinaries(): PostgresBinaries {
    if (this.#user.uid !== undefined && this.#user.gid !== undefined)
      chownSync(this.folder, this.#user.uid, this.#user.gid);
    return (this.#binaries = findPostgres(this.folder, this.#user));
  }

  /** Stops the primary during the copy, because its files are consistent only then. */
  async #copy(primary: PostgresServer, name: string): Promise<void> {
    this.#findBinaries();
    await primary.stop();
    const { status, stderr } = spawnSync('cp', ['-Rp', primary.#data, this.#data], { encoding: 'utf8' });
    await primary.startAgain();
    if (status !== 0) throw new Error(`PostgreSQL’s data could not be copied: ${stderr}`);
    const { hostname, port, username, password } = new URL(primary.url());
    const source = `host=${hostname} port=${port} user=${username} password=${password} application_name=${name}`;
    writeFileSync(join(this.#data, 'postgresql.conf'), `primary_conninfo = '${source}'\n`, { flag: 'a' });
    writeFileSync(join(this.#data, 'standby.signal'), '');
  }

  async #install(): Promise<void> {
    const { initdb } = this.#findBinaries();
    const passwordFile = join(this.folder, 'password');
    writeFileSync(passwordFile, `${this.#secret}\n`, { mode: 0o644 });
    const args = ['--username=postgres', `--pwfile=${passwordFile}`, '--auth=scram-sha-256', '--no-sync'];
    const child = this.#spawn(initdb, [
      `--pgdata=${this.#data}`,
      ...args,
      '--encoding=UTF8',
      '--locale=C',
      '--no-instructions',
    ]);
    await until('initdb ends', () => hasEnded(child));
    if (child.exitCode !== 0) throw new Error(`PostgreSQL’s initdb failed:\n${this.#log()}`);
    const settings = Object.entries(this.#settings).map(
      ([name, value]) => `${name} = '${value.replaceAll("'", "''")}'`,
    );
    writeFileSync(join(this.#data, 'postgresql.conf'), `${settings.join('\n')}\n`, { flag: 'a' });
  }

  /** @returns the output if the server ended before it accepted a connection */
  async #tryStart(): Promise<string | undefined> {
    if (this.#binaries === undefined) throw new Error('PostgreSQL is not installed');
    const logLength = this.#log().length;
    const child = this.#spawn(this.#binaries.postgres, ['-D', this.#data, '-p', String(this.#port)]);
    this.#postmaster = child;
    const isReady = (): Promise<boolean> =>
      new PostgresDatabases(this.url()).run('select 1').then(
        () => true,
        () => false,
      );
    await until('it accepts connections', async () => hasEnded(child) || (await isReady()));
    if (!hasEnded(child)) return undefined;
    this.#postmaster = undefined;
    return this.#log().slice(logLength);
  }

  /** In its own session, so that signals of a terminal do not reach it. */
  #spawn(program: string, args: readonly string[]): ChildProcess {
    const log = openSync(this.#logFile, 'a');
    const child = spawn(program, args, {
      ...this.#user,
      cwd: this.folder,
      env: { LC_ALL: 'C', TZ: 'UTC' },
      stdio: ['ignore', log, log],
      detached: true,
    });
    closeSync(log);
    child.unref();
    return child;
  }

  get #data(): string {
    return join(this.folder, 'data');
  }

  get #logFile(): string {
    return join(this.folder, 'log');
  }

  #log(): string {
    try {
      return readFileSync(this.#logFile, 'utf8');
    } catch {
      return '';
    }
  }
}

const hasEnded = (child: ChildProcess): boolean => child.exitCode !== null || child.signalCode !== null;

function startKeeper(folder: string): ChildProcess {
  // The keeper inherits stderr: a reader of this output waits until the keeper has removed the folder.
  const keeper = spawn(process.execPath, [keeperFile, folder], {
    env: {},
    stdio: ['pipe', 'ignore', 'inherit'],
    detached: true,
  });
  keeper.unref();
  return keeper;
}
