/**
 * The program of a process that only verifies. It reads the database itself, and writes nothing: the main process makes its draws
 * and adds its counts. It follows the messages of the main process, and ends with it.
 */
import { once } from 'node:events';
import { setPriority } from 'node:os';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { monotonicMs, systemClock } from '../../foundation/clock.ts';
import type { Db } from '../../foundation/database/db.ts';
import { pingDatabase } from '../../foundation/database/installation.ts';
import { loadLazyModules } from '../../foundation/lazy-modules.ts';
import { createLog, type Log } from '../../foundation/log.ts';
import { announcePhase } from '../../foundation/tracing.ts';
import { BasePath } from '../../http/base-path.ts';
import { RequestCounts } from '../../http/request-counts.ts';
import { RequestLog } from '../../http/request-log.ts';
import { canaryAddressOf } from '../../modules/canary-keys/address.ts';
import { ConsoleHost } from '../../modules/console/paths.ts';
import type { QuotaReached } from '../../modules/key-limits/key-limits.ts';
import { UseCollector } from '../../modules/key-usage/use-collector.ts';
import { App } from '../app.ts';
import { ConfigError, processEnvironment, readConfig, type Config } from '../configuration/config.ts';
import { openInstallation } from '../installation/installation.ts';
import { EventLoopDelay } from '../metrics/event-loop-delay.ts';
import { createAppServer } from '../requests/app-server.ts';
import { keyRulesOf, wireAccessTokens, wireVerifier } from '../wiring/verification.ts';
import { drain } from './drain.ts';
import type { Health } from './health.ts';
import type { ToMain, ToVerifier } from './messages.ts';
import { PendingCopies } from './pending-copies.ts';
import { ReadGuard } from './read-guard.ts';
import { RemoteDraws } from './remote-draws.ts';
import { readVerifierBuild } from './verifier-build.ts';
import { takeReport, type ReportSources } from './verifier-report.ts';
import { verifierRoutesOf } from './verifier-routes.ts';

type Start = Extract<ToVerifier, { kind: 'start' }>;

const reportEveryMs = 1_000;
/** Read at once, because an upgrade in place can replace the file. */
const build = readVerifierBuild();
/** The IP address of the peer of a unix socket. It counts as a trusted proxy, because only the user and the group can connect. */
const unixPeer = '127.0.0.1';

/** Resolves when the message is sent, also if it cannot be sent: then this process ends. */
const sendToMain = (message: ToMain): Promise<void> =>
  new Promise((resolve) => void process.send?.(message, undefined, undefined, () => resolve()));

class VerifierProgram {
  readonly #config: Config;
  readonly #log: Log;
  readonly #start: Start;
  readonly #pending: PendingCopies;
  readonly #draws = new RemoteDraws((message) => void sendToMain(message));
  readonly #delay = new EventLoopDelay();
  readonly #health: Health;
  #db: Db | undefined;
  #server: Server | undefined;
  #sources: ReportSources | undefined;
  #isReporting = false;

  constructor(config: Config, log: Log, start: Start) {
    this.#config = config;
    this.#log = log;
    this.#start = start;
    this.#pending = new PendingCopies(start.pending);
    this.#health = {
      isStopping: false,
      isClosed: false,
      check: async () => this.#db && pingDatabase(this.#db),
      canWrite: () => true,
    };
  }

  /** Applies the messages that arrive from now on, also while the process starts. */
  receive(message: ToVerifier): void {
    if (message.kind === 'drawn') this.#draws.receive(message);
    if (message.kind === 'stop') void this.#stop();
    if (message.kind !== 'pending') return;
    this.#pending.apply(message);
    void sendToMain({ kind: 'pending_known', sequence: message.sequence });
  }

  async listen(socket: object): Promise<void> {
    if (this.#start.build !== build) {
      const versions = `the main process is ${this.#start.build}, this verifier is ${build}`;
      throw new Error(`the program was upgraded while the service ran: ${versions}. Restart the service`);
    }
    const guard = new ReadGuard({
      parentPid: () => process.ppid,
      monotonicMs,
      onRefused: ({ message }) => {
        this.#log.fatal({ event: 'verifier_refuses', detail: message });
        // After the responses to the requests whose reads were refused.
        setImmediate(() => process.exit(1));
      },
    });
    if (process.ppid !== this.#start.mainPid) throw new Error('the main process has ended');
    const options = { clock: systemClock, mayCreate: false, beforeRead: guard.check };
    const installation = await openInstallation(this.#config, options);
    this.#db = installation.db;
    installation.db.file?.compare(this.#start.database);
    const server = await this.#serve(installation);
    server.listen(socket);
    await once(server, 'listening');
    setInterval(() => void this.#report(), reportEveryMs).unref();
    await sendToMain({ kind: 'listening' });
  }

  async #serve({ db, keys }: Awaited<ReturnType<typeof openInstallation>>): Promise<Server> {
    const [config, log, health, clock] = [this.#config, this.#log, this.#health, systemClock];
    const { publicUrl, isUnix } = this.#start;
    await announcePhase('start');
    const core = { db, keys, config, clock, issuer: publicUrl, revocations: undefined };
    const rules = keyRulesOf(core);
    const [uses, quotas]: [UseCollector, QuotaReached[]] = [new UseCollector(), []];
    const { tokens } = wireAccessTokens(core, this.#pending.accounts);
    const { verifier, limiter } = wireVerifier(core, {
      ...rules,
      tokens,
      uses,
      pending: this.#pending,
      draws: this.#draws,
      // The report takes it.
      onQuotaReached: (quota) => quotas.push(quota) > 0,
    });
    await Promise.all([verifier.prepare(), loadLazyModules()]);
    const requestLog = new RequestLog(log);
    const requestCounts = new RequestCounts();
    const trustedProxies = isUnix ? [...config.trustedProxies, `${unixPeer}/32`] : config.trustedProxies;
    const { server, http, serve } = createAppServer({ ...config, trustedProxies }, log, requestLog);
    if (isUnix) server.prependListener('connection', namePeer);
    const { isBasicForwarded, traceRatio } = config;
    const app = { tokens, verifier, health, log, requestLog, requestCounts, trustedProxies, publicUrl };
    serve(
      new App({
        ...http,
        ...app,
        routes: verifierRoutesOf({ health, verifier, requestLog }),
        isVerifying: true,
        canaryKeys: canaryAddressOf(rules.hash),
        console: undefined,
        consoleHost: new ConsoleHost({ isOn: false, consoleUrl: undefined, publicUrl }),
        basePath: new BasePath(publicUrl),
        isBasicForwarded,
        traceRatio,
      }),
    );
    this.#server = server;
    this.#sources = { verifier, limiter, requestCounts, db, uses, quotas };
    return server;
  }

  /** While the main process does not read its messages, the counts stay in this process, within their bounds. */
  async #report(): Promise<void> {
    if (this.#isReporting || !this.#sources || !this.#server) return;
    this.#isReporting = true;
    const server = this.#server;
    const connections = await new Promise<number>((resolve) => server.getConnections((_, count) => resolve(count)));
    const eventLoopDelayMaxMs = this.#delay.takeMaxMs();
    await sendToMain({ kind: 'report', report: takeReport(this.#sources, { connections, eventLoopDelayMaxMs }) });
    await this.#sendUses(this.#sources.uses);
    this.#isReporting = false;
  }

  /** In small parts, between which verifications run. */
  async #sendUses(collector: UseCollector): Promise<void> {
    for (const parts of collector.take())
      for (const uses of parts) {
        await sendToMain({ kind: 'uses', uses });
        collector.release(uses.length);
      }
  }

  async #stop(): Promise<void> {
    this.#health.isStopping = true;
    const servers = this.#server ? [this.#server] : [];
    const onClosed = (): void => void (this.#health.isClosed = true);
    const isDrained = await drain(servers, this.#config.drainSeconds, { onClosed });
    this.#isReporting = false;
    await this.#report();
    await this.#db?.close();
    await announcePhase('stop');
    process.exit(isDrained ? 0 : 1);
  }
}

/** So that the code for IP addresses needs no case for sockets without one. */
const namePeer = (socket: Socket): unknown =>
  Object.defineProperty(socket, 'remoteAddress', { value: unixPeer, configurable: true });

/** A replacement inherits the lower priority of the main process, and keeps it unless the system permits a higher one. */
function restorePriority(priority: number): void {
  try {
    setPriority(priority);
  } catch {
    // Only root and processes with CAP_SYS_NICE may raise it.
  }
}

/** @param socket on which it listens */
function begin(start: Start, socket: object): VerifierProgram {
  if (process.platform === 'linux') restorePriority(start.priority);
  const config = readConfig(processEnvironment());
  const log: Log = createLog(config.logLevel).child({ verifier: start.verifier });
  // After an unexpected exception, the state of the process is unknown (ASVS 16.5.4).
  process.on('uncaughtException', (error) => {
    log.fatal({ event: 'crashed', err: error });
    process.exit(1);
  });
  const program = new VerifierProgram(config, log, start);
  program.listen(socket).catch((error: unknown) => {
    log.fatal({ event: 'verifier_not_started', err: error });
    process.exit(error instanceof ConfigError ? 78 : 1);
  });
  return program;
}

// Ctrl-C reaches every process of the terminal, and some service managers signal all processes. The main process decides.
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => undefined);
process.on('disconnect', () => process.exit(1));
let program: VerifierProgram | undefined;
process.on('message', (message: ToVerifier, socket: object) => {
  if (message.kind === 'start') program = begin(message, socket);
  else program?.receive(message);
});
