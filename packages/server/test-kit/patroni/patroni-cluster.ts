/**
 * Three PostgreSQL servers in synchronous mode that Patroni manages, with etcd of three members, for tests. Clients find the
 * primary by a list of hosts, or through HAProxy, which checks the REST API of Patroni. Everything listens on loopback ports
 * and ends with the process that started it, for any reason (`keeper.ts`).
 */
import type { ChildProcess } from 'node:child_process';
import { randomBytes, randomInt } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { monotonicMs } from '../../src/foundation/clock.ts';
import { freePort } from '../free-port.ts';
import type { TestDatabase } from '../postgres/databases.ts';
import { signalAll } from '../postgres/processes.ts';
import { ServerFolder } from '../postgres/server-folder.ts';
import { until } from '../until.ts';
import { frontConfiguration } from './configuration.ts';
import { PatroniNode } from './patroni-node.ts';
import { findPatroni, type PatroniPrograms } from './programs.ts';

const nodeCount = 3;
const etcdCount = 3;

interface Member {
  readonly name: string;
  readonly role: string;
  readonly state: string;
  readonly timeline?: number;
}

export class PatroniCluster implements AsyncDisposable {
  readonly nodes: PatroniNode[] = [];
  readonly #folder = new ServerFolder('patroni');
  readonly #programs: PatroniPrograms;
  readonly #password = randomBytes(16).toString('hex');
  readonly #etcd: ChildProcess[] = [];
  #frontPort = 0;

  private constructor(programs: PatroniPrograms) {
    this.#programs = programs;
  }

  /** @throws Error if a program is missing, or ends */
  static async start(): Promise<PatroniCluster> {
    const programs = findPatroni();
    if (!('patroni' in programs)) throw new Error(`a cluster needs ${programs.join(', ')}, which this machine lacks`);
    const cluster = new PatroniCluster(programs);
    try {
      const etcdPorts = await cluster.#startEtcd();
      for (let number = 1; number <= nodeCount; number++) {
        const { name, folder, password } = {
          name: `node${number}`,
          folder: cluster.#folder,
          password: cluster.#password,
        };
        cluster.nodes.push(await PatroniNode.start({ name, folder, programs, password, etcdPorts }));
      }
      await cluster.#startFront();
      await cluster.settled();
      return cluster;
    } catch (error) {
      await cluster[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** @returns the leader of a settled cluster */
  async leader(): Promise<PatroniNode> {
    const leader = await this.#nodeOf('leader');
    if (!leader) throw new Error('the cluster has no leader');
    return leader;
  }

  /** Waits for a synchronous standby. @param former is another one */
  async synchronousStandby(former?: PatroniNode): Promise<PatroniNode> {
    let standby: PatroniNode | undefined;
    await until('another server is the synchronous standby', async () => {
      standby = await this.#nodeOf('sync_standby').catch(() => undefined);
      return standby !== undefined && standby !== former;
    });
    if (!standby) throw new Error('the cluster has no synchronous standby');
    return standby;
  }

  /**
   * Waits until another server than `former` is a primary.
   * @param meanwhile called repeatedly
   * @returns when it was, in monotonic milliseconds
   */
  async promoted(former?: PatroniNode, meanwhile?: () => void): Promise<number> {
    const others = this.nodes.filter((node) => node !== former);
    await until('another server is the primary', async () => {
      meanwhile?.();
      const answers = await Promise.all(others.map((node) => node.isPrimary()));
      return answers.includes(true);
    });
    return monotonicMs();
  }

  /** Waits until no server is a primary. */
  async demoted(): Promise<void> {
    await until('no server is a primary', async () => {
      const answers = await Promise.all(this.nodes.map((node) => node.isPrimary()));
      return !answers.includes(true);
    });
  }

  /** Asks Patroni for a planned switchover to the synchronous standby. */
  async switchOver(): Promise<void> {
    const leader = await this.leader();
    const body = { leader: leader.name, candidate: (await this.synchronousStandby()).name };
    const response = await fetch(`http://127.0.0.1:${leader.ports.own.rest}/switchover`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (response.status !== 200) throw new Error(`Patroni rejects a switchover: ${await response.text()}`);
  }

  /** Without a majority, etcd confirms nothing. */
  pauseMostOfEtcd(): void {
    signalAll(this.#etcdPids.slice(1), 'SIGSTOP');
  }

  resumeEtcd(): void {
    signalAll(this.#etcdPids, 'SIGCONT');
  }

  /** Ends all faults, and waits until the cluster is settled. */
  async recover(): Promise<void> {
    this.resumeEtcd();
    for (const node of this.nodes) node.recover();
    await this.settled();
  }

  /** Waits until one node leads, and the others follow it, one of them synchronously. */
  async settled(): Promise<void> {
    await until('the cluster is settled', async () => {
      for (const node of this.nodes) node.assertRuns();
      const members = await this.#members().catch(() => []);
      const roles = members.map(({ role, state }) => `${role} ${state}`).toSorted();
      const timelines = new Set(members.map(({ timeline }) => timeline));
      if (roles.join() !== settledRoles.join() || timelines.size !== 1) return false;
      const answers = await Promise.all(this.nodes.map((node) => node.isPrimary()));
      return answers.filter(Boolean).length === 1;
    });
  }

  /** @returns a URL with all servers, for even numbers of instances, or of HAProxy, which forwards to the leader */
  urlFor(instance: number, databaseUrl: string): string {
    if (instance % 2 === 0) return databaseUrl;
    const { pathname } = new URL(databaseUrl.replace(/@[^/]+/, '@127.0.0.1'));
    return `postgres://postgres:${this.#password}@127.0.0.1:${this.#frontPort}${pathname}`;
  }

  /** @returns a new database, with a URL that names all servers */
  async createDatabase(): Promise<TestDatabase> {
    const created = await (await this.leader()).databases.createDatabase();
    const name = new URL(created.url).pathname.slice(1);
    const hosts = this.nodes.map(({ ports }) => `127.0.0.1:${ports.own.postgres}`);
    return {
      url: `postgres://postgres:${this.#password}@${hosts.join(',')}/${name}`,
      drop: async () => (await this.leader()).databases.run(`drop database if exists ${name} with (force)`),
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#folder[Symbol.asyncDispose]();
  }

  get #etcdPids(): { readonly pid: number }[] {
    return this.#etcd.map(({ pid = 0 }) => ({ pid }));
  }

  async #nodeOf(role: string): Promise<PatroniNode | undefined> {
    const member = (await this.#members()).find((one) => one.role === role);
    return this.nodes.find(({ name }) => name === member?.name);
  }

  /** As a random node sees them. */
  async #members(): Promise<readonly Member[]> {
    const node = this.nodes[randomInt(this.nodes.length)] as PatroniNode;
    const response = await fetch(`http://127.0.0.1:${node.ports.own.rest}/cluster`);
    const { members = [] } = (await response.json()) as { members?: readonly Member[] };
    return members;
  }

  /** @returns the ports for clients */
  async #startEtcd(): Promise<readonly number[]> {
    const members: { name: string; client: number; peer: number }[] = [];
    for (let number = 1; number <= etcdCount; number++)
      members.push({ name: `etcd${number}`, client: await freePort(), peer: await freePort() });
    const url = (port: number): string => `http://127.0.0.1:${port}`;
    const all = members.map(({ name, peer }) => `${name}=${url(peer)}`).join(',');
    for (const { name, client, peer } of members) {
      const options = {
        name,
        'data-dir': join(this.#folder.path, name),
        'listen-client-urls': url(client),
        'advertise-client-urls': url(client),
        'listen-peer-urls': url(peer),
        'initial-advertise-peer-urls': url(peer),
        'initial-cluster': all,
      };
      const args = Object.entries(options).map(([option, value]) => `--${option}=${value}`);
      this.#etcd.push(this.#folder.spawn(this.#programs.etcd, args, 'etcd.log'));
    }
    // Patroni ends at a version that is not decided.
    await until('the members of etcd have agreed on a version', async () => {
      const versions = members.map(async ({ client }) => (await fetch(`${url(client)}/version`)).text());
      return (await Promise.all(versions).catch(() => ['not_decided'])).every((text) => !text.includes('not_decided'));
    });
    return members.map(({ client }) => client);
  }

  async #startFront(): Promise<void> {
    this.#frontPort = await freePort();
    const file = join(this.#folder.path, 'front.haproxy');
    const nodes = this.nodes.map(({ ports }) => ports.own);
    writeFileSync(file, frontConfiguration(this.#frontPort, nodes), { mode: 0o644 });
    this.#folder.spawn(this.#programs.haproxy, ['-db', '-f', file], 'front.log');
  }
}

const settledRoles = ['leader running', 'replica streaming', 'sync_standby streaming'];
