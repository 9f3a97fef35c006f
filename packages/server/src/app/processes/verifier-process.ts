/** A process that only verifies, as the main process sees it. `verifier.ts` is its program. */
import { fork, type ChildProcess, type SendHandle } from 'node:child_process';
import { processEnvironment } from '../configuration/config.ts';
import type { ToMain, ToVerifier } from './messages.ts';
import { assertSameScript } from '../../foundation/own-files.ts';
import { verifierProgram, verifierScript } from './verifier-build.ts';

export interface ProcessEnd {
  readonly status: number | null;
  readonly signal: string | null;
}

export class VerifierProcess {
  readonly ended: Promise<ProcessEnd>;
  onMessage: (message: ToMain) => void = () => undefined;
  hasEnded = false;
  isListening = false;
  wasListening = false;
  /** Whether it has what it needs to listen. */
  isBegun = false;
  /** Checks since its last message. */
  #silentChecks = 0;
  readonly #child: ChildProcess;
  /** Those that wait for an acknowledgement, by sequence. */
  readonly #waiting = new Map<number, () => void>();

  /** The process waits for {@link start}. @throws Error if another version of the program has replaced the files of this one */
  constructor() {
    assertSameScript(verifierScript);
    const child = (this.#child = fork(verifierProgram, {
      serialization: 'advanced',
      // With the settings file as this process has read it.
      env: { ...processEnvironment() },
    }));
    const ending = Promise.withResolvers<ProcessEnd>();
    // Its last messages can arrive after its exit.
    const silent = Promise.withResolvers<void>();
    const end = (status: number | null, signal: string | null): void => {
      this.isListening = false;
      this.isBegun = false;
      ending.resolve({ status, signal });
    };
    child.on('exit', end);
    child.on('disconnect', silent.resolve);
    child.on('error', () => {
      // If no process was created, there is no event `exit`.
      if (child.pid !== undefined) return;
      end(1, null);
      silent.resolve();
    });
    this.ended = silent.promise.then(() => ending.promise).finally(() => (this.hasEnded = true));
    child.on('message', (message: ToMain) => this.#receive(message));
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  start(message: Extract<ToVerifier, { kind: 'start' }>, socket: object): void {
    this.isBegun = true;
    // Without a channel, the process has ended, or the system could not create it. Errors: it may have just ended.
    if (this.#child.connected) this.#child.send(message, socket as SendHandle, () => undefined);
  }

  send(message: ToVerifier): void {
    if (this.#child.connected) this.#child.send(message, () => undefined);
  }

  /** Resolves when the process has applied the pending change with this sequence, or has ended. */
  async knows(sequence: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.set(sequence, resolve);
    await Promise.race([promise, this.ended]);
    this.#waiting.delete(sequence);
  }

  /** @returns how often it was called since the last message of the process */
  checkSilence(): number {
    return ++this.#silentChecks;
  }

  kill(): void {
    this.#child.kill('SIGKILL');
  }

  #receive(message: ToMain): void {
    this.#silentChecks = 0;
    const runs = this.#child.exitCode === null && this.#child.signalCode === null;
    if (message.kind === 'listening') this.isListening = this.wasListening = runs;
    // Messages arrive in the order in which they were sent.
    if (message.kind === 'pending_known')
      for (const [sequence, resolve] of this.#waiting) if (sequence <= message.sequence) resolve();
    this.onMessage(message);
  }
}
