/**
 * The workers of one instance: starts them, replaces those that exit, collects their metrics and stops them.
 *
 * All workers accept connections from one listening socket (decision 2). A worker that hangs takes no connections from the
 * others. If a worker exits, only its own connections are lost.
 */
import cluster, { type Worker } from 'node:cluster';
import { setTimeout as sleep } from 'node:timers/promises';
import { monotonicMs } from '../../foundation/clock.ts';
import type { Db, WorkerClient } from '../../foundation/database/db.ts';
import { DatabaseReplacedError } from '../../foundation/database/file-identity.ts';
import { RootKeyChangedError } from '../../foundation/database/root-key-changed.ts';
import type { Log } from '../../foundation/log.ts';
import { drainMsMax } from './drain.ts';
import type { MetricsSnapshot } from '../metrics/metrics.ts';
import type { Broadcast, ToSupervisor, ToWorker } from './messages.ts';

/** The delay before a replacement doubles each time a worker exits sooner than this, so that crashes at start use little CPU. */
const stableMs = 10_000;
const delayMsFirst = 100;
const delayMsMax = 5_000;
/** Consecutive starts of one slot that fail before the worker listens. */
const failedStartsMax = 5;
/** Bound on waiting for the metrics of a worker. After it, the worker's previous metrics are used. */
const metricsMsMax = 2_000;
/** After the drain: to write pending data and to close the database. */
const closeMsMax = 3_000;

/** A worker cannot start. It has logged the reason. */
export class WorkerPoolError extends Error {
  /** Exit status of the worker. */
  readonly status: number;

  constructor(worker: number, status: number) {
    super(`worker ${worker} cannot start: it exited with status ${status}`);
    this.status = status;
  }
}

export interface ListeningUrls {
  readonly url: string;
  readonly publicUrl: string;
}

/** A numbered worker of the pool, and the process that fills it. */
interface Slot {
  readonly worker: number;
  process: Worker | undefined;
  writes: WorkerClient | undefined;
  isListening: boolean;
  startedMs: number;
  failedStarts: number;
  /** Consecutive. */
  earlyExits: number;
  replacement: NodeJS.Timeout | undefined;
}

export interface WorkerPoolOptions {
  readonly count: number;
  /** With 0, the system selects one. */
  readonly port: number;
  /** On SQLite, each worker must open the same files, and this process writes for it. */
  readonly db: Pick<Db, 'file' | 'serve'>;
  readonly log: Log;
}

export class WorkerPool {
  readonly #log: Log;
  readonly #db: Pick<Db, 'file' | 'serve'>;
  readonly #slots: readonly Slot[];
  readonly #started = Promise.withResolvers<ListeningUrls>();
  readonly #failed = Promise.withResolvers<WorkerPoolError | DatabaseReplacedError | RootKeyChangedError>();
  readonly #allExited = Promise.withResolvers<void>();
  readonly #metricsRequests = new Map<number, (snapshot: MetricsSnapshot) => void>();
  #port: number;
  #urls: ListeningUrls | undefined;
  #lastId = 0;
  #isStarted = false;
  #isStopping = false;
  #isCleanStop = true;
  /** Number of replacements since the start. */
  replaced = 0;

  constructor({ count, port, db, log }: WorkerPoolOptions) {
    this.#log = log;
    this.#db = db;
    this.#port = port;
    this.#slots = Array.from({ length: count }, (_, index) => ({
      worker: index + 1,
      process: undefined,
      writes: undefined,
      isListening: false,
      startedMs: 0,
      failedStarts: 0,
      earlyExits: 0,
      replacement: undefined,
    }));
    cluster.schedulingPolicy = cluster.SCHED_NONE;
    cluster.setupPrimary({ serialization: 'advanced' });
  }

  /** Number of workers of the configuration. */
  get configured(): number {
    return this.#slots.length;
  }

  /** Number of workers that listen. */
  get listening(): number {
    return this.#slots.filter(({ isListening }) => isListening).length;
  }

  /** Resolves when a worker cannot be replaced, or when the database file of a worker was replaced. */
  get failed(): Promise<WorkerPoolError | DatabaseReplacedError | RootKeyChangedError> {
    return this.#failed.promise;
  }

  /** @returns when all workers listen. @throws WorkerPoolError if one cannot start; the others have been killed */
  async start(): Promise<ListeningUrls> {
    for (const slot of this.#slots) this.#fork(slot);
    return this.#started.promise;
  }

  /** The metrics of each worker that listens, by the id of its process. Undefined if the worker does not respond in time. */
  async snapshots(): Promise<ReadonlyMap<number, MetricsSnapshot | undefined>> {
    const workers = this.#slots.flatMap(({ process, isListening }) => (process && isListening ? [process] : []));
    const snapshots = workers.map(async (process) => {
      const id = ++this.#lastId;
      const { promise, resolve } = Promise.withResolvers<MetricsSnapshot>();
      this.#metricsRequests.set(id, resolve);
      send(process, { kind: 'metrics', id });
      const snapshot = await Promise.race([promise, sleep(metricsMsMax, undefined, { ref: false })]);
      this.#metricsRequests.delete(id);
      return [process.id, snapshot] as const;
    });
    return new Map(await Promise.all(snapshots));
  }

  /** Drains all workers. @returns whether all exited in time, with status 0 */
  async stop(drainSeconds: number): Promise<boolean> {
    this.#isStopping = true;
    for (const slot of this.#slots) {
      clearTimeout(slot.replacement);
      if (slot.process && slot.isListening) send(slot.process, { kind: 'stop' });
      // It does not listen yet, so it has no requests.
      else slot.process?.process.kill('SIGKILL');
    }
    this.#resolveIfAllExited();
    const ms = drainMsMax(drainSeconds) + closeMsMax;
    const isInTime = await Promise.race([this.#allExited.promise.then(() => true), sleep(ms, false, { ref: false })]);
    this.kill();
    return isInTime && this.#isCleanStop;
  }

  /** Kills all workers immediately. */
  kill(): void {
    this.#isStopping = true;
    for (const { process } of this.#slots) process?.process.kill('SIGKILL');
  }

  #fork(slot: Slot): void {
    // With port 0, all workers share the selected port while one of them listens. Otherwise request that port explicitly.
    if (this.#urls && this.listening === 0) this.#port = Number(new URL(this.#urls.url).port);
    const process = cluster.fork();
    const writes = this.#db.serve?.((responses) => send(process, { kind: 'writes', responses }));
    Object.assign(slot, { process, writes, isListening: false, startedMs: monotonicMs() });
    process.on('message', (message: ToSupervisor) => {
      if (message.kind === 'writes') writes?.receive(message.parts);
      else if (message.kind === 'listening') this.#onListening(slot, process, message);
      else if (message.kind === 'metrics') this.#metricsRequests.get(message.id)?.(message.snapshot);
      else if (message.kind === 'database_replaced') this.#failed.resolve(new DatabaseReplacedError(message.path));
      else if (message.kind === 'root_key_changed') this.#failed.resolve(new RootKeyChangedError());
      else this.#forward(process, message);
    });
    process.on('exit', (status, signal) => this.#onExit(slot, process, status, signal));
    process.on('error', (error) => {
      this.#log.error({ event: 'worker_failed', worker: slot.worker, err: error });
      // If no process was created, there is no event `exit`.
      if (process.process.pid === undefined) this.#onExit(slot, process, 1, null);
    });
    send(process, { kind: 'start', worker: slot.worker, port: this.#port, database: this.#db.file?.identity });
  }

  #forward(from: Worker, message: Broadcast): void {
    for (const { process } of this.#slots) if (process && process !== from) send(process, message);
  }

  #onListening(slot: Slot, process: Worker, { url, publicUrl }: ListeningUrls): void {
    // All other workers exited while this one started, so it got a different port.
    if (this.#urls && this.#urls.url !== url) {
      process.process.kill('SIGKILL');
      return;
    }
    slot.isListening = true;
    slot.writes?.start();
    slot.failedStarts = 0;
    this.#log.info({ event: 'worker_listening', worker: slot.worker, workerPid: process.process.pid });
    this.#urls ??= { url, publicUrl };
    if (this.listening < this.#slots.length) return;
    this.#isStarted = true;
    this.#started.resolve(this.#urls);
  }

  #onExit(slot: Slot, process: Worker, status: number | null, signal: string | null): void {
    if (slot.process !== process) return;
    const { worker, isListening: wasListening } = slot;
    slot.process = undefined;
    slot.writes?.end();
    slot.isListening = false;
    if (this.#isStopping) {
      if (wasListening && status !== 0) this.#isCleanStop = false;
      this.#resolveIfAllExited();
      return;
    }
    this.#log.error({ event: 'worker_ended', worker, workerPid: process.process.pid, status, signal });
    if (!wasListening && (!this.#isStarted || ++slot.failedStarts === failedStartsMax)) {
      this.#fail(new WorkerPoolError(worker, status || 1));
      return;
    }
    slot.earlyExits = monotonicMs() - slot.startedMs < stableMs ? slot.earlyExits + 1 : 0;
    const delayMs = slot.earlyExits === 0 ? 0 : Math.min(delayMsMax, delayMsFirst * 2 ** (slot.earlyExits - 1));
    this.replaced++;
    slot.replacement = setTimeout(() => this.#fork(slot), delayMs);
  }

  #fail(error: WorkerPoolError): void {
    this.#failed.resolve(error);
    if (this.#isStarted) return;
    this.kill();
    this.#started.reject(error);
  }

  #resolveIfAllExited(): void {
    if (this.#slots.every(({ process }) => process === undefined)) this.#allExited.resolve();
  }
}

/** Ignores errors: the worker may have just exited. */
function send(worker: Worker, message: ToWorker): void {
  worker.send(message, () => undefined);
}
