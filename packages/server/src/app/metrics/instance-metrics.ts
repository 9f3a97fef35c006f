/** Metrics of an instance: its versions, and whether it can serve requests. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Registry } from '@prometheus-io/client';
import type { Dialect } from '../../foundation/database/sql.ts';
import type { Health } from '../processes/health.ts';
import { addGauge } from './metric-kinds.ts';
import { build, version } from '../version.ts';

/** A scrape does not wait longer for the database. */
const readyMsMax = 2_000;

export function collectInstance(registry: Registry, database: Dialect, health: Pick<Health, 'check'>): void {
  const labels = { version, build, node: process.versions.node, database };
  addGauge(registry, {
    name: 'keyreeve_build_info',
    help: 'Versions, build and kind of database',
    labelNames: Object.keys(labels),
    read: () => [{ labels, value: 1 }],
  });
  addGauge(registry, {
    name: 'keyreeve_ready',
    help: '1 while the database responds',
    read: async () => [{ value: (await responds(health)) ? 1 : 0 }],
  });
}

const responds = (health: Pick<Health, 'check'>): Promise<boolean> =>
  Promise.race([
    health.check().then(
      () => true,
      () => false,
    ),
    sleep(readyMsMax, false, { ref: false }),
  ]);
