/**
 * Metrics that are read from the database at a scrape. All processes would report the same values, so one does. Without a
 * connection to the database they are absent; other metrics report that.
 */
import type { Registry } from '@prometheus-io/client';
import type { Core } from '../../foundation/core.ts';
import { findLastBackupAt } from '../../foundation/database/installation.ts';
import { listRootKeys } from '../../foundation/database/root-keys.ts';
import { masterKeysIn } from '../../modules/master-key/rotation.ts';
import { jobKinds } from '../../modules/outbox/job.ts';
import type { WaitingJobs } from '../../modules/outbox/outbox.ts';
import type { Services } from '../wiring/wire.ts';
import { addGauge, type GaugeDescription, type Sample } from './metric-kinds.ts';

type StoredSources = Core & Pick<Services, 'outbox' | 'estimates' | 'signingKeys'>;

export function collectStored(registry: Registry, { db, clock, outbox, estimates, signingKeys }: StoredSources): void {
  const add = ({ read, ...rest }: GaugeDescription): void =>
    addGauge(registry, { ...rest, read: async () => readOrNothing(read) });
  const addOne = (name: string, help: string, read: () => Promise<number | undefined>): void =>
    add({ name, help, read: async () => samplesOf(await read()) });

  const ofJobs = (pick: (waiting: WaitingJobs) => number) => async (): Promise<Sample[]> => {
    const rows = new Map((await outbox.waiting()).map((row) => [row.kind, row]));
    return jobKinds.map((kind) => {
      const row = rows.get(kind);
      return { labels: { kind }, value: row ? pick(row) : 0 };
    });
  };
  const labelNames = ['kind'];
  add({
    name: 'keyreeve_outbox_waiting',
    help: 'Unfinished jobs, up to 10000',
    labelNames,
    read: ofJobs(({ count }) => count),
  });
  add({
    name: 'keyreeve_outbox_oldest_seconds',
    help: 'Age of the oldest unfinished job',
    labelNames,
    read: ofJobs(({ oldestMs }) => oldestMs / 1_000),
  });

  const estimated = 'Estimate, each minute';
  addOne('keyreeve_accounts', `Accounts. ${estimated}`, async () => (await estimates.read()).accounts);
  addOne('keyreeve_api_keys', `API keys. ${estimated}`, async () => (await estimates.read()).apiKeys);
  addOne(
    'keyreeve_sessions',
    `Sessions, also of the console. ${estimated}`,
    async () => (await estimates.read()).sessions,
  );
  addOne(
    'keyreeve_console_sessions',
    `Sessions of the console. ${estimated}`,
    async () => (await estimates.read()).consoleSessions,
  );
  addOne('keyreeve_signing_key_age_seconds', 'Age of the active signing key', async () => {
    const active = (await signingKeys.list()).filter(({ state }) => state === 'active');
    const ages = active.map(({ activatesAt }) => Math.max(0, clock.now() - activatesAt) / 1_000);
    return ages.length === 0 ? undefined : Math.max(...ages);
  });
  addOne('keyreeve_master_key_age_seconds', 'Age of the newest master key', async () => {
    const newest = masterKeysIn(await listRootKeys(db)).at(-1);
    return newest && Math.max(0, clock.now() - newest.createdAt) / 1_000;
  });
  addOne(
    'keyreeve_backup_last_success_timestamp_seconds',
    'Time of the last successful `keyreeve backup`, or 0',
    async () => ((await findLastBackupAt(db)) ?? 0) / 1_000,
  );
}

const samplesOf = (value: number | undefined): Sample[] => (value === undefined ? [] : [{ value }]);

async function readOrNothing(read: GaugeDescription['read']): Promise<Iterable<Sample>> {
  try {
    return await read();
  } catch {
    return [];
  }
}
