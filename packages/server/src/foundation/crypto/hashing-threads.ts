/**
 * The hashing threads of this process. A thread starts with the first digest that finds none idle, the first one at the start
 * of a service, and takes 15 MiB. The memory
 * of a hash, 46 MiB, is mapped and cleared for each one: no setting of the library's allocator keeps it.
 */
import { Worker } from 'node:worker_threads';
import { DomainError } from '../errors.ts';
import { usualPriority } from '../priority.ts';
import type { ForeignRecipe } from './foreign-hash.ts';
import type { Digest, HashingRequest, HashingResponse } from './hashing-thread.ts';
import { assertSameScript, ownScript } from '../own-files.ts';

const program = 'foundation/crypto/hashing-thread';

export class HashingThreads {
  readonly #threadsMax: number;
  readonly #onWarning: (detail: string) => void;
  readonly #threads = new Set<HashingThread>();
  #hasWarned = false;
  #isClosed = false;

  /** @param onWarning receives, once, the reason why the threads have the usual priority */
  constructor(threadsMax: number, onWarning: (detail: string) => void = () => undefined) {
    this.#threadsMax = threadsMax;
    this.#onWarning = onWarning;
  }

  /**
   * A thread computes its digests one after another. A digest that waits in the thread starts without a further message.
   * @param padding hashes that are computed after it, and whose results are discarded
   * @throws DomainError `unavailable` if the thread ended before its response; later digests get another thread
   */
  async compute(
    recipe: ForeignRecipe,
    password: string | Uint8Array,
    padding: readonly ForeignRecipe[] = [],
  ): Promise<Digest> {
    if (this.#isClosed) throw unavailable(new Error('the hashing threads are closed'));
    const [least] = [...this.#threads].toSorted((one, other) => one.pending - other.pending);
    const isUsed = least && (least.pending === 0 || this.#threads.size >= this.#threadsMax);
    return (isUsed ? least : this.#startOr(least)).compute(recipe, password, padding);
  }

  /** Starts the first thread: after an upgrade in place, none can start. @throws Error if it cannot start */
  prepare(): void {
    if (this.#threads.size === 0) this.#start();
  }

  #startOr(other: HashingThread | undefined): HashingThread {
    try {
      return this.#start();
    } catch (error) {
      if (other) return other;
      throw unavailable(error);
    }
  }

  /** Resolves when the threads have ended, which a running hash delays. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#threads].map((thread) => thread.terminate()));
  }

  /** @throws Error if another version of the program has replaced the files of this one */
  #start(): HashingThread {
    assertSameScript(program);
    const thread: HashingThread = new HashingThread({
      onWarning: (detail) => {
        if (!this.#hasWarned) this.#onWarning(detail);
        this.#hasWarned = true;
      },
      onEnd: () => this.#threads.delete(thread),
    });
    this.#threads.add(thread);
    return thread;
  }
}

interface ThreadEvents {
  readonly onWarning: (detail: string) => void;
  readonly onEnd: () => void;
}

/** An idle thread does not keep the process running. */
class HashingThread {
  readonly #worker: Worker;
  /** By the id of the request. */
  readonly #pending = new Map<number, PromiseWithResolvers<Digest>>();
  #lastId = 0;

  constructor({ onWarning, onEnd }: ThreadEvents) {
    const workerData = { usualPriority: usualPriority() };
    this.#worker = new Worker(ownScript(program), { name: 'hashing', workerData });
    this.#worker.unref();
    this.#worker.on('message', (response: HashingResponse) => {
      if ('warning' in response) return onWarning(response.warning);
      const pending = this.#pending.get(response.id);
      this.#pending.delete(response.id);
      if (this.#pending.size === 0) this.#worker.unref();
      if ('error' in response) pending?.reject(new Error(response.error));
      else pending?.resolve(response);
    });
    const end = (error: unknown): void => {
      onEnd();
      for (const { reject } of this.#pending.values()) reject(unavailable(error));
      this.#pending.clear();
    };
    this.#worker.on('error', end);
    // A message was lost.
    this.#worker.on('messageerror', (error) => {
      end(error);
      void this.terminate();
    });
    this.#worker.on('exit', () => end(new Error('the hashing thread has ended')));
  }

  get pending(): number {
    return this.#pending.size;
  }

  compute(recipe: ForeignRecipe, password: string | Uint8Array, padding: readonly ForeignRecipe[]): Promise<Digest> {
    const pending = Promise.withResolvers<Digest>();
    const id = ++this.#lastId;
    // A Buffer can be a part of a larger one, which would be copied as a whole, with the data of other requests.
    const salt = new Uint8Array(recipe.salt);
    const copy = password instanceof Uint8Array ? new Uint8Array(password) : password;
    this.#worker.postMessage({ id, recipe: { ...recipe, salt }, password: copy, padding } satisfies HashingRequest);
    this.#pending.set(id, pending);
    this.#worker.ref();
    return pending.promise;
  }

  async terminate(): Promise<void> {
    await this.#worker.terminate();
  }
}

const unavailable = (cause: unknown): DomainError =>
  new DomainError('unavailable', { detail: 'The password could not be checked. Retry.', cause });
