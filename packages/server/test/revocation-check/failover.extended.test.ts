/**
 * The revocation check on two instances while each fault of a cluster that Patroni manages happens once. `npm run prove --
 * --cluster` is the long run.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { limits } from '@keyreeve/contract';
import { skipWithoutPatroni } from '../../test-kit/patroni/programs.ts';
import { failoverFaults } from './failover-faults.ts';
import { runFailovers } from './failover-run.ts';

test(
  'two instances reject deleted keys, and no acknowledged deletion is lost, while the leader of PostgreSQL fails in each way',
  { skip: skipWithoutPatroni() },
  async (t) => {
    const happened: string[] = [];
    await runFailovers({
      rounds: 1,
      onResult: ({ fault, report, violations: { stale, lost }, outage }) => {
        happened.push(fault.name);
        assert.deepEqual({ stale, lost }, { stale: 0, lost: 0 }, `${fault.name}: ${JSON.stringify(report.examples)}`);
        assert.ok(report.verifications.afterRevocation > report.deletions.acknowledged * 5, JSON.stringify(report));
        assert.ok(Number.isFinite(outage.sincePromotionMs ?? 0), fault.name);
        // On a busy machine, a switchover can take longer than requests wait.
        const doRequestsWait = outage.withoutVerdictMs < limits.postgresHandoverMsMax;
        if (fault.isUnnoticed && doRequestsWait) assert.equal(outage.failures, 0, fault.name);
        if (fault === failoverFaults.switchedOver && doRequestsWait)
          assert.equal(report.verifications.unknown, 0, fault.name);
        const [total, resumed] = [outage.withoutVerdictMs, outage.sincePromotionMs ?? 0].map((ms) =>
          (ms / 1000).toFixed(1),
        );
        t.diagnostic(`${fault.name}: ${total} s without a verdict, ${resumed} s of them after the promotion`);
      },
    });
    const left = Object.values(failoverFaults).filter(({ name }) => !happened.includes(name));
    for (const { name } of left) t.diagnostic(`not tried: ${name}: only root can mount a small disk`);
    assert.ok(left.every((fault) => fault === failoverFaults.diskFull));
  },
);
