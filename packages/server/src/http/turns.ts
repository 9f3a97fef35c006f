/** Runs a bounded number of operations at once. Further ones wait in the order of `fair-queue.ts`: their owners take turns. */
import { FairQueue, type FairQueueOptions } from '../foundation/database/fair-queue.ts';

export interface TurnsOptions extends FairQueueOptions {
  readonly runningMax: number;
  /** Default: no bound of its own. */
  readonly runningPerOwnerMax?: number;
}

export class Turns {
  readonly #runningMax: number;
  readonly #runningPerOwnerMax: number;
  readonly #waiting: FairQueue<() => void>;
  /** By owner. */
  readonly #running = new Map<string, number>();
  #count = 0;

  constructor({ runningMax, runningPerOwnerMax = runningMax, ...waiting }: TurnsOptions) {
    this.#runningMax = runningMax;
    this.#runningPerOwnerMax = runningPerOwnerMax;
    this.#waiting = new FairQueue(waiting);
  }

  /** Whether no operation runs. Then none waits. */
  get isIdle(): boolean {
    return this.#count === 0;
  }

  /**
   * Resolves when the operation can run.
   * @returns to be called at its end; further calls have no effect
   * @throws DomainError `too_many_in_progress`, or `unavailable` after waiting too long
   */
  async begin(owner: string): Promise<() => void> {
    if (this.#count < this.#runningMax && this.#mayRun(owner)) this.#change(owner, 1);
    else {
      const share = { workClass: 'ordinary', owner, isOneAtATime: false } as const;
      await new Promise<void>((resolve, reject) => {
        const start = (): void => {
          this.#change(owner, 1);
          resolve();
        };
        this.#waiting.push(share, start, reject);
      });
    }
    let isRunning = true;
    return () => {
      if (!isRunning) return;
      isRunning = false;
      this.#change(owner, -1);
      this.#startNext();
    };
  }

  #startNext(): void {
    while (this.#count < this.#runningMax) {
      const start = this.#waiting.take((_, owner) => this.#mayRun(owner));
      if (!start) return;
      start();
    }
  }

  #mayRun(owner: string): boolean {
    return (this.#running.get(owner) ?? 0) < this.#runningPerOwnerMax;
  }

  #change(owner: string, difference: 1 | -1): void {
    const count = (this.#running.get(owner) ?? 0) + difference;
    if (count > 0) this.#running.set(owner, count);
    else this.#running.delete(owner);
    this.#count += difference;
  }
}
