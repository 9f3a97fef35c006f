/** `keyreeve serve`: runs the service until a signal stops it. */
import type { Command } from 'commander';
import { systemClock } from '../foundation/clock.ts';
import { processEnvironment, readConfig } from '../app/configuration/config.ts';
import { DatabaseReplacedError } from '../foundation/database/file-identity.ts';
import { RootKeyChangedError } from '../foundation/database/root-key-changed.ts';
import { firstStart } from '../app/installation/first-start.ts';
import { createLog, type Log } from '../foundation/log.ts';
import { startService, type Service } from '../app/service.ts';
import { CliCommand, type SetStatus } from './command.ts';
import { greet } from './greeting.ts';
import { onNpmExit } from './npm-parent.ts';
import { RoutineLines } from './routine-lines.ts';
import { newSupervisor, type Supervisor } from './supervisor.ts';

export function serveCommand(setStatus: SetStatus): Command {
  return new CliCommand('serve')
    .group('operate')
    .description('Run the service.')
    .examples(
      'keyreeve serve',
      'KEYREEVE_PUBLIC_URL=https://auth.example.com KEYREEVE_TRUSTED_PROXIES=127.0.0.1 keyreeve serve',
    )
    .references('docs/operating.md', 'host', 'port', 'publicUrl', 'trustedProxies', 'database', 'masterKey', 'logLevel')
    .action(async () => setStatus(await serve()));
}

/** @returns the exit status, when the service has stopped */
async function serve(): Promise<number> {
  const config = readConfig(processEnvironment(), { isTerminal: process.stdin.isTTY });
  const routine = new RoutineLines();
  const log: Log = createLog(config.logLevel, undefined, process.stdout.isTTY ? routine.isHidden : undefined);
  const service = await startService({ config, clock: systemClock, log, loadsAll: true });
  const supervisor = newSupervisor(log);
  const stopped = untilStopped(service, { log, supervisor, failed: failureOf(service) });
  const { firstAdministrator } = service.services;
  const first = await firstStart(firstAdministrator, config, log);
  if (first) routine.hideUntil(() => firstAdministrator.administratorExists());
  // After the signal handlers are installed, because the greeting mentions Ctrl-C.
  await greet(service, config, log, first);
  await supervisor.ready();
  return exitSoon(await stopped);
}

const failureOf = ({ replaced, rootKeyChanged }: Service) =>
  Promise.race([rootKeyChanged, ...(replaced ? [replaced] : [])]);

interface Watched {
  readonly log: Log;
  readonly supervisor: Supervisor;
  /** Resolves with an error after which the service must stop. */
  readonly failed: Promise<DatabaseReplacedError | RootKeyChangedError>;
}

/**
 * Signals within this time count as one: systemd and others signal every process of the service, and before Node 22.15 the
 * launcher forwards its own signal as well.
 */
const sameSignalMs = 500;

/**
 * Installs signal handlers.
 * @returns the exit status
 */
function untilStopped(service: Service, { log, supervisor, failed }: Watched): Promise<number> {
  return new Promise<number>((resolve) => {
    let isStopping = false;
    let mayExitNow = false;
    const stop = (reason: string, status = 0): void => {
      // A second signal ends the process without draining.
      if (isStopping) return mayExitNow ? resolve(1) : undefined;
      isStopping = true;
      setTimeout(() => (mayExitNow = true), sameSignalMs).unref();
      log.info({ event: 'stopping', reason });
      void supervisor.stopping();
      void service.stop().then((isDrained) => {
        log.info({ event: 'stopped', isDrained });
        resolve(status || (isDrained ? 0 : 1));
      });
    };
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => stop(signal));
    onNpmExit(() => isStopping || stop('npm has exited'));
    void failed.then((error) => {
      if (error instanceof DatabaseReplacedError) logReplaced(log, error);
      if (error instanceof RootKeyChangedError) log.fatal({ event: 'root_key_changed', detail: error.message });
      if (isStopping) return;
      stop(error.message, error.status);
      // This stop was not caused by a signal, so the first signal already ends the process.
      mayExitNow = true;
    });
    // After an unexpected exception, the state of the process is unknown (ASVS 16.5.4).
    process.on('uncaughtException', (error) => {
      log.fatal({ event: 'crashed', err: error });
      resolve(1);
    });
  });
}

function logReplaced(log: Log, { path, message }: DatabaseReplacedError): void {
  const remedy =
    'put the right database in its place and start the service again; to replace the data of a running service, use `keyreeve restore`';
  log.fatal({ event: 'database_replaced', path, detail: `${message}; ${remedy}` });
}

/** Ends the process after 500 ms, even if a handle keeps it running. The exit flushes the log. */
function exitSoon(status: number): number {
  setTimeout(() => process.exit(status), 500).unref();
  return status;
}
