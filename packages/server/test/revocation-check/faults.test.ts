/**
 * Deleted means dead, whatever fails: the proof on one to three instances of the real program, on a real PostgreSQL and
 * on the embedded database, while they and it are killed, stopped, cut off and starved. The long run is `npm run prove`.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Report } from '../../revocation-check/report.ts';
import { PostgresServer } from '../../test-kit/postgres/server.ts';
import { Cluster } from './cluster.ts';
import { faults, workerFaults, type Fault } from './faults.ts';
import { ordinaryRun, serverOptions } from './mutant-run.ts';
import { runProof } from './proof-run.ts';

let postgres: PostgresServer;
before(async () => {
  postgres = await PostgresServer.start(serverOptions);
});
after(() => postgres[Symbol.asyncDispose]());

async function prove(instances: number, isEmbedded: boolean, happening: readonly Fault[], workers = 1): Promise<void> {
  await using cluster = await Cluster.start({
    instances,
    postgres: isEmbedded ? undefined : postgres,
    environment: { KEYREEVE_WORKERS: String(workers) },
  });
  const happened: Fault[] = [];
  const report = await runProof(cluster, {
    ...ordinaryRun,
    faults: happening,
    onFault: (fault) => happened.push(fault),
  });
  assertProven(report, happened.length);
  assert.deepEqual(happened, happening);
}

/** It saw enough to have noticed. */
function assertProven(report: Report, faultsHappened: number): void {
  assert.deepEqual(report.examples, []);
  assert.equal(report.violations, 0);
  assert.equal(report.acceptedAfterMsMax, null);
  const { verifications, deletions, accountChanges, lists } = report;
  assert.ok(deletions.acknowledged >= (faultsHappened + 1) * ordinaryRun.deletionsBetween, JSON.stringify(report));
  assert.ok(verifications.afterRevocation > deletions.acknowledged * 5, JSON.stringify(report));
  assert.ok(verifications.accepted > deletions.acknowledged, JSON.stringify(report));
  assert.ok(accountChanges > 0 && lists > 0, JSON.stringify(report));
  assert.ok(deletions.created > 0 && deletions.caller > 0, JSON.stringify(report));
}

test('one instance on PostgreSQL: connections are cut around commits, statements are slow, rows are locked', () =>
  prove(1, false, [faults.cutAfter, faults.cutBefore, faults.slow, faults.locked]));

test('two instances on PostgreSQL: they are killed, stand still, are cut off, and find no connection', () =>
  prove(2, false, [faults.killed, faults.stopped, faults.refused, faults.full]));

test('three instances on PostgreSQL: it crashes, is restarted, stands still and can’t be reached, and commits are cut', () =>
  prove(3, false, [faults.crashed, faults.cutAfter, faults.restarted, faults.paused, faults.swallowed]));

test('one process on the embedded database: it is killed and ended', () =>
  prove(1, true, [faults.killed, faults.ended]));

test('two processes on one embedded file: they are killed and stand still', () =>
  prove(2, true, [faults.killed, faults.stopped]));

test('two workers on one port, on PostgreSQL: one is killed, one stands still, and commits are cut', () =>
  prove(1, false, [workerFaults.killed, workerFaults.stopped, faults.cutBefore], 2));

test('two workers on one embedded file: one is killed, one stands still', () =>
  prove(1, true, [workerFaults.killed, workerFaults.stopped], 2));
