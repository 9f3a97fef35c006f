/** The running service: configuration → database → slices → HTTP → listen → drain. The only file that knows everyone. */
import type { RequestListener, Server } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { limits } from '@keyreeve/contract';
import { keyPrefixWarnings } from '../modules/api-keys/key-prefixes.ts';
import { recordEarlierPrefix } from '../modules/api-keys/store.ts';
import { monotonicMs, type Clock } from '../foundation/clock.ts';
import type { Config } from './config.ts';
import { warningsOf } from './config-warnings.ts';
import type { Argon2Parameters } from '../foundation/crypto/password.ts';
import type { DatabaseReplacedError, FileIdentity } from '../foundation/database/file-identity.ts';
import { durabilityOf } from '../foundation/database/durability.ts';
import { pingDatabase } from '../foundation/database/installation.ts';
import { adminListener, type MetricsPage } from './admin-listener.ts';
import { App } from './app.ts';
import { SecurityHeaders } from '../http/headers.ts';
import type { Health } from './health.ts';
import type { LinkPageOptions } from '../modules/link-pages/link-pages.ts';
import { RequestErrors } from '../http/request-errors.ts';
import type { RequestBounds } from '../http/request-gate.ts';
import { createHttpServer, listen } from '../http/server.ts';
import { stopAccepting } from '../http/stop-accepting.ts';
import { Housekeeping } from './housekeeping.ts';
import { openInstallation, type Installation } from './installation.ts';
import type { Log } from '../foundation/log.ts';
import { operatorName } from '../modules/mail/sender.ts';
import type { Metrics } from './metrics.ts';
import { mailTemplates, wire, type Services } from './wiring.ts';

export interface ServiceOptions {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Log;
  /** Cheaper ones for tests. */
  readonly argon2?: Argon2Parameters;
  /** As of `wire`. */
  readonly areRequestsLimited?: boolean;
  readonly requestedMailDelayMsMax?: number;
  /** Smaller ones for tests. */
  readonly requestBounds?: RequestBounds | undefined;
}

export interface Running {
  /** Where it listens, for example `http://127.0.0.1:8787`. */
  readonly url: string;
  readonly adminUrl: string;
  readonly publicUrl: string;
  /** Finishes what is under way and writes what is pending. @returns whether all of it ended in time */
  readonly stop: () => Promise<boolean>;
}

export interface Service extends Running {
  readonly services: Services;
  /** When the file of an embedded database was replaced or removed: every request is answered with 503 then. */
  readonly replaced: Promise<DatabaseReplacedError> | undefined;
}

/** A service without an admin listener: its supervisor has that. */
export interface WorkerService extends Omit<Service, 'adminUrl'> {
  readonly metrics: () => Promise<Metrics>;
}

const aheadHint =
  'the database is older than its journal of deletions: what was deleted may work again; run `keyreeve journal replay`';
/** While the service drains. */
const idleSweepMs = 20;
/** How long a moment is sought in which a port can close. */
const doorMsMax = 1_000;

/** @throws ConfigError, SchemaError, or the error of a port that is taken */
export async function startService(options: ServiceOptions): Promise<Service> {
  const { config, clock, log } = options;
  const installation = await openFirst(options);
  return orClose(installation, async () => {
    const { server, health, errors, ...rest } = await startPublic(installation, options);
    const admin = await startAdmin(options, health, lazyMetrics(rest.services, installation, errors)).catch(
      (error: unknown) => {
        server.close();
        throw error;
      },
    );
    const housekeeping = new Housekeeping(installation, clock, rest.services.verifier, log);
    const stop = () =>
      end([server, admin.server], config.drainSeconds, { health, housekeeping, installation, services: rest.services });
    return { ...rest, adminUrl: admin.url, replaced: installation.db.file?.replaced, stop };
  });
}

/**
 * One of several processes that share the port, on a database that their supervisor has brought up to date.
 * @param start the worker's number, from 1 on; the first deletes what has expired. And the supervisor's files of the database
 * @throws DatabaseReplacedError when this process has opened others
 */
export async function startWorkerService(
  options: ServiceOptions,
  { worker, database }: { readonly worker: number; readonly database: FileIdentity | undefined },
): Promise<WorkerService> {
  const { config, clock, log } = options;
  const installation = await openInstallation(config, { clock, mayCreate: false, mayMigrate: false });
  const { file } = installation.db;
  return orClose(installation, async () => {
    file?.compare(database);
    const { server, health, errors, ...rest } = await startPublic(installation, options);
    const housekeeping = new Housekeeping(installation, clock, rest.services.verifier, log, worker === 1);
    const stop = () =>
      end([server], config.drainSeconds, { health, housekeeping, installation, services: rest.services });
    const metrics = lazyMetrics(rest.services, installation, errors, worker);
    return { ...rest, metrics, replaced: file?.replaced, stop };
  });
}

/** Opens the installation for the one process that may make it and change its schema. */
export async function openFirst({ config, clock, log }: ServiceOptions): Promise<Installation> {
  // Before anything is opened: a mistake in them is one in the configuration.
  mailTemplates(config);
  const installation = await openInstallation(config, { clock, mayCreate: true, mayMigrate: true });
  if (installation.migrated.length > 0) log.info({ event: 'migrated', migrations: installation.migrated });
  const { db } = installation;
  const warnings = await orClose(installation, async () => {
    await recordEarlierPrefix(db, config.keyPrefix, clock.now());
    return [...(await durabilityOf(db)).warnings, ...(await keyPrefixWarnings(db, config))];
  });
  for (const detail of [...warningsOf(config), ...warnings]) log.warn({ event: 'configuration', detail });
  return installation;
}

/** The first of an installation, before several processes start that need it. */
export async function ensureSigningKey(installation: Installation, { config, clock }: ServiceOptions): Promise<void> {
  await wire({ config, installation, clock, issuer: config.publicUrl ?? 'http://localhost' }).signingKeys.ensure();
}

/** What clients talk to. */
async function startPublic(installation: Installation, options: ServiceOptions) {
  const { config, clock, log, argon2, areRequestsLimited = true, requestedMailDelayMsMax, requestBounds } = options;
  const { db } = installation;
  const security = securityOf(config);
  const health: Health = {
    isStopping: false,
    isClosed: false,
    check: () => pingDatabase(db),
    canWrite: () => db.writes.isHealthy,
  };
  const errors = new RequestErrors();

  // The issuer names the port, and the system may pick it: the address is taken first. Who comes before all stands waits.
  let stands: (app: App) => void = () => undefined;
  const standing = new Promise<App>((resolve) => (stands = resolve));
  let listener: RequestListener = (request, response) => void standing.then((app) => app.listener(request, response));
  const server = createHttpServer(security, log, (request, response) => listener(request, response));
  // Connections that came in a burst may all be with one worker, and stay there while others have time.
  if (config.workers > 1) server.maxRequestsPerSocket = limits.requestsPerSharedConnectionMax;
  const address = await listen(server, config.host, config.port);
  try {
    const publicUrl = config.publicUrl ?? `http://localhost:${address.port}`;
    const services = wire({
      config,
      installation,
      clock,
      issuer: publicUrl,
      log,
      areRequestsLimited,
      ...(argon2 ? { argon2 } : {}),
      ...(requestedMailDelayMsMax === undefined ? {} : { requestedMailDelayMsMax }),
    });
    await services.signingKeys.ensure();
    await services.verifier.prepare();
    await services.journal?.start({
      onFailure: (error) => log.error({ event: 'deletion_journal_failed', err: error }),
      onDamage: ({ message }) => log.error({ event: 'deletion_journal_damaged', detail: message }),
      onLost: (forgotten) => log.warn({ event: 'deletion_journal_ahead', ...forgotten, detail: aheadHint }),
    });
    const { trustedProxies, corsOrigins } = config;
    const linkPages = linkPagesOf(config, publicUrl);
    const app = new App({
      ...services,
      errors,
      health,
      log,
      publicUrl,
      trustedProxies,
      corsOrigins,
      security,
      linkPages,
      requestBounds,
    });
    listener = app.listener;
    stands(app);
    services.outbox.start();
    services.webhooks.publisher.start();
    return { server, health, errors, services, publicUrl, url: urlOf(config.host, address.port) };
  } catch (error) {
    // It would keep the process that has failed to start.
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
): Promise<AdminListener> {
  const security = securityOf(config);
  const server = createHttpServer(security, log, adminListener(metrics, health, security, log));
  const { port } = await listen(server, config.adminHost, config.adminPort);
  return { server, url: urlOf(config.adminHost, port) };
}

const linkPagesOf = (config: Config, publicUrl: string): LinkPageOptions => ({
  operator: operatorName(config.mailFrom, publicUrl),
  signInUrl: config.signInUrl,
  defaultLanguage: config.language,
  passwordLengthMin: config.passwordLengthMin,
});

const securityOf = ({ publicUrl }: Config): SecurityHeaders =>
  new SecurityHeaders(publicUrl?.startsWith('https:') ?? false);

async function orClose<T>({ db }: Installation, start: () => Promise<T>): Promise<T> {
  try {
    return await start();
  } catch (error) {
    await db.close();
    throw error;
  }
}

/** Loaded when first asked for: most starts are never scraped in their first second. */
function lazyMetrics(
  { verifier, tokens, hasher, outbox, webhooks }: Services,
  { db }: Installation,
  errors: RequestErrors,
  worker?: number,
): () => Promise<Metrics> {
  let metrics: Promise<Metrics> | undefined;
  return () =>
    (metrics ??= import('./metrics.ts').then(
      (module) =>
        new module.Metrics(
          {
            verifications: verifier.counts,
            signIns: tokens.signIns,
            passwords: hasher.stats,
            dbTimes: db.times,
            writes: db.writes,
            errors,
            outbox,
            webhooks: webhooks.sender.counts,
          },
          worker,
        ),
    ));
}

interface Parts {
  readonly health: Health;
  readonly housekeeping: Housekeeping;
  readonly installation: Installation;
  readonly services: Services;
}

async function end(
  servers: readonly Server[],
  drainSeconds: number,
  { health, housekeeping, installation, services }: Parts,
): Promise<boolean> {
  health.isStopping = true;
  const isDrained = await drain(servers, drainSeconds, () => (health.isClosed = true));
  await services.webhooks.publisher.stop();
  await services.outbox.stop();
  await housekeeping.stop();
  services.journal?.stop();
  await installation.db.close();
  return isDrained;
}

/**
 * Half of the time a balancer may still send requests while `/health/ready` says no, on the connections that it has: one
 * that had to make new ones would meet the closing port. Then nothing new is accepted, what is under way is finished, and
 * connections end after their next answer. Those on which nothing comes end after half of the rest: by then a proxy that
 * keeps idle ones for a second has let go of them, and none is closed into which a request is just being sent.
 * @param onClosed once nothing new is accepted
 */
export async function drain(servers: readonly Server[], seconds: number, onClosed?: () => void): Promise<boolean> {
  const ms = seconds * 1000;
  await sleep(ms / 2);
  const graceMs = Math.max(ms / 2, 1_000);
  const closing = servers.map((server) => stopAccepting(server, Math.min(graceMs / 4, doorMsMax)));
  const closed = Promise.all(closing.map(({ ended }) => ended));
  await Promise.all(closing.map(({ portClosed }) => portClosed));
  onClosed?.();
  const idleFromMs = monotonicMs() + ms / 4;
  // Again and again: a connection whose request was under way turns idle when that is answered.
  const closeIdle = (): void => {
    if (monotonicMs() >= idleFromMs) for (const server of servers) server.closeIdleConnections();
  };
  closeIdle();
  const sweep = setInterval(closeIdle, idleSweepMs);
  const isDrained = await Promise.race([closed.then(() => true), sleep(graceMs, false, { ref: false })]);
  clearInterval(sweep);
  for (const server of servers) server.closeAllConnections();
  return isDrained;
}

function urlOf(host: string, port: number): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
