/**
 * The workers of one instance, seen from their supervisor: started, replaced when they die, asked, ended.
 *
 * They share one listening socket, which each accepts from (decision 9): one that hangs takes no connection from the
 * others, and of one that dies only its own connections are lost.
 */
import cluster, { type Worker } from 'node:cluster';
import { setTimeout as sleep } from 'node:timers/promises';
import { monotonicMs } from '../../foundation/clock.ts';
import { DatabaseReplacedError, type FileIdentity } from '../../foundation/database/file-identity.ts';
import type { Log } from '../../foundation/log.ts';
import type { MetricsSnapshot } from '../metrics.ts';
import type { Shared, ToSupervisor, ToWorker } from './messages.ts';

/** A worker that ran for less than this is replaced later each time, so that a crash at each start doesn't fill a core. */
const steadyMs = 10_000;
const delayMsFirst = 100;
const delayMsMax = 5_000;
/** In a row, of one worker, before it listened. */
const failedStartsMax = 5;
/** For the counts of a worker; after it what it said last time stands. */
const answerMsMax = 2_000;
/** Beyond its own bounds: to write what is pending and to close the database. */
const endMsMax = 3_000;

/** Workers can't start; they have said why. */
export class WorkerPoolError extends Error {
  /** The exit status of the one that failed. */
  readonly status: number;

  constructor(worker: number, status: number) {
    super(`worker ${worker} can't start: it ended with ${status}`);
    this.status = status;
  }
}

export interface Address {
  readonly url: string;
  readonly publicUrl: string;
}

/** One of the numbers from 1 on, and the process that has it now. */
interface Place {
  readonly worker: number;
  process: Worker | undefined;
  isListening: boolean;
  startedMs: number;
  failedStarts: number;
  /** In a row. */
  earlyDeaths: number;
  replacement: NodeJS.Timeout | undefined;
}

export interface WorkerPoolOptions {
  readonly count: number;
  /** 0 picks one. */
  readonly port: number;
  /** Which files of an embedded database each worker must have open. */
  readonly database: FileIdentity | undefined;
  readonly log: Log;
}

export class WorkerPool {
  readonly #log: Log;
  readonly #database: FileIdentity | undefined;
  readonly #places: readonly Place[];
  readonly #started = Promise.withResolvers<Address>();
  readonly #failed = Promise.withResolvers<WorkerPoolError | DatabaseReplacedError>();
  readonly #ended = Promise.withResolvers<void>();
  readonly #answers = new Map<number, (snapshot: MetricsSnapshot) => void>();
  #port: number;
  #address: Address | undefined;
  #lastId = 0;
  #isStarted = false;
  #isEnding = false;
  #endedWell = true;
  /** Replaced since the start. */
  replaced = 0;

  constructor({ count, port, database, log }: WorkerPoolOptions) {
    this.#log = log;
    this.#database = database;
    this.#port = port;
    this.#places = Array.from({ length: count }, (_, index) => ({
      worker: index + 1,
      process: undefined,
      isListening: false,
      startedMs: 0,
      failedStarts: 0,
      earlyDeaths: 0,
      replacement: undefined,
    }));
    cluster.schedulingPolicy = cluster.SCHED_NONE;
    cluster.setupPrimary({ serialization: 'advanced' });
  }

  /** Workers that listen. */
  get listening(): number {
    return this.#places.filter(({ isListening }) => isListening).length;
  }

  /** When a worker that was there once can't be replaced, or serves a file that was replaced. */
  get failed(): Promise<WorkerPoolError | DatabaseReplacedError> {
    return this.#failed.promise;
  }

  /** @returns where they listen, once all do. @throws WorkerPoolError when one can't start; the others have been ended */
  async start(): Promise<Address> {
    for (const place of this.#places) this.#fork(place);
    return this.#started.promise;
  }

  /** What each worker that listens has counted, by an id of its process; undefined where it doesn't answer in time. */
  async snapshots(): Promise<ReadonlyMap<number, MetricsSnapshot | undefined>> {
    const asked = this.#places.flatMap(({ process, isListening }) => (process && isListening ? [process] : []));
    const answered = asked.map(async (process) => {
      const id = ++this.#lastId;
      const { promise, resolve } = Promise.withResolvers<MetricsSnapshot>();
      this.#answers.set(id, resolve);
      say(process, { kind: 'metrics', id });
      const snapshot = await Promise.race([promise, sleep(answerMsMax, undefined, { ref: false })]);
      this.#answers.delete(id);
      return [process.id, snapshot] as const;
    });
    return new Map(await Promise.all(answered));
  }

  /** Lets all finish what is under way. @returns whether all ended by themselves, in time and in order */
  async stop(drainSeconds: number): Promise<boolean> {
    this.#isEnding = true;
    for (const place of this.#places) {
      clearTimeout(place.replacement);
      if (place.process && place.isListening) say(place.process, { kind: 'stop' });
      // It has no request yet.
      else place.process?.process.kill('SIGKILL');
    }
    this.#endIfAllDid();
    const ms = Math.max(drainSeconds * 1000, drainSeconds * 500 + 1_000) + endMsMax;
    const isInTime = await Promise.race([this.#ended.promise.then(() => true), sleep(ms, false, { ref: false })]);
    this.kill();
    return isInTime && this.#endedWell;
  }

  /** At once, without asking. */
  kill(): void {
    this.#isEnding = true;
    for (const { process } of this.#places) process?.process.kill('SIGKILL');
  }

  #fork(place: Place): void {
    // A socket of port 0 is the same for all while one of them has it; after that the port that was picked is asked for.
    if (this.#address && this.listening === 0) this.#port = Number(new URL(this.#address.url).port);
    const process = cluster.fork();
    Object.assign(place, { process, isListening: false, startedMs: monotonicMs() });
    process.on('message', (message: ToSupervisor) => {
      if (message.kind === 'listening') this.#listens(place, process, message);
      else if (message.kind === 'metrics') this.#answers.get(message.id)?.(message.snapshot);
      else if (message.kind === 'database_replaced') this.#failed.resolve(new DatabaseReplacedError(message.path));
      else this.#passOn(process, message);
    });
    process.on('exit', (status, signal) => this.#died(place, process, status, signal));
    process.on('error', (error) => {
      this.#log.error({ event: 'worker_failed', worker: place.worker, err: error });
      // Without a process there is no exit.
      if (process.process.pid === undefined) this.#died(place, process, 1, null);
    });
    say(process, { kind: 'start', worker: place.worker, port: this.#port, database: this.#database });
  }

  #passOn(from: Worker, message: Shared): void {
    for (const { process } of this.#places) if (process && process !== from) say(process, message);
  }

  #listens(place: Place, process: Worker, { url, publicUrl }: Address): void {
    // The last of those that had the socket has died while this one came up.
    if (this.#address && this.#address.url !== url) {
      process.process.kill('SIGKILL');
      return;
    }
    place.isListening = true;
    place.failedStarts = 0;
    this.#log.info({ event: 'worker_listening', worker: place.worker, workerPid: process.process.pid });
    this.#address ??= { url, publicUrl };
    if (this.listening < this.#places.length) return;
    this.#isStarted = true;
    this.#started.resolve(this.#address);
  }

  #died(place: Place, process: Worker, status: number | null, signal: string | null): void {
    if (place.process !== process) return;
    const { worker, isListening: wasListening } = place;
    place.process = undefined;
    place.isListening = false;
    if (this.#isEnding) {
      if (wasListening && status !== 0) this.#endedWell = false;
      this.#endIfAllDid();
      return;
    }
    this.#log.error({ event: 'worker_ended', worker, workerPid: process.process.pid, status, signal });
    if (!wasListening && (!this.#isStarted || ++place.failedStarts === failedStartsMax)) {
      this.#fail(new WorkerPoolError(worker, status || 1));
      return;
    }
    place.earlyDeaths = monotonicMs() - place.startedMs < steadyMs ? place.earlyDeaths + 1 : 0;
    const delayMs = place.earlyDeaths === 0 ? 0 : Math.min(delayMsMax, delayMsFirst * 2 ** (place.earlyDeaths - 1));
    this.replaced++;
    place.replacement = setTimeout(() => this.#fork(place), delayMs);
  }

  #fail(error: WorkerPoolError): void {
    this.#failed.resolve(error);
    if (this.#isStarted) return;
    this.kill();
    this.#started.reject(error);
  }

  #endIfAllDid(): void {
    if (this.#places.every(({ process }) => process === undefined)) this.#ended.resolve();
  }
}

/** To one that has just died nothing needs to be said. */
function say(worker: Worker, message: ToWorker): void {
  worker.send(message, () => undefined);
}
