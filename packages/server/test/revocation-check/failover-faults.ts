/**
 * The faults of a cluster that Patroni manages. Each function injects one fault and waits until keys are deleted beside it;
 * `Cluster.recover` ends it.
 */
import assert from 'node:assert/strict';
import type { PatroniCluster } from '../../test-kit/patroni/patroni-cluster.ts';
import type { PatroniNode } from '../../test-kit/patroni/patroni-node.ts';
import type { Cluster } from './cluster.ts';
import type { Fault, FaultBounds } from './faults.ts';

/** @returns when the new leader was promoted, in monotonic milliseconds; undefined if the leader stays */
type Inject = (patroni: PatroniCluster, leader: PatroniNode, bounds: FaultBounds) => Promise<number | undefined>;

export interface FailoverFault {
  readonly name: string;
  /** No verification may fail, except of keys with a change of unknown outcome. */
  readonly isUnnoticed?: boolean;
  readonly inject: Inject;
}

const leaderKilled: Inject = async (patroni, leader, { progress }) => {
  await leader.kill();
  const promotedMs = await patroni.promoted(leader);
  await progress();
  return promotedMs;
};

const leaderCutOff: Inject = async (patroni, leader, { progress }) => {
  await leader.cutOff();
  const promotedMs = await patroni.promoted(leader);
  await progress();
  return promotedMs;
};

/** The former leader stays a primary until its Patroni continues. */
const patroniPaused: Inject = async (patroni, leader, { progress }) => {
  await leader.pausePatroni();
  const promotedMs = await patroni.promoted(leader);
  assert.ok(await leader.isPrimary(), 'nothing has demoted the former leader');
  await progress();
  return promotedMs;
};

const postgresPaused: Inject = async (patroni, leader, { progress }) => {
  await leader.pausePostgres();
  const promotedMs = await patroni.promoted(leader);
  leader.resumePostgres();
  await progress();
  return promotedMs;
};

const diskFull: Inject = async (patroni, leader, { progress }) => {
  const promotedMs = await patroni.promoted(leader, () => leader.fillDisk());
  await progress();
  return promotedMs;
};

const switchedOver: Inject = async (patroni, leader, { progress }) => {
  const promoted = patroni.promoted(leader);
  await patroni.switchOver();
  const promotedMs = await promoted;
  await progress();
  return promotedMs;
};

/** Until Patroni has chosen another one, no commit is confirmed, so no proof is renewed. */
const standbyPaused: Inject = async (patroni, _leader, { progress }) => {
  const standby = await patroni.synchronousStandby();
  await standby.pausePostgres();
  await patroni.synchronousStandby(standby);
  await progress();
  return undefined;
};

const etcdWithoutQuorum: Inject = async (patroni) => {
  patroni.pauseMostOfEtcd();
  await patroni.demoted();
  patroni.resumeEtcd();
  return patroni.promoted();
};

export const failoverFaults = {
  leaderKilled: { name: 'the leader is killed (PostgreSQL and Patroni)', inject: leaderKilled },
  leaderCutOff: {
    name: 'the leader is cut off from etcd and the other nodes, not from the instances',
    inject: leaderCutOff,
  },
  patroniPaused: { name: 'Patroni of the leader is paused (SIGSTOP), PostgreSQL goes on', inject: patroniPaused },
  postgresPaused: {
    name: 'PostgreSQL of the leader is paused, and continues after the promotion',
    inject: postgresPaused,
  },
  diskFull: { name: 'the disk of the leader is full', inject: diskFull },
  switchedOver: { name: 'a planned switchover', isUnnoticed: true, inject: switchedOver },
  standbyPaused: {
    name: 'PostgreSQL of the synchronous standby is paused',
    isUnnoticed: true,
    inject: standbyPaused,
  },
  etcdWithoutQuorum: { name: 'two of three members of etcd are paused', inject: etcdWithoutQuorum },
} as const satisfies Readonly<Record<string, FailoverFault>>;

/** @param onPromoted gets what the fault returns */
export const asFault = ({ name, inject }: FailoverFault, onPromoted: (ms: number | undefined) => void): Fault => ({
  name,
  isForEmbedded: false,
  inject: async ({ patroni }: Cluster, bounds) => {
    assert.ok(patroni, 'only on a cluster that Patroni manages');
    onPromoted(await inject(patroni, await patroni.leader(), bounds));
  },
});

/** Without a disk of its own, the leader’s cannot be filled. */
export const possibleFaults = ({ nodes }: PatroniCluster): readonly FailoverFault[] =>
  Object.values<FailoverFault>(failoverFaults).filter(
    (fault) => fault !== failoverFaults.diskFull || nodes.every(({ hasDisk }) => hasDisk),
  );
