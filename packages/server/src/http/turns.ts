/** Runs a bounded number of operations at once. Further ones wait in the order of `fair-queue.ts`: their owners take turns. */
import { FairQueue, type FairQueueOptions } from '../foundation/database/fair-queue.ts';

export interface TurnsOptions extends FairQueueOptions {
  readonly runningMax: number;
}

export class Turns {
  readonly #runningMax: number;
  readonly #waiting: FairQueue<() => void>;
  #running = 0;

  constructor(options: TurnsOptions) {
    this.#runningMax = options.runningMax;
    this.#waiting = new FairQueue(options);
  }

  /** Whether no operation runs. Then none waits. */
  get isIdle(): boolean {
    return this.#running === 0;
  }

  /**
   * Resolves when the operation can run.
   * @returns to be called at its end; further calls have no effect
   * @throws DomainError `too_many_in_progress`, or `unavailable` after waiting too long
   */
  async begin(owner: string): Promise<() => void> {
    if (this.#running < this.#runningMax) this.#running++;
    else {
      const share = { workClass: 'ordinary', owner, isOneAtATime: false } as const;
      await new Promise<void>((resolve, reject) => this.#waiting.push(share, resolve, reject));
    }
    let isRunning = true;
    return () => {
      if (!isRunning) return;
      isRunning = false;
      // The next operation takes the place.
      const next = this.#waiting.take();
      if (next) next();
      else this.#running--;
    };
  }
}
