/** Starts and stops the service: configuration → database → modules → HTTP → listen → drain. */
import type { DatabaseReplacedError } from '../foundation/database/file-identity.ts';
import { startAdmin } from './metrics/admin-listener.ts';
import { lazily } from '../foundation/lazy-modules.ts';
import { RequestLog } from '../http/request-log.ts';
import type { RootKeyChangedError } from '../foundation/database/root-key-changed.ts';
import { Housekeeping } from './processes/housekeeping.ts';
import type { OpenedInstallation } from './installation/installation.ts';
import { keepAfterFailure, ReservedSpace } from './installation/reserved-space.ts';
import type { Metrics, MetricsSources } from './metrics/metrics.ts';
import { addReport } from './processes/verifier-report.ts';
import { VerifierPool } from './processes/verifier-pool.ts';
import { stopService } from './processes/stop-service.ts';
import type { ServiceOptions } from './processes/service-options.ts';
import { closeOnError, openAndMigrate } from './installation/open-and-migrate.ts';
import { startPublic } from './requests/public-listener.ts';
import type { Services } from './wiring/wire.ts';

export interface Service {
  /** The URL of the listener, for example `http://127.0.0.1:8787`. */
  readonly url: string;
  readonly adminUrl: string;
  /** Of the listener that only verifies; undefined without one, and while another process has its socket. */
  readonly verifyUrl: string | undefined;
  readonly publicUrl: string;
  /** Drains requests and writes pending data. @returns whether all requests ended in time */
  readonly stop: () => Promise<boolean>;
  readonly services: Services;
  readonly installation: OpenedInstallation;
  /** Resolves when the SQLite file was replaced or removed. From then on, every request is answered with 503. */
  readonly replaced: Promise<DatabaseReplacedError> | undefined;
  /** Resolves when a rotation of the root key has made this process's keys invalid. The process must end. */
  readonly rootKeyChanged: Promise<RootKeyChangedError>;
}

/** @throws ConfigError, SchemaError, or the error of a port in use */
export async function startService(options: ServiceOptions): Promise<Service> {
  const { config, clock, log } = options;
  const verifiers = newVerifiers(options);
  const requestLog = new RequestLog(log);
  const space = ReservedSpace.release(config);
  try {
    const installation = await openAndMigrate(options);
    return await closeOnError(installation, async () => {
      const { server, health, sources, ...rest } = await startPublic(installation, options, requestLog);
      const { services, publicUrl } = rest;
      const startOthers = async () => {
        const { file } = installation.db;
        const { pending, draws } = services;
        const parts = { pending, draws, publicUrl, database: file?.identity };
        await verifiers?.start({
          ...parts,
          onReport: (report) => addReport(sources, report),
          onUses: (uses) => services.uses.add(uses),
        });
        return startAdmin(options, health, lazyMetrics({ ...sources, verifiers }), requestLog);
      };
      const admin = await startOthers().catch((error: unknown) => {
        server.close();
        throw error;
      });
      const housekeeping = new Housekeeping({ ...installation, clock, log }, services);
      const parts = { health, housekeeping, installation, requestLog, services, verifiers };
      await space?.keep(installation.db);
      const stop = () => {
        space?.stop();
        return stopService([server, admin.server], config.drainSeconds, parts);
      };
      const { replaced } = installation.db.file ?? {};
      // They must not answer any more: a key that was deleted elsewhere could still be valid for them.
      void Promise.race([rest.rootKeyChanged, ...(replaced ? [replaced] : [])]).then(() => verifiers?.kill());
      return { ...rest, installation, adminUrl: admin.url, verifyUrl: verifiers?.url, replaced, stop };
    });
  } catch (error) {
    verifiers?.kill();
    return keepAfterFailure(space)(error);
  }
}

/** @returns undefined without a listener that only verifies */
function newVerifiers({ config, log }: ServiceOptions): VerifierPool | undefined {
  const { host, verifyHost = host, verifyPort, verifySocket, verifiers: count } = config;
  if (verifySocket !== undefined)
    return new VerifierPool({ count, address: { kind: 'socket', path: verifySocket }, log });
  if (verifyPort === undefined) return undefined;
  return new VerifierPool({ count, address: { kind: 'port', host: verifyHost, port: verifyPort }, log });
}

const loadMetrics = lazily(() => import('./metrics/metrics.ts'));

function lazyMetrics(sources: MetricsSources): () => Promise<Metrics> {
  let metrics: Promise<Metrics> | undefined;
  return () => (metrics ??= loadMetrics().then((module) => new module.Metrics(sources)));
}
