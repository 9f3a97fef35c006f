/** One run of the revocation check on a new cluster while faults happen, and what it must have observed. */
import assert from 'node:assert/strict';
import { narrowingsIn, type Report } from '../../revocation-check/report.ts';
import { Cluster, type ClusterOptions } from './cluster.ts';
import type { Fault } from './faults.ts';
import { ordinaryRun } from './mutant-run.ts';
import { narrowingsDefault, runWithFaults } from './run-with-faults.ts';

export interface FaultCheck extends Pick<ClusterOptions, 'instances' | 'postgres' | 'hasPooler' | 'verifiers'> {
  /** Default: open. */
  readonly scopes?: 'catalogue';
}

/** @throws AssertionError after a violation, or without enough observations to detect one */
export async function assertRejectsDeletedKeys(
  { instances, postgres, hasPooler = false, verifiers, scopes }: FaultCheck,
  injected: readonly Fault[],
): Promise<void> {
  await using cluster = await Cluster.start({
    instances,
    postgres,
    hasPooler,
    verifiers,
    environment: { KEYREEVE_SCOPES: scopes ?? 'open' },
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

function assertPassed(report: Report, faultsHappened: number): void {
  assert.deepEqual(report.examples, []);
  assert.equal(report.violations, 0);
  assert.equal(report.acceptedAfterMsMax, null);
  const { verifications, deletions, accountChanges, keyChanges, lists } = report;
  assert.ok(deletions.acknowledged >= (faultsHappened + 1) * ordinaryRun.deletionsBetween, JSON.stringify(report));
  assert.ok(verifications.afterRevocation > deletions.acknowledged * 5, JSON.stringify(report));
  assert.ok(verifications.accepted > deletions.acknowledged, JSON.stringify(report));
  assert.ok(narrowingsIn(keyChanges) >= (faultsHappened + 1) * narrowingsDefault, JSON.stringify(report));
  assert.ok(accountChanges > 0 && lists > 0, JSON.stringify(report));
  assert.ok(deletions.created > 0 && deletions.caller > 0, JSON.stringify(report));
}

function assertCatalogueChanged({ keyChanges }: Report): void {
  const { entitlement, scopeMarked, scopeDeleted } = keyChanges;
  assert.ok(entitlement > 0 && scopeMarked + scopeDeleted > 0, JSON.stringify(keyChanges));
}
