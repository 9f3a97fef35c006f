/** The hashing threads of this process. A thread starts with the first digest that finds none idle. */
import { Worker } from 'node:worker_threads';
import { DomainError } from '../errors.ts';
import type { ForeignRecipe } from './foreign-hash.ts';
import type { HashingRequest, HashingResponse } from './hashing-thread.ts';

export class HashingThreads {
  readonly #onWarning: (detail: string) => void;
  readonly #threads = new Set<HashingThread>();
  readonly #idle: HashingThread[] = [];
  #hasWarned = false;
  #isClosed = false;

  /** @param onWarning receives, once, why the threads have the usual priority */
  constructor(onWarning: (detail: string) => void = () => undefined) {
    this.#onWarning = onWarning;
  }

  /** @throws DomainError `unavailable` if the thread ended before its response; the next digest gets another thread */
  async compute(recipe: ForeignRecipe, password: string): Promise<Uint8Array> {
    if (this.#isClosed) throw unavailable(new Error('the hashing threads are closed'));
    const thread = this.#idle.pop() ?? this.#start();
    const digest = await thread.compute({ recipe, password }).finally(() => {
      if (this.#threads.has(thread)) this.#idle.push(thread);
    });
    return digest;
  }

  /** Resolves when the threads have ended, which a running hash delays. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#threads].map((thread) => thread.terminate()));
  }

  #start(): HashingThread {
    const thread: HashingThread = new HashingThread({
      onWarning: (detail) => {
        if (!this.#hasWarned) this.#onWarning(detail);
        this.#hasWarned = true;
      },
      onEnd: () => {
        this.#threads.delete(thread);
        const index = this.#idle.indexOf(thread);
        if (index >= 0) this.#idle.splice(index, 1);
      },
    });
    this.#threads.add(thread);
    return thread;
  }
}

interface ThreadEvents {
  readonly onWarning: (detail: string) => void;
  readonly onEnd: () => void;
}

/** Computes one digest at a time. An idle thread does not keep the process running. */
class HashingThread {
  readonly #worker: Worker;
  #pending: PromiseWithResolvers<Uint8Array> | undefined;

  constructor({ onWarning, onEnd }: ThreadEvents) {
    this.#worker = new Worker(new URL('./hashing-thread.ts', import.meta.url), { name: 'hashing' });
    this.#worker.unref();
    this.#worker.on('message', (response: HashingResponse) => {
      if ('warning' in response) onWarning(response.warning);
      else if ('digest' in response) this.#pending?.resolve(response.digest);
      else this.#pending?.reject(new Error(response.error));
    });
    const end = (error: unknown): void => {
      onEnd();
      this.#pending?.reject(unavailable(error));
    };
    this.#worker.on('error', end);
    this.#worker.on('exit', () => end(new Error('the hashing thread has ended')));
  }

  async compute(request: HashingRequest): Promise<Uint8Array> {
    const pending = (this.#pending = Promise.withResolvers<Uint8Array>());
    this.#worker.ref();
    this.#worker.postMessage(request);
    return pending.promise.finally(() => this.#worker.unref());
  }

  async terminate(): Promise<void> {
    await this.#worker.terminate();
  }
}

const unavailable = (cause: unknown): DomainError =>
  new DomainError('unavailable', { detail: 'The password could not be checked. Retry.', cause });
