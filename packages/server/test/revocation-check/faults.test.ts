/**
 * The revocation check on one to three instances, on PostgreSQL and on the embedded database, while instances, the database and
 * their connections fail. `npm run prove` is the long run.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { narrowingsIn, type Report } from '../../revocation-check/report.ts';
import { PostgresServer } from '../../test-kit/postgres/server.ts';
import { Cluster } from './cluster.ts';
import { faults, workerFaults, type Fault } from './faults.ts';
import { ordinaryRun, serverOptions } from './mutant-run.ts';
import { narrowingsBetween, runWithFaults } from './run-with-faults.ts';

let postgres: PostgresServer;
before(async () => {
  postgres = await PostgresServer.start(serverOptions);
});
after(() => postgres[Symbol.asyncDispose]());

async function check(
  instances: number,
  isEmbedded: boolean,
  injected: readonly Fault[],
  { workers = 1, scopes = 'open' }: { readonly workers?: number; readonly scopes?: 'open' | 'catalogue' } = {},
): Promise<void> {
  await using cluster = await Cluster.start({
    instances,
    postgres: isEmbedded ? undefined : postgres,
    environment: { KEYREEVE_WORKERS: String(workers), KEYREEVE_SCOPES: scopes },
  });
  const happened: Fault[] = [];
  const report = await runWithFaults(cluster, {
    ...ordinaryRun,
    faults: injected,
    onFault: (fault) => happened.push(fault),
  });
  assertPassed(report, happened.length);
  if (scopes === 'catalogue') assertCatalogueChanged(report);
  assert.deepEqual(happened, injected);
}

/** No violation, and enough observations to detect one. */
function assertPassed(report: Report, faultsHappened: number): void {
  assert.deepEqual(report.examples, []);
  assert.equal(report.violations, 0);
  assert.equal(report.acceptedAfterMsMax, null);
  const { verifications, deletions, accountChanges, keyChanges, lists } = report;
  assert.ok(deletions.acknowledged >= (faultsHappened + 1) * ordinaryRun.deletionsBetween, JSON.stringify(report));
  assert.ok(verifications.afterRevocation > deletions.acknowledged * 5, JSON.stringify(report));
  assert.ok(verifications.accepted > deletions.acknowledged, JSON.stringify(report));
  assert.ok(narrowingsIn(keyChanges) >= (faultsHappened + 1) * narrowingsBetween, JSON.stringify(report));
  assert.ok(accountChanges > 0 && lists > 0, JSON.stringify(report));
  assert.ok(deletions.created > 0 && deletions.caller > 0, JSON.stringify(report));
}

function assertCatalogueChanged({ keyChanges }: Report): void {
  const { entitlement, scopeMarked, scopeDeleted } = keyChanges;
  assert.ok(entitlement > 0 && scopeMarked + scopeDeleted > 0, JSON.stringify(keyChanges));
}

test('one instance on PostgreSQL rejects deleted keys while connections are cut around commits, responses are slow and rows are locked', () =>
  check(1, false, [faults.cutAfter, faults.cutBefore, faults.slow, faults.locked]));

test('two instances on PostgreSQL reject deleted keys while they are killed, paused, cut off and without a free connection', () =>
  check(2, false, [faults.killed, faults.paused, faults.refused, faults.full]));

test('three instances reject deleted keys while PostgreSQL crashes, is restarted, paused and unreachable, and commits are cut', () =>
  check(3, false, [
    faults.databaseCrashed,
    faults.cutAfter,
    faults.databaseRestarted,
    faults.databasePaused,
    faults.dropped,
  ]));

test('one process on the embedded database rejects deleted keys while it is killed and stopped', () =>
  check(1, true, [faults.killed, faults.stopped]));

test('two processes on one embedded file reject deleted keys while they are killed and paused', () =>
  check(2, true, [faults.killed, faults.paused]));

test('two workers on PostgreSQL reject deleted keys while one is killed, one is paused, and commits are cut', () =>
  check(1, false, [workerFaults.killed, workerFaults.paused, faults.cutBefore], { workers: 2 }));

test('two workers on one embedded file reject deleted keys while one is killed and one is paused', () =>
  check(1, true, [workerFaults.killed, workerFaults.paused], { workers: 2 }));

test('two instances on PostgreSQL apply the scope catalogue while connections are cut around commits and one is killed', () =>
  check(2, false, [faults.cutAfter, faults.cutBefore, faults.killed], { scopes: 'catalogue' }));
