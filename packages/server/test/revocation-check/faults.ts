/**
 * The faults under which a proof runs. Each happens once when it is called, shows that it really has, and is healed
 * when it returns. How long each lasts is part of it: a machine that stands still for a second can’t be had sooner.
 */
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { Client } from 'pg';
import type { PostgresServer } from '../../test-kit/postgres/server.ts';
import type { Cluster, ClusterInstance } from './cluster.ts';
import type { CommitCut, FaultProxy } from './fault-proxy.ts';
import { until } from './until.ts';

export interface Fault {
  readonly name: string;
  /** Whether it can happen on the embedded database as well. */
  readonly isForEmbedded: boolean;
  readonly happen: (cluster: Cluster, bounds: FaultBounds) => Promise<void>;
}

export interface FaultBounds {
  /** How long an instance or the database stands still, and how long locks are held. */
  readonly standstillMs: number;
  /** Resolves after some more deletions have been acknowledged, wherever that is possible. */
  readonly progress: () => Promise<void>;
}

const noticedMsMax = 60_000;
/** Of each answer of the database: many times what it usually takes. */
const slowMs = 50;
const commitsCut = 3;

const someInstance = ({ instances }: Cluster): ClusterInstance =>
  instances[randomInt(instances.length)] as ClusterInstance;
const others = (cluster: Cluster, instance: ClusterInstance): boolean =>
  cluster.instances.some((one) => one !== instance);
const proxyOf = ({ proxy }: ClusterInstance): FaultProxy => {
  assert.ok(proxy, 'only on PostgreSQL');
  return proxy;
};
const serverOf = ({ postgres }: Cluster): PostgresServer => {
  assert.ok(postgres, 'only on PostgreSQL');
  return postgres;
};

async function killInstance(cluster: Cluster, { progress }: FaultBounds): Promise<void> {
  const instance = someInstance(cluster);
  await instance.kill();
  assert.equal(instance.isRunning, false);
  if (others(cluster, instance)) await progress();
  await instance.start();
}

async function standStill(cluster: Cluster, { standstillMs }: FaultBounds): Promise<void> {
  const instance = someInstance(cluster);
  await instance.pause();
  await setTimeout(standstillMs);
  instance.resume();
}

const someWorker = (instance: ClusterInstance): number => {
  const { workers } = instance;
  assert.ok(workers.length > 1, 'only with workers');
  return workers[randomInt(workers.length)] as number;
};

/** Its supervisor starts another. */
async function killWorker(cluster: Cluster): Promise<void> {
  const instance = someInstance(cluster);
  const { length } = instance.workers;
  const pid = someWorker(instance);
  process.kill(pid, 'SIGKILL');
  await until('the worker is replaced', noticedMsMax, () => {
    const { workers } = instance;
    return workers.length === length && !workers.includes(pid);
  });
}

async function stopWorker(cluster: Cluster, { standstillMs }: FaultBounds): Promise<void> {
  const pid = someWorker(someInstance(cluster));
  process.kill(pid, 'SIGSTOP');
  await setTimeout(standstillMs);
  process.kill(pid, 'SIGCONT');
}

async function endInstance(cluster: Cluster, { progress }: FaultBounds): Promise<void> {
  const instance = someInstance(cluster);
  assert.equal(await instance.stop(), 0, instance.output);
  if (others(cluster, instance)) await progress();
  await instance.start();
}

async function cutCommits(cluster: Cluster, cut: CommitCut): Promise<void> {
  const proxies = cluster.instances.map(proxyOf);
  const count = (): number => proxies.reduce((sum, { counts }) => sum + counts.commitsCut[cut], 0);
  const before = count();
  // Every second one, so that what is tried again comes through.
  for (const proxy of proxies) proxy.cutCommits(cut, { every: 2, statement: 'delete_api_key' });
  await until(`deletions’ commits are cut ${cut}`, noticedMsMax, () => count() >= before + commitsCut);
  for (const proxy of proxies) proxy.heal();
}

/** At one instance: what is asked there is answered late while others go on. */
async function slowStatements(cluster: Cluster, { progress }: FaultBounds): Promise<void> {
  const proxy = proxyOf(someInstance(cluster));
  const before = proxy.counts.delayed;
  proxy.delayMs = slowMs;
  await progress();
  await until('answers are delayed', noticedMsMax, () => proxy.counts.delayed > before);
  proxy.heal();
}

async function swallowEverything(cluster: Cluster, { standstillMs }: FaultBounds): Promise<void> {
  const proxy = proxyOf(someInstance(cluster));
  const before = proxy.counts.swallowed;
  proxy.isBlackHole = true;
  await setTimeout(standstillMs);
  await until('messages are swallowed', noticedMsMax, () => proxy.counts.swallowed > before);
  proxy.heal();
}

async function cutEverything(cluster: Cluster, { standstillMs }: FaultBounds): Promise<void> {
  const proxy = proxyOf(someInstance(cluster));
  const { refused, cut } = proxy.counts;
  proxy.refuse();
  proxy.cutAll();
  await setTimeout(standstillMs / 2);
  await until('connections are refused', noticedMsMax, () => proxy.counts.refused > refused);
  proxy.heal();
  assert.ok(proxy.counts.cut > cut);
}

async function restartDatabase(cluster: Cluster): Promise<void> {
  const server = serverOf(cluster);
  const before = server.pid;
  await server.restart();
  assert.notEqual(server.pid, before);
}

async function crashDatabase(cluster: Cluster): Promise<void> {
  const server = serverOf(cluster);
  const before = server.pid;
  await server.crash();
  await server.startAgain();
  assert.notEqual(server.pid, before);
}

async function pauseDatabase(cluster: Cluster, { standstillMs }: FaultBounds): Promise<void> {
  const server = serverOf(cluster);
  await server.pause();
  await setTimeout(standstillMs);
  server.resume();
}

/** Every writer waits for a row, so the pool has none left; reads go on. */
async function lockAccounts(cluster: Cluster, { standstillMs }: FaultBounds): Promise<void> {
  const client = await connect(cluster.databaseUrl);
  try {
    await client.query('begin');
    await client.query('select pk from accounts for update');
    const watcher = await connect(cluster.databaseUrl);
    await until('somebody waits for a row', noticedMsMax, async () => {
      const { rows } = await watcher.query<{ n: string }>(
        `select count(*) as n from pg_stat_activity where wait_event_type = 'Lock' and application_name = 'keyreeve writer'`,
      );
      return Number(rows[0]?.n) > 0;
    }).finally(() => watcher.end());
    await setTimeout(standstillMs);
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Somebody else holds every connection that the server has. */
async function useUpConnections(cluster: Cluster, { standstillMs }: FaultBounds): Promise<void> {
  const proxies = cluster.instances.map(proxyOf);
  const before = proxies.map(({ counts }) => counts.connections);
  const held: Client[] = [];
  try {
    for (let client = await connectIfRoom(cluster.databaseUrl); client;) {
      held.push(client);
      // What the instances had is taken from them, so that they must ask for it again.
      for (const proxy of proxies) proxy.cutAll();
      client = await connectIfRoom(cluster.databaseUrl);
    }
    await setTimeout(standstillMs / 2);
    await until('instances ask for connections', noticedMsMax, () =>
      proxies.every(({ counts }, index) => counts.connections > (before[index] ?? 0)),
    );
  } finally {
    await Promise.all(held.map((client) => client.end().catch(() => undefined)));
  }
}

/** Undefined when the server has no connection left (too_many_connections). */
const connectIfRoom = (connectionString: string): Promise<Client | undefined> =>
  connect(connectionString).catch((error: unknown) => {
    assert.equal((error as { code?: string }).code, '53300', String(error));
    return undefined;
  });

async function connect(connectionString: string): Promise<Client> {
  const client = new Client({ connectionString });
  client.on('error', () => undefined);
  await client.connect();
  return client;
}

export const faults = {
  killed: { name: 'an instance is killed and started again', isForEmbedded: true, happen: killInstance },
  ended: { name: 'an instance is asked to end and started again', isForEmbedded: true, happen: endInstance },
  stopped: { name: 'an instance stands still (SIGSTOP)', isForEmbedded: true, happen: standStill },
  cutBefore: {
    name: 'connections are cut before a deletion’s commit',
    isForEmbedded: false,
    happen: (cluster) => cutCommits(cluster, 'before it is sent'),
  },
  cutAfter: {
    name: 'connections are cut between a deletion’s commit and its answer',
    isForEmbedded: false,
    happen: (cluster) => cutCommits(cluster, 'before its answer'),
  },
  slow: { name: 'statements are slow', isForEmbedded: false, happen: slowStatements },
  swallowed: { name: 'the network swallows everything', isForEmbedded: false, happen: swallowEverything },
  refused: { name: 'connections are cut and refused', isForEmbedded: false, happen: cutEverything },
  locked: { name: 'rows are locked until no writer is left', isForEmbedded: false, happen: lockAccounts },
  full: { name: 'the database has no connection left', isForEmbedded: false, happen: useUpConnections },
  paused: { name: 'the database stands still (SIGSTOP)', isForEmbedded: false, happen: pauseDatabase },
  restarted: { name: 'the database is restarted', isForEmbedded: false, happen: restartDatabase },
  crashed: { name: 'the database crashes', isForEmbedded: false, happen: crashDatabase },
} as const satisfies Readonly<Record<string, Fault>>;

/** Where several processes share an instance’s port. */
export const workerFaults = {
  killed: { name: 'a worker is killed and replaced', isForEmbedded: true, happen: killWorker },
  stopped: { name: 'a worker stands still (SIGSTOP)', isForEmbedded: true, happen: stopWorker },
} as const satisfies Readonly<Record<string, Fault>>;
