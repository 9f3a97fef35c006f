/** Starts and stops the service: configuration → database → modules → HTTP → listen → drain. */
import type { RequestListener, Server } from 'node:http';
import { hostname } from 'node:os';
import { limits } from '@keyreeve/contract';
import { keyPrefixWarnings } from '../modules/api-keys/key-prefixes.ts';
import { catalogueWarnings } from '../modules/scope-catalogue/warnings.ts';
import { describeConfig, processEnvironment, type Config } from './configuration/config.ts';
import { warningsOf } from './configuration/config-warnings.ts';
import type { DatabaseReplacedError, FileIdentity } from '../foundation/database/file-identity.ts';
import { announcePhase } from '../foundation/tracing.ts';
import type { EmbeddedWriter } from '../foundation/database/database.ts';
import { durabilityOf } from '../foundation/database/durability.ts';
import { announce } from './processes/announce.ts';
import { pingDatabase } from '../foundation/database/installation.ts';
import { assertEnvironments } from './installation/environments-check.ts';
import { AdminHosts } from './metrics/admin-hosts.ts';
import { adminListener, type MetricsPage } from './metrics/admin-listener.ts';
import { App, corsHeadersOf } from './app.ts';
import { BasePath } from '../http/base-path.ts';
import { SecurityHeaders } from '../http/headers.ts';
import type { Health } from './processes/health.ts';
import type { LinkPageOptions } from '../modules/link-pages/link-pages.ts';
import { RequestCounts } from '../http/request-counts.ts';
import { RequestLog } from '../http/request-log.ts';
import type { RequestBounds } from '../http/request-gate.ts';
import { Cors } from '../http/cors.ts';
import { createHttpServer, listen } from '../http/server.ts';
import { isRootKeyChanged, RootKeyChangedError } from '../foundation/database/root-key-changed.ts';
import { Housekeeping } from './processes/housekeeping.ts';
import { openInstallation, type Installation, type OpenedInstallation } from './installation/installation.ts';
import type { Log } from '../foundation/log.ts';
import { parseRanges } from '../foundation/ip-address.ts';
import { keepAfterFailure, ReservedSpace } from './installation/reserved-space.ts';
import { ConsoleAssets } from '../modules/console/assets.ts';
import { ConsoleHost } from '../modules/console/paths.ts';
import { operatorName } from '../modules/mail/sender.ts';
import { LinkedIdentities } from '../modules/single-sign-on/linked-identities.ts';
import type { Metrics, MetricsSources } from './metrics/metrics.ts';
import { SettingsView } from './configuration/settings-view.ts';
import { stopService } from './processes/stop-service.ts';
import type { WiringSettings } from './wiring/core.ts';
import { wire, type Services } from './wiring/wire.ts';
import { mailTemplates } from './wiring/mail.ts';

export interface ServiceOptions extends WiringSettings {
  readonly log: Log;
  /** The writer of SQLite. Default: a writer thread. Tests write without one, because it takes longer to start than the service. */
  readonly writer?: EmbeddedWriter | undefined;
  /** Default: the bounds of the contract. */
  readonly requestBounds?: RequestBounds | undefined;
  /** Folder with the files of the console. Default: the folder of its package. */
  readonly consoleFolder?: string | undefined;
}

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

const aheadHint =
  'the database is older than its deletion journal, so deleted credentials may work again; run `keyreeve journal replay`';

/** @throws ConfigError, SchemaError, or the error of a port in use */
export async function startService(options: ServiceOptions): Promise<Service> {
  const { config, clock, log } = options;
  const requestLog = new RequestLog(log);
  const space = ReservedSpace.release(config);
  const installation = await openAndMigrate(options, options.writer).catch(keepAfterFailure(space));
  return closeOnError(installation, async () => {
    const { server, health, sources, ...rest } = await startPublic(installation, options, requestLog);
    const admin = await startAdmin(options, health, lazyMetrics(sources), requestLog).catch((error: unknown) => {
      server.close();
      throw error;
    });
    const housekeeping = new Housekeeping(installation, clock, rest.services, log);
    await space?.keep(installation.db);
    const stop = () => {
      space?.stop();
      return stopService([server, admin.server], config.drainSeconds, {
        health,
        housekeeping,
        installation,
        requestLog,
        services: rest.services,
      });
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
  const installation = await openInstallation(config, {
    clock,
    mayCreate: false,
    mayMigrate: false,
    writer,
    environment,
  });
  const { file } = installation.db;
  return closeOnError(installation, async () => {
    file?.compare(database);
    const { server, health, sources, ...rest } = await startPublic(installation, options, requestLog);
    const { services } = rest;
    const housekeeping = new Housekeeping(installation, clock, services, log, worker === 1);
    const parts = { health, housekeeping, installation, requestLog, services };
    const stop = () => stopService([server], config.drainSeconds, parts);
    const metrics = lazyMetrics(sources, worker);
    return { ...rest, metrics, replaced: file?.replaced, stop };
  });
}

/** Opens the installation in the process that may create it and migrate its schema. */
export async function openAndMigrate(
  { config, clock, log, environment }: ServiceOptions,
  writer?: EmbeddedWriter,
): Promise<OpenedInstallation> {
  // Reports invalid templates as errors of the configuration, before the database is opened.
  if (config.mailTemplates !== undefined) mailTemplates(config);
  const installation = await openInstallation(config, {
    clock,
    mayCreate: true,
    mayMigrate: true,
    onMigrationWait: (wait) => log.warn({ event: 'migration_waits', ...wait }),
    writer,
    environment,
  });
  if (installation.migrated.length > 0) log.info({ event: 'migrated', migrations: installation.migrated });
  const { db } = installation;
  const warnings = await closeOnError(installation, async () => {
    await assertEnvironments(db, config);
    return [
      ...(await durabilityOf(db)).warnings,
      ...(await keyPrefixWarnings(db, config)),
      ...(await catalogueWarnings(db, config)),
    ];
  });
  for (const detail of [...warningsOf(config), ...warnings]) log.warn({ event: 'configuration', detail });
  return installation;
}

/** Creates the first signing key before several workers start, each of which needs it. @returns the modules */
export async function ensureSigningKey(
  installation: Installation,
  { config, clock }: ServiceOptions,
): Promise<Services> {
  const services = wire({ config, installation, clock, issuer: config.publicUrl ?? 'http://localhost' });
  await services.signingKeys.ensure();
  return services;
}

/** Starts the listener for clients. */
async function startPublic(installation: OpenedInstallation, options: ServiceOptions, requestLog: RequestLog) {
  const { config, clock, log, requestBounds } = options;
  const { db } = installation;
  const security = securityOf(config);
  const health: Health = {
    isStopping: false,
    isClosed: false,
    check: () => pingDatabase(db),
    canWrite: () => db.writes.isHealthy,
  };
  const requestCounts = new RequestCounts();
  await announcePhase('start');

  // The issuer contains the port, which the system may select, so the server listens before the modules are wired. Requests
  // that arrive earlier wait for the app.
  const ready = Promise.withResolvers<App>();
  let app: App | undefined;
  const listener: RequestListener = (request, response) => {
    if (app) app.listener(request, response);
    else void ready.promise.then((wired) => wired.listener(request, response));
  };
  const cors = new Cors(config.corsOrigins);
  const server = createHttpServer(security, log, listener, {
    requestLog,
    isProxy: parseRanges(config.trustedProxies),
    corsHeaders: (request) => corsHeadersOf(cors, request),
    shortPath: {
      mayAnswer: (url) => app?.shortPath.mayAnswer(url) ?? false,
      handle: (request, response) => app?.shortPath.handle(request, response),
    },
  });
  // A burst of connections may reach a single worker. Closing connections after some requests spreads them over all workers.
  if (config.workers > 1) server.maxRequestsPerSocket = limits.requestsPerSharedConnectionMax;
  const address = await listen(server, config.host, config.port);
  try {
    const publicUrl = config.publicUrl ?? `http://localhost:${address.port}`;
    const basePath = new BasePath(publicUrl);
    const services = wire({
      ...options,
      installation,
      issuer: publicUrl,
      masterKeyId: installation.rootKeys.masterKeyId,
      requestLog,
    });
    const keyChange = Promise.withResolvers<RootKeyChangedError>();
    const onUnwritten = (error: unknown): void => {
      log.warn({ event: 'overview_not_written', err: error });
      if (isRootKeyChanged(error)) keyChange.resolve(new RootKeyChangedError());
    };
    // Before the first write: a rotation of the root key requires that no process runs.
    await announce(services, installation, log);
    await services.signingKeys.ensure();
    await services.verifier.prepare();
    await services.journal?.start({
      onFailure: (error) => log.error({ event: 'deletion_journal_failed', err: error }),
      onDamage: ({ message }) => log.error({ event: 'deletion_journal_damaged', detail: message }),
      onLost: (lost) => log.warn({ event: 'deletion_journal_ahead', ...lost, detail: aheadHint }),
    });
    const { trustedProxies, traceRatio } = config;
    const described = describeConfig(options.environment ?? processEnvironment());
    app = new App({
      ...services,
      requestCounts,
      health,
      log,
      requestLog,
      publicUrl,
      basePath,
      trustedProxies,
      cors,
      traceRatio,
      security,
      linkedIdentities: new LinkedIdentities(db),
      linkPages: linkPagesOf(config, publicUrl, basePath),
      consoleAssets: new ConsoleAssets({
        log,
        ...(config.consoleUrl === undefined ? { basePath } : {}),
        folder: options.consoleFolder,
      }),
      consoleHost: new ConsoleHost({ isOn: config.hasConsole, consoleUrl: config.consoleUrl, publicUrl }),
      requestBounds,
      settingsView: new SettingsView({ ...services, config, db, clock }, described),
    });
    ready.resolve(app);
    services.outbox.start();
    services.webhooks.publisher.start();
    services.minutes.start(onUnwritten);
    const url = urlOf(config.host, address.port);
    const sources: MetricsSources = { ...services, config, db, clock, health, requestCounts };
    return { server, health, sources, services, publicUrl, url, rootKeyChanged: keyChange.promise };
  } catch (error) {
    // An open server would keep the process running.
    server.close();
    server.closeAllConnections();
    throw error;
  }
}

export interface AdminListener {
  readonly server: Server;
  readonly url: string;
}

export async function startAdmin(
  { config, log }: ServiceOptions,
  health: Health,
  metrics: () => Promise<MetricsPage>,
  requestLog = new RequestLog(log),
): Promise<AdminListener> {
  const security = securityOf(config);
  const hosts = new AdminHosts({ ...config, machine: hostname() });
  const listener = adminListener(metrics, hosts, health, security, requestLog);
  const server = createHttpServer(security, log, listener, { requestLog });
  const { port } = await listen(server, config.adminHost, config.adminPort);
  return { server, url: urlOf(config.adminHost, port) };
}

const linkPagesOf = (config: Config, publicUrl: string, basePath: BasePath): LinkPageOptions => ({
  operator: operatorName(config.mailFrom, publicUrl),
  signInUrl: config.signInUrl,
  defaultLanguage: config.language,
  passwordLengthMin: config.passwordLengthMin,
  basePath,
  changePasswordUrl: config.hasConsole
    ? `${config.consoleUrl ?? ''}/console/account`
    : `${config.linksUrl ?? '/account'}/reset-password`,
});

const securityOf = ({ publicUrl }: Config): SecurityHeaders =>
  new SecurityHeaders(publicUrl?.startsWith('https:') ?? false);

async function closeOnError<T>({ db }: Installation, start: () => Promise<T>): Promise<T> {
  try {
    return await start();
  } catch (error) {
    await db.close();
    throw error;
  }
}

/** Loads the metrics library at the first scrape, so that it does not delay the start. */
function lazyMetrics(sources: MetricsSources, worker?: number): () => Promise<Metrics> {
  let metrics: Promise<Metrics> | undefined;
  return () => (metrics ??= import('./metrics/metrics.ts').then((module) => new module.Metrics(sources, worker)));
}

function urlOf(host: string, port: number): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
