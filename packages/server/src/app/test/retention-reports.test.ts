/** What metrics and `keyreeve doctor` report of the audit retention. */
import assert from 'node:assert/strict';
import { Registry } from '@prometheus-io/client';
import type { Db } from '../../foundation/database/db.ts';
import { claimRunTx, releaseRunTx, setBlockedTx, setPassedTx } from '../../modules/audit-retention/store.ts';
import { now } from '../../../test-kit/rows.ts';
import { onEachDatabase } from '../../../test-kit/store-on-each-database.ts';
import { testConfig } from '../../../test-kit/test-config.ts';
import { databaseChecks } from '../installation/checks.ts';
import { collectGrowth } from '../metrics/growth-metrics.ts';

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

onEachDatabase('doctor warns if the last run of the audit retention failed', async ({ db }) => {
  const check = async () => {
    const checks = await databaseChecks({ db, config: { ...testConfig(), auditDays: 30 } });
    return checks.filter(({ name }) => name === 'audit retention').map(({ state, detail }) => `${state}: ${detail}`);
  };
  const isFine = ['ok: audit events are removed after 30 days'];
  assert.deepEqual(await check(), isFine);
  await db.transaction((tx) => setPassedTx(tx, { passedAt: now, jumpedMs: 0 }));
  await db.transaction((tx) => claimRunTx(tx, now, 1));
  assert.deepEqual(await check(), isFine);
  await db.transaction((tx) => releaseRunTx(tx, now));
  assert.deepEqual(await check(), [
    'warning: the last run failed, or none has begun, so old audit events stay. If the service runs, read housekeeping_failed in its log',
  ]);
});
