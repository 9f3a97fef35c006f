/** `keyreeve serve`: runs the service until it is told to stop. */
import cluster from 'node:cluster';
import { Command } from 'commander';
import { systemClock } from '../foundation/clock.ts';
import { processEnvironment, readConfig, type Config } from '../app/config.ts';
import { describeDatabase } from '../foundation/database/database.ts';
import { DatabaseReplacedError } from '../foundation/database/file-identity.ts';
import { masterKeyPath } from '../app/earlier-installation.ts';
import { createLog, type Log } from '../foundation/log.ts';
import { startService, type Running, type ServiceOptions } from '../app/service.ts';
import type { WorkerPoolError } from '../app/workers/worker-pool.ts';
import { version } from './output.ts';
import { whenNpmEnds } from './npm-parent.ts';

export function serveCommand(exitWith: (status: number) => void): Command {
  return new Command('serve').description('Run the service.').action(async () => exitWith(await serve()));
}

/** @returns the exit status, once it has stopped */
async function serve(): Promise<number> {
  const config = readConfig(processEnvironment(), { isTerminal: process.stdin.isTTY });
  if (cluster.isWorker) return work(config);
  const log = createLog(config.logLevel);
  const options = { config, clock: systemClock, log };
  if (config.workers > 1) return supervise(options);
  const service = await startService(options);
  const stopped = untilStopped(service, log, service.replaced);
  // Only now: whoever reads that Ctrl-C stops it may press it at once.
  greet(service, config, log);
  return exitSoon(await stopped);
}

async function work(config: Config): Promise<number> {
  try {
    const { runWorker } = await import('../app/workers/worker.ts');
    return await runWorker(config, systemClock);
  } finally {
    // As soon as the status is set and a failure is told: the channel to the supervisor would keep the process.
    setImmediate(() => process.exit());
  }
}

async function supervise(options: ServiceOptions): Promise<number> {
  const { startSupervisor } = await import('../app/workers/supervisor.ts');
  const { WorkerPoolError } = await import('../app/workers/worker-pool.ts');
  const { config, log } = options;
  try {
    const supervisor = await startSupervisor(options);
    const stopped = untilStopped(supervisor, log, supervisor.failed);
    greet(supervisor, config, log);
    return exitSoon(await stopped);
  } catch (error) {
    if (!(error instanceof WorkerPoolError)) throw error;
    log.fatal({ event: 'workers_failed', detail: error.message });
    return exitSoon(error.status);
  }
}

/**
 * systemd and others signal every process of the service, and the launcher forwards its signal where it cannot become the
 * program (before Node 22.15): signals that arrive within this time are one.
 */
const sameSignalMs = 500;

/**
 * Listens for signals from the call on.
 * @param failed when it can't go on by itself
 * @returns the exit status
 */
function untilStopped(
  service: Running,
  log: Log,
  failed?: Promise<WorkerPoolError | DatabaseReplacedError>,
): Promise<number> {
  return new Promise<number>((resolve) => {
    let isStopping = false;
    let mayEndAtOnce = false;
    const stop = (reason: string, status = 0): void => {
      // A second signal ends the process without draining.
      if (isStopping) return mayEndAtOnce ? resolve(1) : undefined;
      isStopping = true;
      setTimeout(() => (mayEndAtOnce = true), sameSignalMs).unref();
      log.info({ event: 'stopping', reason });
      void service.stop().then((isDrained) => {
        log.info({ event: 'stopped', isDrained });
        resolve(status || (isDrained ? 0 : 1));
      });
    };
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => stop(signal));
    whenNpmEnds(() => isStopping || stop('npm has ended'));
    void failed?.then((error) => {
      if (error instanceof DatabaseReplacedError) tellReplaced(log, error);
      if (isStopping) return;
      stop(error.message, error.status);
      // No signal has begun this stop, so the next one is a request to end.
      mayEndAtOnce = true;
    });
    // A mistake in the program: nothing it does from here on can be trusted (ASVS 16.5.4).
    process.on('uncaughtException', (error) => {
      log.fatal({ event: 'crashed', err: error });
      resolve(1);
    });
  });
}

function tellReplaced(log: Log, { path, message }: DatabaseReplacedError): void {
  const remedy =
    'put the right database in its place and start the service again; replace the file of a running service only with `keyreeve restore`';
  log.fatal({ event: 'database_replaced', path, detail: `${message}; ${remedy}` });
}

/** The log is flushed as the process exits, so nothing is lost; what still holds the process is not waited for. */
function exitSoon(status: number): number {
  setTimeout(() => process.exit(status), 500).unref();
  return status;
}

function greet(service: Running, { database: address, masterKey, workers: count }: Config, log: Log): void {
  const { url, adminUrl, publicUrl } = service;
  const keyPath = masterKey || address.kind !== 'sqlite' ? undefined : masterKeyPath(address.path);
  const database = describeDatabase(address);
  const workers = count > 1 ? count : undefined;
  log.info({ event: 'listening', version, url, adminUrl, publicUrl, workers, database, masterKeyFile: keyPath });
  if (!process.stderr.isTTY) return;
  const lines = [
    `Keyreeve ${version} listens on ${url} (metrics and health on ${adminUrl}).`,
    `Its data lies in ${database}${keyPath ? `, its master key in ${keyPath}` : ''}: back both up, apart from each other.`,
    'Next, in another terminal:',
    '  npx keyreeve account create you@example.com',
    `  curl -X POST -u you@example.com ${url}/auth/token`,
    `The contract is at ${url}/docs. Ctrl-C stops.`,
  ];
  process.stderr.write(`${lines.join('\n')}\n`);
}
