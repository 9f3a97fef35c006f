/**
 * Limits of keys on several processes: they never accept more than a limit, whatever crashes, stalls or is cut, and with wrong
 * clocks. `KEYREEVE_TEST_QUOTA=10000 KEYREEVE_TEST_RUNS=100` is the long run.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { PostgresServer } from '../../test-kit/postgres/server.ts';
import { Cluster, type ClusterOptions } from '../revocation-check/cluster.ts';
import { serverOptions } from '../revocation-check/mutant-run.ts';
import type { LimitFault } from './limit-faults.ts';
import { runLimits } from './limit-run.ts';
import { shiftedClocks } from './shifted-clocks.ts';

const quota = Number(process.env['KEYREEVE_TEST_QUOTA'] ?? 600);
const runs = Number(process.env['KEYREEVE_TEST_RUNS'] ?? 1);
const isLong = runs > 1;
const bounds = { quota, connections: isLong ? 200 : 24, pauseMs: isLong ? 2_000 : 200 } as const;

let postgres: PostgresServer;
before(async () => {
  postgres = await PostgresServer.start(serverOptions);
});
after(() => postgres[Symbol.asyncDispose]());

async function check(options: ClusterOptions, faults: readonly LimitFault[]): Promise<void> {
  for (let run = 0; run < runs; run++) {
    await using cluster = await Cluster.start(options);
    const report = await runLimits(cluster, { ...bounds, faults });
    assert.deepEqual(report.violations, [], JSON.stringify(report));
    assert.ok(report.accepted > 0 && report.acceptedOfRate > 0, JSON.stringify(report));
  }
}

const twoWorkers = { KEYREEVE_WORKERS: '2' };

test('three instances with different clocks accept a quota completely, and never more', { tags: ['asvs:2.3.2'] }, () =>
  check({ instances: 3, postgres, environmentOf: shiftedClocks }, []),
);

test('three instances never accept more than a limit while they are killed and paused, and connections and commits are cut', () =>
  check({ instances: 3, postgres, environmentOf: shiftedClocks }, [
    'killed',
    'cutBefore',
    'paused',
    'cutAfter',
    'cutAll',
  ]));

test('two workers on an embedded database accept a quota completely, and never more', () =>
  check({ instances: 1, environment: twoWorkers }, []));

test('two workers on an embedded database never accept more than a limit while they are killed and paused', () =>
  check({ instances: 1, environment: twoWorkers }, ['workerKilled', 'paused', 'killed']));
