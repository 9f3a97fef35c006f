/**
 * The verifiers of this process: starts them, replaces those that end, tells them about changes of unknown outcome, makes their
 * draws, adds their reports, and stops them. If a verifier ends, only its own connections are lost.
 */
import { limits } from '@keyreeve/contract';
import { systemTimers, type Timers } from '../../foundation/clock.ts';
import type { FileIdentity } from '../../foundation/database/file-identity.ts';
import { toPlain } from '../../foundation/database/plain-error.ts';
import type { Log } from '../../foundation/log.ts';
import { lowerPriority, usualPriority } from '../../foundation/priority.ts';
import type { PendingChangeOfId } from '../../modules/deletion-journal/pending-changes.ts';
import type { Draws } from '../../modules/key-limits/draws.ts';
import type { CollectedUse } from '../../modules/key-usage/use-collector.ts';
import type { Services } from '../wiring/wire.ts';
import { drainMsMax } from './drain.ts';
import type { PendingSubject, ToMain } from './messages.ts';
import { bindShared, type SharedSocket, type VerifyAddress } from './shared-socket.ts';
import { readVerifierBuild } from './verifier-build.ts';
import { VerifierProcess } from './verifier-process.ts';
import type { VerifierReport, VerifierState } from './verifier-report.ts';

/** The delay before a replacement doubles each time a verifier ends sooner than this, so that crashes at start use little CPU. */
const stableMs = 10_000;
const delayMsFirst = 100;
const delayMsMax = 5_000;
/** Interval of attempts while another process has the socket. */
const bindEveryMs = 500;
/** After the drain: the last report, and the end of the process. */
const closeMsMax = 3_000;
/** Each verifier sends a report each second. */
const silenceCheckEveryMs = 2_000;
/** Consecutive. More than one, because a pause of this process is no silence of a verifier. */
const silentChecksMax = limits.verifierSilenceMsMax / silenceCheckEveryMs;
/** Verifications matter more than changes, and changes more than hashes. */
const priorityOfMain = 2;

/** A verifier cannot start. It has logged the reason. */
export class VerifierStartError extends Error {
  /** Exit status of the verifier. */
  readonly status: number;

  constructor(verifier: number, status: number) {
    super(`verifier ${verifier} cannot start: it exited with status ${status}`);
    this.status = status;
  }
}

/** What the verifiers get from the main process. */
export interface VerifierPoolParts extends Pick<Services, 'pending'> {
  readonly publicUrl: string;
  readonly database: FileIdentity | undefined;
  readonly draws: Draws;
  readonly onReport: (report: VerifierReport) => void;
  readonly onUses: (uses: readonly CollectedUse[]) => void;
}

export interface VerifierPoolOptions {
  readonly count: number;
  readonly address: VerifyAddress;
  readonly log: Log;
  readonly timers?: Timers;
}

/** A numbered verifier, and the process that fills its place. */
interface Slot {
  readonly verifier: number;
  process: VerifierProcess;
  startedMs: number;
  /** Consecutive. */
  earlyExits: number;
  /** Of the last report. */
  state: VerifierState | undefined;
  /** Of processes that have ended. */
  readonly ended: { processorSeconds: number; logRecordsLost: number };
}

export class VerifierPool {
  readonly #options: Required<VerifierPoolOptions>;
  readonly #slots: readonly Slot[];
  /** Read with the first processes, before an upgrade in place can replace it. */
  readonly #build = readVerifierBuild();
  readonly #allEnded = Promise.withResolvers<void>();
  #parts: VerifierPoolParts | undefined;
  #socket: SharedSocket | undefined;
  #started: PromiseWithResolvers<void> | undefined = Promise.withResolvers<void>();
  #sequence = 0;
  #isStopping = false;
  #isCleanStop = true;
  /** Number of replacements since the start. */
  replaced = 0;

  /**
   * Starts the processes, which then wait for {@link start}. To be created before the priority of this process is lowered, and
   * before it has threads: they would keep the usual priority.
   */
  constructor(options: VerifierPoolOptions) {
    const { count, log, timers = systemTimers } = options;
    this.#options = { ...options, timers };
    this.#slots = Array.from({ length: count }, (_, index) => ({
      verifier: index + 1,
      process: new VerifierProcess(),
      startedMs: timers.monotonicMs(),
      earlyExits: 0,
      state: undefined,
      ended: { processorSeconds: 0, logRecordsLost: 0 },
    }));
    for (const slot of this.#slots) this.#follow(slot);
    // A verifier can end before `start` awaits it.
    this.#started?.promise.catch(() => undefined);
    const warning = process.platform === 'linux' ? lowerPriority(priorityOfMain) : undefined;
    if (warning !== undefined) log.warn({ event: 'verifier_priority', detail: warning });
  }

  get configured(): number {
    return this.#slots.length;
  }

  /** Number of verifiers that listen. */
  get listening(): number {
    return this.#slots.filter(({ process }) => process.isListening).length;
  }

  /** The URL of the listener; undefined while another process has its socket. */
  get url(): string | undefined {
    return this.#socket?.url;
  }

  /** The last known state of each verifier, and sums over its processes. */
  get states(): readonly { readonly verifier: number; readonly state: VerifierState; readonly isListening: boolean }[] {
    return this.#slots.flatMap(({ verifier, state, ended, process }) => {
      if (!state) return [];
      const processorSeconds = state.processorSeconds + ended.processorSeconds;
      const logRecordsLost = state.logRecordsLost + ended.logRecordsLost;
      const { isListening } = process;
      return [{ verifier, state: { ...state, processorSeconds, logRecordsLost }, isListening }];
    });
  }

  /**
   * Resolves when all verifiers listen, or if another process has the socket: then it tries again until it gets the socket.
   * @throws VerifierStartError, or Error if the socket cannot be bound; the verifiers have been killed
   */
  async start(parts: VerifierPoolParts): Promise<void> {
    this.#parts = parts;
    const { pending } = parts;
    pending.keys.publish = (change) => this.#publish('keys', change);
    pending.accounts.publish = (change) => this.#publish('accounts', change);
    pending.scopes.publish = (change) => this.#publish('scopes', change);
    pending.issuers.publish = (change) => this.#publish('issuers', change);
    try {
      if (await this.#bind()) {
        for (const slot of this.#slots) this.#begin(slot);
        await this.#started?.promise;
      }
      this.#started = undefined;
      if (!this.#socket) void this.#bindLater();
      void this.#endSilent();
    } catch (error) {
      this.kill();
      throw error;
    }
  }

  /** Drains all verifiers. @returns whether all ended in time, with status 0 */
  async stop(drainSeconds: number): Promise<boolean> {
    const { timers } = this.#options;
    this.#isStopping = true;
    // The path of a unix socket ends with the handle: new connections are accepted as long as they are on a port.
    if (this.#options.address.kind === 'port') this.#closeSocket();
    else void timers.sleep(drainSeconds * 500, { isRef: false }).then(() => this.#closeSocket());
    for (const { process } of this.#slots) {
      if (process.isListening) process.send({ kind: 'stop' });
      // It has no requests.
      else process.kill();
    }
    this.#resolveIfAllEnded();
    const ms = drainMsMax(drainSeconds) + closeMsMax;
    const late = timers.sleep(ms, { isRef: false }).then(() => false);
    const isInTime = await Promise.race([this.#allEnded.promise.then(() => true), late]);
    this.kill();
    await this.#allEnded.promise;
    return isInTime && this.#isCleanStop;
  }

  /** Kills all verifiers immediately: they must not answer any more. */
  kill(): void {
    this.#isStopping = true;
    this.#closeSocket();
    for (const { process } of this.#slots) process.kill();
  }

  /** Otherwise, connections would wait in it after the last verifier has closed it. */
  #closeSocket(): void {
    this.#socket?.close();
    this.#socket = undefined;
  }

  async #bind(): Promise<boolean> {
    this.#socket = await bindShared(this.#options.address);
    return this.#socket !== undefined;
  }

  async #bindLater(): Promise<void> {
    const { log, timers, address } = this.#options;
    log.warn({ event: 'verify_socket_in_use', ...address });
    let lastReason = '';
    const bind = (): Promise<boolean> =>
      this.#bind().catch((error: unknown) => {
        const reason = String(error);
        // Not for each attempt.
        if (reason !== lastReason) log.error({ event: 'verify_socket_not_bound', ...address, err: error });
        lastReason = reason;
        return false;
      });
    while (!this.#isStopping) {
      await timers.sleep(bindEveryMs, { isRef: false });
      if (this.#isStopping || !(await bind())) continue;
      // A stop while it was bound has found no socket.
      if (this.#isStopping) return this.#closeSocket();
      for (const slot of this.#slots) this.#begin(slot);
      return;
    }
  }

  /** Kills verifiers that hang: their connections would wait, and new ones too if no other verifier accepts them. */
  async #endSilent(): Promise<void> {
    const { timers, log } = this.#options;
    while (!this.#isStopping) {
      await timers.sleep(silenceCheckEveryMs, { isRef: false });
      for (const { verifier, process } of this.#slots) {
        // At one check only: the end of a killed process arrives later.
        if (this.#isStopping || !process.isListening || process.checkSilence() !== silentChecksMax + 1) continue;
        log.error({ event: 'verifier_unresponsive', verifier, verifierPid: process.pid });
        process.kill();
      }
    }
  }

  #follow(slot: Slot): void {
    const { process } = slot;
    process.onMessage = (message) => this.#receive(slot, message);
    void process.ended.then(({ status, signal }) => this.#onEnd(slot, status, signal));
  }

  /** Passes the socket and what the verifier must know before it listens. */
  #begin({ verifier, process }: Slot): void {
    const { publicUrl, database, pending } = this.#parts as VerifierPoolParts;
    const { keys, accounts, scopes, issuers } = pending;
    const ids = { keys: keys.ids, accounts: accounts.ids, scopes: scopes.ids, issuers: issuers.ids };
    const isUnix = this.#options.address.kind === 'socket';
    const [mainPid, priority] = [globalThis.process.pid, usualPriority()];
    const known = { build: this.#build, verifier, mainPid, publicUrl, database, pending: ids, priority, isUnix };
    process.start({ kind: 'start', ...known }, (this.#socket as SharedSocket).handle);
  }

  #receive(slot: Slot, message: ToMain): void {
    const { draws, onReport, onUses } = this.#parts as VerifierPoolParts;
    const { process, verifier } = slot;
    switch (message.kind) {
      case 'listening':
        this.#options.log.info({ event: 'verifier_listening', verifier, verifierPid: process.pid });
        if (this.listening === this.#slots.length) this.#started?.resolve();
        return;
      case 'report':
        slot.state = message.report.state;
        return onReport(message.report);
      case 'uses':
        return onUses(message.uses);
      case 'draw': {
        const { id, request } = message;
        void draws.draw(request).then(
          (result) => process.send({ kind: 'drawn', id, result }),
          (error: unknown) => process.send({ kind: 'drawn', id, error: toPlain(error) }),
        );
        return;
      }
      case 'pending_known':
    }
  }

  /** Resolves when each verifier that may answer knows it. One that does not respond in time is killed. */
  async #publish(subject: PendingSubject, { id, isPending }: PendingChangeOfId<number | string>): Promise<void> {
    const sequence = ++this.#sequence;
    const { timers, log } = this.#options;
    const begun = this.#slots.filter(({ process }) => process.isBegun);
    await Promise.all(
      begun.map(async ({ verifier, process }) => {
        process.send({ kind: 'pending', sequence, subject, id, isPending });
        const late = timers.sleep(limits.verifierResponseMsMax, { isRef: false }).then(() => true);
        if (!(await Promise.race([process.knows(sequence).then(() => false), late]))) return;
        log.error({ event: 'verifier_unresponsive', verifier, verifierPid: process.pid });
        process.kill();
        await process.ended;
      }),
    );
  }

  #onEnd(slot: Slot, status: number | null, signal: string | null): void {
    const { timers, log } = this.#options;
    const { verifier, process, state, ended } = slot;
    ended.processorSeconds += state?.processorSeconds ?? 0;
    ended.logRecordsLost += state?.logRecordsLost ?? 0;
    slot.state = undefined;
    if (this.#isStopping) {
      if (process.wasListening && status !== 0) this.#isCleanStop = false;
      this.#resolveIfAllEnded();
      return;
    }
    log.error({ event: 'verifier_ended', verifier, verifierPid: process.pid, status, signal });
    if (this.#started && this.#parts) return this.#started.reject(new VerifierStartError(verifier, status || 1));
    slot.earlyExits = timers.monotonicMs() - slot.startedMs < stableMs ? slot.earlyExits + 1 : 0;
    const delayMs = slot.earlyExits === 0 ? 0 : Math.min(delayMsMax, delayMsFirst * 2 ** (slot.earlyExits - 1));
    this.replaced++;
    void timers.sleep(delayMs, { isRef: false }).then(() => this.#replace(slot));
  }

  #replace(slot: Slot): void {
    const { timers, log } = this.#options;
    if (this.#isStopping) return;
    try {
      slot.process = new VerifierProcess();
    } catch (error) {
      log.error({ event: 'verifier_ended', verifier: slot.verifier, err: error });
      void timers.sleep(delayMsMax, { isRef: false }).then(() => this.#replace(slot));
      return;
    }
    slot.startedMs = timers.monotonicMs();
    this.#follow(slot);
    if (this.#socket) this.#begin(slot);
  }

  #resolveIfAllEnded(): void {
    if (this.#slots.every(({ process }) => process.hasEnded)) this.#allEnded.resolve();
  }
}
