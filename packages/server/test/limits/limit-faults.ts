/** The faults of the runs with limits. Each waits until its effect is observable, and ends before it returns. */
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { until } from '../../test-kit/until.ts';
import type { Cluster, ClusterInstance } from '../revocation-check/cluster.ts';
import { lasts } from '../revocation-check/fault-duration.ts';
import type { CommitCut, FaultProxy } from '../revocation-check/fault-proxy.ts';

export interface LimitFaultBounds {
  /** How long an instance is paused. */
  readonly pauseMs: number;
  /** Resolves after some more responses of any instance. */
  readonly progress: () => Promise<void>;
}

type Inject = (cluster: Cluster, bounds: LimitFaultBounds) => Promise<void>;

const drawsCut = 3;

const someInstance = ({ instances }: Cluster): ClusterInstance =>
  instances[randomInt(instances.length)] as ClusterInstance;

const proxiesOf = ({ instances }: Cluster): readonly FaultProxy[] =>
  instances.map(({ proxy }) => {
    assert.ok(proxy, 'only on PostgreSQL');
    return proxy;
  });

/** Every second commit of a draw on each instance. */
async function cutDraws(cluster: Cluster, cut: CommitCut): Promise<void> {
  const proxies = proxiesOf(cluster);
  const count = (): number => proxies.reduce((sum, { counts }) => sum + counts.commitsCut[cut], 0);
  const before = count();
  for (const proxy of proxies) proxy.cutCommits(cut, { every: 2, statement: 'save_key_meters' });
  await until(`commits of draws are cut ${cut}`, () => count() >= before + drawsCut);
  for (const proxy of proxies) proxy.clearFaults();
}

const killed: Inject = async (cluster, { progress }) => {
  const instance = someInstance(cluster);
  await instance.kill();
  if (cluster.instances.length > 1) await progress();
  await instance.start();
};

const verifierKilled: Inject = async (cluster) => {
  const instance = someInstance(cluster);
  const before = instance.verifiers;
  const pid = before[randomInt(before.length)] as number;
  process.kill(pid, 'SIGKILL');
  await until('the verifier is replaced', () => {
    const { verifiers } = instance;
    return verifiers.length === before.length && !verifiers.includes(pid);
  });
};

const paused: Inject = async (cluster, { pauseMs }) => {
  const instance = someInstance(cluster);
  await instance.pause();
  await lasts(pauseMs);
  instance.resume();
};

const cutAll: Inject = async (cluster, { progress }) => {
  for (const proxy of proxiesOf(cluster)) proxy.cutAll();
  await progress();
};

export const limitFaults = {
  killed,
  verifierKilled,
  paused,
  cutAll,
  cutBefore: (cluster) => cutDraws(cluster, 'before it is sent'),
  cutAfter: (cluster) => cutDraws(cluster, 'before its response'),
} as const satisfies Readonly<Record<string, Inject>>;

export type LimitFault = keyof typeof limitFaults;
