/** The running service: configuration → database → slices → HTTP → listen → drain. The only file that knows everyone. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from './clock.ts';
import { warningsOf, type Config } from './config.ts';
import type { Argon2Parameters } from './crypto/password.ts';
import { pingDatabase } from './db/installation.ts';
import { adminListener } from './http/admin-app.ts';
import { App } from './http/app.ts';
import { SecurityHeaders } from './http/headers.ts';
import type { Health } from './http/health.ts';
import { createHttpServer, listen } from './http/server.ts';
import { Housekeeping } from './housekeeping.ts';
import { openInstallation, type Installation } from './installation.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';
import { wire, type Services } from './wiring.ts';

export interface ServiceOptions {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Log;
  /** Cheaper ones for tests. */
  readonly argon2?: Argon2Parameters;
}

export interface Service {
  /** Where it listens, for example `http://127.0.0.1:8787`. */
  readonly url: string;
  readonly adminUrl: string;
  readonly publicUrl: string;
  readonly services: Services;
  /** Finishes what is under way and writes what is pending. @returns whether all of it ended in time */
  readonly stop: () => Promise<boolean>;
}

/** While the service drains. */
const idleSweepMs = 20;

/** @throws ConfigError, SchemaError, or the error of a port that is taken */
export async function startService(options: ServiceOptions): Promise<Service> {
  const { config, clock, log } = options;
  const installation = await openInstallation(config, { clock, mayCreate: true, mayMigrate: true });
  try {
    return await startOn(installation, options);
  } catch (error) {
    await installation.db.close();
    throw error;
  } finally {
    if (installation.migrated.length > 0) log.info({ event: 'migrated', migrations: installation.migrated });
    for (const detail of warningsOf(config)) log.warn({ event: 'configuration', detail });
  }
}

async function startOn(installation: Installation, { config, clock, log, argon2 }: ServiceOptions): Promise<Service> {
  const { db } = installation;
  const security = new SecurityHeaders(config.publicUrl?.startsWith('https:') ?? false);
  const health: Health = { isStopping: false, check: () => pingDatabase(db) };

  // The issuer names the port, and the system may pick it: the address is taken first and answered from once all stands.
  let listener: (request: IncomingMessage, response: ServerResponse) => void = (_, response) => void response.destroy();
  const server = createHttpServer(security, log, (request, response) => listener(request, response));
  const address = await listen(server, config.host, config.port);
  const publicUrl = config.publicUrl ?? `http://localhost:${address.port}`;
  const services = wire({ config, installation, clock, issuer: publicUrl, ...(argon2 ? { argon2 } : {}) });
  await services.signingKeys.ensure();
  const { trustedProxies, corsOrigins } = config;
  const app = new App({ ...services, health, log, publicUrl, trustedProxies, corsOrigins, security });
  listener = app.listener;

  const admin = createHttpServer(
    security,
    log,
    adminListener(lazyMetrics(services, installation), health, security, log),
  );
  const adminAddress = await listen(admin, config.adminHost, config.adminPort).catch((error: unknown) => {
    server.close();
    throw error;
  });
  const housekeeping = new Housekeeping(db, clock, services.verifier, log);

  const stop = async (): Promise<boolean> => {
    health.isStopping = true;
    const isDrained = await drain([server, admin], config.drainSeconds);
    await housekeeping.stop();
    await db.close();
    return isDrained;
  };
  return {
    url: urlOf(config.host, address.port),
    adminUrl: urlOf(config.adminHost, adminAddress.port),
    publicUrl,
    services,
    stop,
  };
}

/** Loaded when first asked for: most starts are never scraped in their first second. */
function lazyMetrics({ verifier, tokens, hasher }: Services, { db }: Installation): () => Promise<Metrics> {
  let metrics: Promise<Metrics> | undefined;
  return () =>
    (metrics ??= import('./metrics.ts').then(
      (module) =>
        new module.Metrics({
          verdicts: verifier.counts,
          logins: tokens.logins,
          passwords: hasher.stats,
          dbTimes: db.times,
        }),
    ));
}

/**
 * Half of the time a balancer may still send requests while `/health/ready` says no; then nothing new is accepted and
 * what is under way is finished.
 */
async function drain(servers: readonly Server[], seconds: number): Promise<boolean> {
  const ms = seconds * 1000;
  await sleep(ms / 2);
  const closed = Promise.all(servers.map((server) => new Promise<void>((resolve) => server.close(() => resolve()))));
  // Again and again: a connection whose request was under way turns idle when that is answered.
  const closeIdle = (): void => servers.forEach((server) => server.closeIdleConnections());
  closeIdle();
  const sweep = setInterval(closeIdle, idleSweepMs);
  const graceMs = Math.max(ms / 2, 1_000);
  const isDrained = await Promise.race([closed.then(() => true), sleep(graceMs, false, { ref: false })]);
  clearInterval(sweep);
  for (const server of servers) server.closeAllConnections();
  return isDrained;
}

function urlOf(host: string, port: number): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
