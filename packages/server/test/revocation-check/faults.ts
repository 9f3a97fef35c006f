/**
 * The faults of the published runs. Each function injects one fault, waits until its effect is observable, and ends it before
 * it returns.
 */
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { Client } from 'pg';
import type { PostgresServer } from '../../test-kit/postgres/server.ts';
import type { Cluster, ClusterInstance } from './cluster.ts';
import { lasts } from './fault-duration.ts';
import type { CommitCut, FaultProxy } from './fault-proxy.ts';
import { until } from '../../test-kit/until.ts';

export interface Fault {
  readonly name: string;
  /** Whether the fault is possible on the embedded database. */
  readonly isForEmbedded: boolean;
  readonly inject: (cluster: Cluster, bounds: FaultBounds) => Promise<void>;
}

export interface FaultBounds {
  /** How long an instance or the database is paused, and how long locks are held. */
  readonly faultMs: number;
  /** Resolves after some more deletions have been acknowledged at any instance. */
  readonly progress: () => Promise<void>;
}

/** Per response of the database, which usually takes less than a millisecond. */
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

async function pauseInstance(cluster: Cluster, { faultMs }: FaultBounds): Promise<void> {
  const instance = someInstance(cluster);
  await instance.pause();
  await lasts(faultMs);
  instance.resume();
}

const someVerifier = ({ verifiers }: ClusterInstance): number => {
  assert.ok(verifiers.length > 0, 'only with verifiers');
  return verifiers[randomInt(verifiers.length)] as number;
};

/** The main process must replace it. */
async function killVerifier(cluster: Cluster): Promise<void> {
  const instance = someInstance(cluster);
  const { length } = instance.verifiers;
  const pid = someVerifier(instance);
  process.kill(pid, 'SIGKILL');
  await until('the verifier is replaced', () => {
    const { verifiers } = instance;
    return verifiers.length === length && !verifiers.includes(pid);
  });
}

async function pauseVerifier(cluster: Cluster, { faultMs }: FaultBounds): Promise<void> {
  const pid = someVerifier(someInstance(cluster));
  process.kill(pid, 'SIGSTOP');
  await lasts(faultMs);
  process.kill(pid, 'SIGCONT');
}

async function stopInstance(cluster: Cluster, { progress }: FaultBounds): Promise<void> {
  const instance = someInstance(cluster);
  const status = await instance.stop();
  // A slow machine does not finish every request within the second of the drain. The log and the exit status then say so.
  const isDrained = !instance.output.includes('"event":"stopped","isDrained":false');
  assert.equal(status, isDrained ? 0 : 1, instance.output);
  if (others(cluster, instance)) await progress();
  await instance.start();
}

async function cutCommits(cluster: Cluster, cut: CommitCut): Promise<void> {
  const proxies = cluster.instances.map(proxyOf);
  const count = (): number => proxies.reduce((sum, { counts }) => sum + counts.commitsCut[cut], 0);
  const before = count();
  // Every second commit, so that a repeated deletion succeeds.
  for (const proxy of proxies) proxy.cutCommits(cut, { every: 2, statement: 'delete_api_key' });
  await until(`deletions’ commits are cut ${cut}`, () => count() >= before + commitsCut);
  for (const proxy of proxies) proxy.clearFaults();
}

/** Between one instance and the database. */
async function delayResponses(cluster: Cluster, { progress }: FaultBounds, delayMs: number): Promise<void> {
  const proxy = proxyOf(someInstance(cluster));
  const before = proxy.counts.delayed;
  proxy.delayMs = delayMs;
  await progress();
  await until('responses are delayed', () => proxy.counts.delayed > before);
  proxy.clearFaults();
}

async function dropAllData(cluster: Cluster, { faultMs }: FaultBounds): Promise<void> {
  const proxy = proxyOf(someInstance(cluster));
  const before = proxy.counts.dropped;
  proxy.isBlackHole = true;
  await lasts(faultMs);
  await until('messages are dropped', () => proxy.counts.dropped > before);
  proxy.clearFaults();
}

async function cutAndRefuse(cluster: Cluster, { faultMs }: FaultBounds): Promise<void> {
  const proxy = proxyOf(someInstance(cluster));
  const { refused, cut } = proxy.counts;
  proxy.refuse();
  proxy.cutAll();
  await lasts(faultMs / 2);
  await until('connections are refused', () => proxy.counts.refused > refused);
  proxy.clearFaults();
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

async function pauseDatabase(cluster: Cluster, { faultMs }: FaultBounds): Promise<void> {
  const server = serverOf(cluster);
  await server.pause();
  await lasts(faultMs);
  server.resume();
}

/** Every connection for writes waits for a row. Reads continue. */
async function lockAccounts(cluster: Cluster, { faultMs }: FaultBounds): Promise<void> {
  const client = await connect(cluster.databaseUrl);
  try {
    await client.query('begin');
    await client.query('select pk from accounts for update');
    const watcher = await connect(cluster.databaseUrl);
    await until('a writer waits for a row', async () => {
      const { rows } = await watcher.query<{ n: string }>(
        `select count(*) as n from pg_stat_activity where wait_event_type = 'Lock' and application_name = 'keyreeve writer'`,
      );
      return Number(rows[0]?.n) > 0;
    }).finally(() => watcher.end());
    await lasts(faultMs);
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Other clients use all connections of the server. */
async function useAllConnections(cluster: Cluster, { faultMs }: FaultBounds): Promise<void> {
  const proxies = cluster.instances.map(proxyOf);
  const before = proxies.map(({ counts }) => counts.connections);
  const held: Client[] = [];
  try {
    for (let client = await connectIfPossible(cluster.databaseUrl); client;) {
      held.push(client);
      // Cuts the connections of the instances, which must open new ones.
      for (const proxy of proxies) proxy.cutAll();
      client = await connectIfPossible(cluster.databaseUrl);
    }
    await lasts(faultMs / 2);
    await until('instances open connections', () =>
      proxies.every(({ counts }, index) => counts.connections > (before[index] ?? 0)),
    );
  } finally {
    await Promise.all(held.map((client) => client.end().catch(() => undefined)));
  }
}

/** @returns undefined if the server rejects the connection with `too_many_connections` */
const connectIfPossible = (connectionString: string): Promise<Client | undefined> =>
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

/** @param delayMs per response of the database to one instance */
export const slowDatabase = (delayMs: number): Fault => ({
  name: 'the database’s responses are slow',
  isForEmbedded: false,
  inject: (cluster, bounds) => delayResponses(cluster, bounds, delayMs),
});

export const faults = {
  killed: { name: 'an instance is killed and restarted (SIGKILL)', isForEmbedded: true, inject: killInstance },
  stopped: { name: 'an instance is stopped and restarted (SIGTERM)', isForEmbedded: true, inject: stopInstance },
  paused: { name: 'an instance is paused (SIGSTOP)', isForEmbedded: true, inject: pauseInstance },
  cutBefore: {
    name: 'connections are cut before a deletion’s commit',
    isForEmbedded: false,
    inject: (cluster) => cutCommits(cluster, 'before it is sent'),
  },
  cutAfter: {
    name: 'connections are cut between a deletion’s commit and its response',
    isForEmbedded: false,
    inject: (cluster) => cutCommits(cluster, 'before its response'),
  },
  slow: slowDatabase(slowMs),
  dropped: { name: 'the network drops all data', isForEmbedded: false, inject: dropAllData },
  refused: { name: 'connections are cut and refused', isForEmbedded: false, inject: cutAndRefuse },
  locked: { name: 'rows are locked until all writers wait', isForEmbedded: false, inject: lockAccounts },
  full: { name: 'the database has no free connection', isForEmbedded: false, inject: useAllConnections },
  databasePaused: { name: 'the database is paused (SIGSTOP)', isForEmbedded: false, inject: pauseDatabase },
  databaseRestarted: { name: 'the database is restarted', isForEmbedded: false, inject: restartDatabase },
  databaseCrashed: { name: 'the database crashes', isForEmbedded: false, inject: crashDatabase },
} as const satisfies Readonly<Record<string, Fault>>;

/** For instances whose port several processes share. */

/** For instances with processes that only verify. */
export const verifierFaults = {
  killed: { name: 'a verifier is killed and replaced', isForEmbedded: true, inject: killVerifier },
  paused: { name: 'a verifier is paused (SIGSTOP)', isForEmbedded: true, inject: pauseVerifier },
} as const satisfies Readonly<Record<string, Fault>>;
