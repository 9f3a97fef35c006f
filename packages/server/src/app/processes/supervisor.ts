/**
 * The supervisor of several workers (`KEYREEVE_WORKERS`). It creates and migrates the database before the workers start, runs
 * the admin listener and replaces workers that exit. It does not serve clients.
 */
import { createServer } from 'node:http';
import type { Db } from '../../foundation/database/db.ts';
import type { DatabaseReplacedError } from '../../foundation/database/file-identity.ts';
import type { RootKeyChangedError } from '../../foundation/database/root-key-changed.ts';
import { pingDatabase } from '../../foundation/database/installation.ts';
import { DomainError } from '../../foundation/errors.ts';
import { startAdmin, type MetricsPage } from '../metrics/admin-listener.ts';
import type { FirstAdministrator } from '../../modules/administration/first-administrator.ts';
import type { Health } from './health.ts';
import { listen } from '../../http/server.ts';
import { drain } from './drain.ts';
import { keepAfterFailure, ReservedSpace } from '../installation/reserved-space.ts';
import { openAndMigrate } from '../installation/open-and-migrate.ts';
import type { Running } from '../service.ts';
import { wire } from '../wiring/wire.ts';
import type { ServiceOptions } from './service-options.ts';
import { WorkerPool, type WorkerPoolError } from './worker-pool.ts';

export interface Supervisor extends Running {
  readonly firstAdministrator: FirstAdministrator;
  /** Resolves when a worker cannot be replaced, when the database file was replaced, or after a rotation of the root key. */
  readonly failed: Promise<WorkerPoolError | DatabaseReplacedError | RootKeyChangedError>;
}

/** @throws ConfigError, SchemaError, WorkerPoolError, or the error of a port in use */
export async function startSupervisor(options: ServiceOptions): Promise<Supervisor> {
  const { config, log } = options;
  const { host, port, workers: count, drainSeconds } = config;
  const space = ReservedSpace.release(config);
  const installation = await openAndMigrate(options, 'direct').catch(keepAfterFailure(space));
  const { db } = installation;
  const pool = new WorkerPool({ count, port, db, log });
  const health: Health = {
    isStopping: false,
    isClosed: false,
    check: async () => {
      // One worker is enough: if one exits, a load balancer must not remove the whole instance.
      if (pool.listening === 0)
        throw new DomainError('unavailable', { detail: 'No worker is running.', retryAfterSeconds: 1 });
      await pingDatabase(db);
    },
    canWrite: async () =>
      db.writes.isHealthy &&
      [...(await pool.snapshots()).values()].every((snapshot = []) =>
        snapshot.every(
          ({ name, values }) => name !== 'keyreeve_database_writes' || values.every(({ value }) => value !== 0),
        ),
      ),
  };
  try {
    const issuer = config.publicUrl ?? 'http://localhost';
    const { firstAdministrator, signingKeys } = wire({ config, installation, clock: options.clock, issuer });
    // Each of the workers needs the first one.
    await signingKeys.ensure();
    if (port !== 0) await assertFree(host, port);
    const admin = await startAdmin(options, health, lazyMetrics(pool, db, health));
    const { url, publicUrl } = await pool.start();
    await space?.keep(db);
    const stop = async (): Promise<boolean> => {
      space?.stop();
      health.isStopping = true;
      const [isDrained] = await Promise.all([pool.stop(drainSeconds), drain([admin.server], drainSeconds)]);
      await db.close();
      return isDrained;
    };
    return {
      url,
      adminUrl: admin.url,
      publicUrl,
      firstAdministrator,
      failed: Promise.race([pool.failed, ...(db.file ? [db.file.replaced] : [])]),
      stop,
    };
  } catch (error) {
    await db.close();
    return keepAfterFailure(space)(error);
  }
}

/** Reports a port in use once, before the workers start. */
async function assertFree(host: string, port: number): Promise<void> {
  const server = createServer((_, response) => void response.destroy());
  await listen(server, host, port);
  server.closeAllConnections();
  await new Promise<void>((resolve) => server.close(() => resolve()));
}

function lazyMetrics(pool: WorkerPool, db: Db, health: Health): () => Promise<MetricsPage> {
  let metrics: Promise<MetricsPage> | undefined;
  return () =>
    (metrics ??= import('./worker-pool-metrics.ts').then((module) => new module.WorkerPoolMetrics(pool, db, health)));
}
