/** Metrics of the audit retention follow its setting. */
import assert from 'node:assert/strict';
import { Registry } from '@prometheus-io/client';
import type { Db } from '../../foundation/database/db.ts';
import { setBlockedTx, setPassedTx } from '../../modules/audit-retention/store.ts';
import { now } from '../../../test-kit/rows.ts';
import { onEachDatabase } from '../../../test-kit/store-on-each-database.ts';
import { testConfig } from '../../../test-kit/test-config.ts';
import { collectGrowth } from '../growth-metrics.ts';

async function blockedIn(db: Db, auditDays: number | undefined): Promise<string | undefined> {
  const registry = new Registry();
  collectGrowth(registry, { db, config: { ...testConfig(), auditDays } });
  return /^keyreeve_audit_cut_blocked (\d)$/m.exec(await registry.metrics())?.[1];
}

onEachDatabase('a retention that was switched off while it was blocked is not reported as blocked', async ({ db }) => {
  assert.equal(await blockedIn(db, 30), '0');
  await db.transaction(async (tx) => {
    await setPassedTx(tx, { passedAt: now, jumpedMs: 0 });
    await setBlockedTx(tx, 'clock');
  });
  assert.deepEqual([await blockedIn(db, 30), await blockedIn(db, undefined)], ['1', '0']);
});
