/**
 * The supervisor of several workers (`KEYREEVE_WORKERS`): makes and migrates the database once, before any of them
 * starts, has the admin listener, and sees to it that as many run as should. It answers no client itself.
 */
import { createServer } from 'node:http';
import type { DatabaseReplacedError } from '../../foundation/database/file-identity.ts';
import { pingDatabase } from '../../foundation/database/installation.ts';
import { DomainError } from '../../foundation/errors.ts';
import type { MetricsPage } from '../admin-listener.ts';
import type { Health } from '../health.ts';
import { listen } from '../../http/server.ts';
import { drain, ensureSigningKey, openFirst, startAdmin, type Running, type ServiceOptions } from '../service.ts';
import { WorkerPool, type WorkerPoolError } from './worker-pool.ts';

export interface Supervisor extends Running {
  /** When a worker that died can't be replaced, or the database file was replaced. */
  readonly failed: Promise<WorkerPoolError | DatabaseReplacedError>;
}

/** @throws ConfigError, SchemaError, WorkerPoolError, or the error of a port that is taken */
export async function startSupervisor(options: ServiceOptions): Promise<Supervisor> {
  const { config, log } = options;
  const { host, port, workers: count, drainSeconds } = config;
  const installation = await openFirst(options);
  const { db } = installation;
  const crew = new WorkerPool({ count, port, database: db.file?.identity, log });
  const health: Health = {
    isStopping: false,
    isClosed: false,
    check: async () => {
      // One is enough: a balancer that turned away for each that dies would make a small loss a big one.
      if (crew.listening === 0)
        throw new DomainError('unavailable', { detail: 'No worker runs.', retryAfterSeconds: 1 });
      await pingDatabase(db);
    },
    canWrite: async () =>
      [...(await crew.snapshots()).values()].every((snapshot = []) =>
        snapshot.every(
          ({ name, values }) => name !== 'keyreeve_database_writes' || values.every(({ value }) => value !== 0),
        ),
      ),
  };
  try {
    await ensureSigningKey(installation, options);
    if (port !== 0) await assertFree(host, port);
    const admin = await startAdmin(options, health, lazyMetrics(crew));
    const { url, publicUrl } = await crew.start();
    const stop = async (): Promise<boolean> => {
      health.isStopping = true;
      const [isDrained] = await Promise.all([crew.stop(drainSeconds), drain([admin.server], drainSeconds)]);
      await db.close();
      return isDrained;
    };
    return {
      url,
      adminUrl: admin.url,
      publicUrl,
      failed: Promise.race([crew.failed, ...(db.file ? [db.file.replaced] : [])]),
      stop,
    };
  } catch (error) {
    await db.close();
    throw error;
  }
}

/** Found out once and told in one line, not by each worker. */
async function assertFree(host: string, port: number): Promise<void> {
  const server = createServer((_, response) => void response.destroy());
  await listen(server, host, port);
  server.closeAllConnections();
  await new Promise<void>((resolve) => server.close(() => resolve()));
}

function lazyMetrics(crew: WorkerPool): () => Promise<MetricsPage> {
  let metrics: Promise<MetricsPage> | undefined;
  return () => (metrics ??= import('./worker-pool-metrics.ts').then((module) => new module.WorkerPoolMetrics(crew)));
}
