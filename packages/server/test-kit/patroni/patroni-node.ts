/** One node of the cluster of tests: a PostgreSQL server, the Patroni that manages it, and the node's network. */
import { spawnSync, type ChildProcess } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../free-port.ts';
import { PostgresDatabases } from '../postgres/databases.ts';
import { familyOf, runningProcesses, signalAll } from '../postgres/processes.ts';
import { hasEnded, type ServerFolder } from '../postgres/server-folder.ts';
import { programMsMax } from '../time-limits.ts';
import { until } from '../until.ts';
import { networkConfiguration, patroniConfiguration, type NodePorts } from './configuration.ts';
import type { PatroniPrograms } from './programs.ts';

interface NodeOptions {
  readonly name: string;
  readonly folder: ServerFolder;
  readonly programs: PatroniPrograms;
  readonly password: string;
  /** Client ports of etcd. */
  readonly etcdPorts: readonly number[];
}

/** Several times what a node stores. */
const diskMebibytes = 768;
const fillBytes = 65_536;

export class PatroniNode {
  readonly name: string;
  readonly ports: NodePorts;
  readonly databases: PostgresDatabases;
  /** Whether the node has a disk of its own, which {@link fillDisk} can fill. Only root can mount one. */
  readonly hasDisk: boolean;
  readonly #options: NodeOptions;
  readonly #folder: string;
  #patroni: ChildProcess | undefined;
  #network: ChildProcess | undefined;

  private constructor(options: NodeOptions, ports: NodePorts) {
    const { name, folder, password } = options;
    this.name = name;
    this.ports = ports;
    this.databases = new PostgresDatabases(`postgres://postgres:${password}@127.0.0.1:${ports.own.postgres}/postgres`);
    this.#options = options;
    this.#folder = join(folder.path, name);
    mkdirSync(this.#folder);
    this.hasDisk = mountDisk(this.#folder);
    folder.give(this.#folder);
  }

  /** Starts its network and Patroni, which creates a new cluster, or copies the leader of an existing one. */
  static async start(options: NodeOptions): Promise<PatroniNode> {
    const { name, folder, programs, etcdPorts, password } = options;
    const newPorts = async () => ({ postgres: await freePort(), rest: await freePort() });
    const own = await newPorts();
    const etcd = await Promise.all(etcdPorts.map(() => freePort()));
    const atNetwork = { ...(await newPorts()), etcd };
    const node = new PatroniNode(options, { own, atNetwork });
    const patroni = { name, folder: node.#folder, ports: node.ports, programs: programs.postgres, password };
    writeFileSync(node.#patroniFile, patroniConfiguration(patroni), { mode: 0o644 });
    const network = networkConfiguration([
      { from: atNetwork.postgres, to: own.postgres },
      { from: atNetwork.rest, to: own.rest },
      ...etcd.map((from, index) => ({ from, to: etcdPorts[index] as number })),
    ]);
    writeFileSync(node.#networkFile, network, { mode: 0o644 });
    node.#network = folder.spawn(programs.haproxy, ['-db', '-f', node.#networkFile], `${name}.log`);
    node.startPatroni();
    return node;
  }

  startPatroni(): void {
    const { folder, programs, name } = this.#options;
    this.#patroni = folder.spawn(programs.patroni, [this.#patroniFile], `${name}.log`);
  }

  /** The end of what its programs have printed. */
  get output(): string {
    return this.#options.folder.log(`${this.name}.log`).slice(-5_000);
  }

  /** @throws Error if a program of the node has ended, which nothing has asked for */
  assertRuns(): void {
    for (const child of [this.#patroni, this.#network])
      if (child === undefined || hasEnded(child))
        throw new Error(`a program of ${this.name} has ended:\n${this.output}`);
  }

  /** @returns whether PostgreSQL responds as a primary; it need not be the leader */
  isPrimary(): Promise<boolean> {
    return this.databases.all('select 1 where not pg_is_in_recovery()').then(
      (rows) => rows.length === 1,
      () => false,
    );
  }

  /** Kills Patroni and PostgreSQL at one moment, like a failure of the machine. */
  async kill(): Promise<void> {
    // Pauses them first, so that none reacts to the end of another.
    await this.pausePatroni();
    await this.pausePostgres();
    const all = [...familyOf(this.#postmaster), ...familyOf(this.#patroniPid)];
    signalAll(all, 'SIGKILL');
    const pids = new Set(all.map(({ pid }) => pid));
    await until('all processes have ended', () => !runningProcesses().some(({ pid }) => pids.has(pid)));
  }

  /** PostgreSQL goes on. */
  async pausePatroni(): Promise<void> {
    const pid = this.#patroniPid;
    signalAll([{ pid }], 'SIGSTOP');
    await untilStopped(pid);
  }

  async pausePostgres(): Promise<void> {
    const pid = this.#postmaster;
    signalAll([{ pid }], 'SIGSTOP');
    await untilStopped(pid);
    // A stopped postmaster starts no children.
    signalAll(familyOf(pid), 'SIGSTOP');
    await until('all processes stop', () => familyOf(pid).every(({ state }) => state === 'T'));
  }

  resumePostgres(): void {
    signalAll(familyOf(this.#postmaster), 'SIGCONT');
  }

  resumePatroni(): void {
    signalAll([{ pid: this.#patroniPid }], 'SIGCONT');
  }

  /** Neither etcd nor the other nodes exchange data with the node, without a message. Clients of the database still reach it. */
  async cutOff(): Promise<void> {
    const pid = this.#network?.pid ?? 0;
    signalAll([{ pid }], 'SIGSTOP');
    await untilStopped(pid);
  }

  /** The network delivers what was sent meanwhile. */
  connect(): void {
    signalAll([{ pid: this.#network?.pid ?? 0 }], 'SIGCONT');
  }

  /** Writes until no byte is free. Called again, it takes what has become free. */
  fillDisk(): void {
    const file = openSync(this.#fillerFile, 'a');
    try {
      for (let bytes = fillBytes; bytes >= 1;)
        try {
          writeSync(file, Buffer.alloc(bytes));
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
          bytes = Math.floor(bytes / 16);
        }
    } finally {
      closeSync(file);
    }
  }

  freeDisk(): void {
    rmSync(this.#fillerFile, { force: true });
  }

  /** Ends every fault of the node, and starts Patroni if it was killed. */
  recover(): void {
    if (this.hasDisk) this.freeDisk();
    this.connect();
    if (this.#patroni && hasEnded(this.#patroni)) return this.startPatroni();
    this.resumePatroni();
    if (this.#hasPostmaster) this.resumePostgres();
  }

  get #patroniPid(): number {
    const pid = this.#patroni?.pid;
    if (pid === undefined) throw new Error(`Patroni of ${this.name} is not running`);
    return pid;
  }

  get #hasPostmaster(): boolean {
    try {
      return runningProcesses().some(({ pid }) => pid === this.#postmaster);
    } catch {
      return false; // No lock file: PostgreSQL has ended, or Patroni replaces its data.
    }
  }

  /** From its lock file, because Patroni starts it. @throws Error without one */
  get #postmaster(): number {
    return Number(readFileSync(join(this.#folder, 'data/postmaster.pid'), 'utf8').split('\n')[0]);
  }

  get #patroniFile(): string {
    return `${this.#folder}.json`;
  }

  get #networkFile(): string {
    return `${this.#folder}.haproxy`;
  }

  get #fillerFile(): string {
    return join(this.#folder, 'filler');
  }
}

const untilStopped = (pid: number): Promise<void> =>
  until('the process stops', () => runningProcesses().some((one) => one.pid === pid && one.state === 'T'));

function mountDisk(path: string): boolean {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return false;
  const args = ['-t', 'tmpfs', '-o', `size=${diskMebibytes}m,mode=755`, 'tmpfs', path];
  return spawnSync('mount', args, { stdio: 'ignore', timeout: programMsMax }).status === 0;
}
