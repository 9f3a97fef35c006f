/** Starts and stops the service: configuration → database → modules → HTTP → listen → drain. */
import type { DatabaseReplacedError, FileIdentity } from '../foundation/database/file-identity.ts';
import type { EmbeddedWriter } from '../foundation/database/database.ts';
import { startAdmin } from './metrics/admin-listener.ts';
import { RequestLog } from '../http/request-log.ts';
import type { RootKeyChangedError } from '../foundation/database/root-key-changed.ts';
import { Housekeeping } from './processes/housekeeping.ts';
import { openInstallation, type OpenedInstallation } from './installation/installation.ts';
import { keepAfterFailure, ReservedSpace } from './installation/reserved-space.ts';
import type { Metrics, MetricsSources } from './metrics/metrics.ts';
import { stopService } from './processes/stop-service.ts';
import type { ServiceOptions } from './processes/service-options.ts';
import { closeOnError, openAndMigrate } from './installation/open-and-migrate.ts';
import { startPublic } from './requests/public-listener.ts';
import type { Services } from './wiring/wire.ts';

export interface Running {
  /** The URL of the listener, for example `http://127.0.0.1:8787`. */
  readonly url: string;
  readonly adminUrl: string;
  readonly publicUrl: string;
  /** Drains requests and writes pending data. @returns whether all requests ended in time */
  readonly stop: () => Promise<boolean>;
}

export interface Service extends Running {
  readonly services: Services;
  readonly installation: OpenedInstallation;
  /** Resolves when the SQLite file was replaced or removed. From then on, every request is answered with 503. */
  readonly replaced: Promise<DatabaseReplacedError> | undefined;
  /** Resolves when a rotation of the root key has made this process's keys invalid. The process must end. */
  readonly rootKeyChanged: Promise<RootKeyChangedError>;
}

/** A service without an admin listener, which its supervisor has. */
export interface WorkerService extends Omit<Service, 'adminUrl' | 'installation'> {
  readonly metrics: () => Promise<Metrics>;
}

/** @throws ConfigError, SchemaError, or the error of a port in use */
export async function startService(options: ServiceOptions): Promise<Service> {
  const { config, clock, log } = options;
  const requestLog = new RequestLog(log);
  const space = ReservedSpace.release(config);
  const installation = await openAndMigrate(options, options.writer).catch(keepAfterFailure(space));
  return closeOnError(installation, async () => {
    const { server, health, sources, ...rest } = await startPublic(installation, options, requestLog);
    const { services } = rest;
    const admin = await startAdmin(options, health, lazyMetrics(sources), requestLog).catch((error: unknown) => {
      server.close();
      throw error;
    });
    const housekeeping = new Housekeeping({ ...installation, clock, log }, services);
    const parts = { health, housekeeping, installation, requestLog, services };
    await space?.keep(installation.db);
    const stop = () => {
      space?.stop();
      return stopService([server, admin.server], config.drainSeconds, parts);
    };
    return { ...rest, installation, adminUrl: admin.url, replaced: installation.db.file?.replaced, stop };
  }).catch(keepAfterFailure(space));
}

export interface WorkerStart {
  /** Number of the worker, from 1; worker 1 deletes expired rows. */
  readonly worker: number;
  /** The SQLite files that the supervisor has open. */
  readonly database: FileIdentity | undefined;
  /** The writer of SQLite, which sends transactions to the supervisor. */
  readonly writer: EmbeddedWriter | undefined;
}

/**
 * Starts one of several processes that share the port. Their supervisor has created and migrated the database.
 * @throws DatabaseReplacedError if this process has opened other files
 */
export async function startWorkerService(
  options: ServiceOptions,
  { worker, database, writer }: WorkerStart,
): Promise<WorkerService> {
  const { config, clock, log } = options;
  const requestLog = new RequestLog(log);
  const { environment } = options;
  const shared = { clock, mayCreate: false, writer, environment };
  const installation = await openInstallation(config, shared);
  const { file } = installation.db;
  return closeOnError(installation, async () => {
    file?.compare(database);
    const { server, health, sources, ...rest } = await startPublic(installation, options, requestLog);
    const { services } = rest;
    const housekeeping = new Housekeeping({ ...installation, clock, log, isFirst: worker === 1 }, services);
    const parts = { health, housekeeping, installation, requestLog, services };
    const stop = () => stopService([server], config.drainSeconds, parts);
    const metrics = lazyMetrics(sources, worker);
    return { ...rest, metrics, replaced: file?.replaced, stop };
  });
}

/** Loads the metrics library at the first scrape, so that it does not delay the start. */
function lazyMetrics(sources: MetricsSources, worker?: number): () => Promise<Metrics> {
  let metrics: Promise<Metrics> | undefined;
  return () => (metrics ??= import('./metrics/metrics.ts').then((module) => new module.Metrics(sources, worker)));
}
