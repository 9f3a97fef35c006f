/**
 * A PostgreSQL server for tests, in a temporary folder on a free loopback port, which tests can restart, crash and pause. It
 * ends with the process that started it, for any reason (`keeper.ts`), and does not keep that process running.
 */
import { spawnSync, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../free-port.ts';
import { until } from '../until.ts';
import { findPostgres, type PostgresBinaries } from './binaries.ts';
import { PostgresDatabases, type TestDatabase } from './databases.ts';
import { familyOf, runningProcesses, signalAll } from './processes.ts';
import { hasEnded, ServerFolder } from './server-folder.ts';

const portTriesMax = 10;

export interface PostgresServerOptions {
  /** Whether a commit waits for the disk. Otherwise the server is several times faster. */
  readonly durable?: boolean;
  /** Additional settings for `postgresql.conf`. */
  readonly settings?: Readonly<Record<string, string>>;
}

export class PostgresServer implements AsyncDisposable {
  /** Contains its data and its log. */
  readonly #folder = new ServerFolder('postgres');
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

  get folder(): string {
    return this.#folder.path;
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
    await this.#folder[Symbol.asyncDispose]();
    this.#postmaster = undefined;
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
    return (this.#binaries = findPostgres(this.folder, this.#folder.user));
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
    const child = this.#folder.spawn(initdb, [
      `--pgdata=${this.#data}`,
      ...args,
      '--encoding=UTF8',
      '--locale=C',
      '--no-instructions',
    ]);
    await until('initdb ends', () => hasEnded(child));
    if (child.exitCode !== 0) throw new Error(`PostgreSQL’s initdb failed:\n${this.#folder.log()}`);
    const settings = Object.entries(this.#settings).map(
      ([name, value]) => `${name} = '${value.replaceAll("'", "''")}'`,
    );
    writeFileSync(join(this.#data, 'postgresql.conf'), `${settings.join('\n')}\n`, { flag: 'a' });
  }

  /** @returns the output if the server ended before it accepted a connection */
  async #tryStart(): Promise<string | undefined> {
    if (this.#binaries === undefined) throw new Error('PostgreSQL is not installed');
    const logLength = this.#folder.log().length;
    const child = this.#folder.spawn(this.#binaries.postgres, ['-D', this.#data, '-p', String(this.#port)]);
    this.#postmaster = child;
    const isReady = (): Promise<boolean> =>
      new PostgresDatabases(this.url()).run('select 1').then(
        () => true,
        () => false,
      );
    await until('it accepts connections', async () => hasEnded(child) || (await isReady()));
    if (!hasEnded(child)) return undefined;
    this.#postmaster = undefined;
    return this.#folder.log().slice(logLength);
  }

  get #data(): string {
    return join(this.folder, 'data');
  }
}
