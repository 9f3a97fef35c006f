/**
 * Starts a bounded number of requests in each turn of the event loop. A request that only reads is processed within one
 * turn. Without the bound, each statement of a transaction would wait for all requests that arrived in its turn.
 *
 * Waiting requests start in the order of `fair-queue.ts`: the two classes take turns, and so do the client IP ranges in each
 * class.
 */
import { limits } from '@keyreeve/contract';
import { FairQueue } from '../foundation/database/fair-queue.ts';
import type { Share } from '../foundation/database/share.ts';

export class StartQueue {
  readonly #waiting = new FairQueue<() => void>({
    waitingMax: limits.connectionsMax,
    waitingPerOwnerMax: limits.connectionsMax,
    waitMsMax: limits.writeWaitMsMax,
  });
  readonly #perTurnMax: number;
  #turn = 0;
  #started = 0;
  #isScheduled = false;

  constructor(perTurnMax: number) {
    this.#perTurnMax = perTurnMax;
  }

  /** The number of the current turn of the event loop. Turns in which nothing read it may not count. */
  get turn(): number {
    this.#schedule();
    return this.#turn;
  }

  /** @returns whether one can start at once; if so, it counts */
  startsNow(): boolean {
    this.#schedule();
    if (this.#started >= this.#perTurnMax || this.#waiting.size > 0) return false;
    this.#started++;
    return true;
  }

  /** Resolves when the request can start. @throws DomainError `unavailable` after waiting too long */
  async wait(share: Omit<Share, 'isOneAtATime'>): Promise<void> {
    if (this.startsNow()) return;
    await new Promise<void>((resolve, reject) =>
      this.#waiting.push({ ...share, isOneAtATime: false }, resolve, reject),
    );
  }

  /** Starts waiting requests in the next turn, and in the turns after it while requests wait. */
  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#turn++;
      this.#started = 0;
      for (let start = this.#take(); start; start = this.#take()) start();
      if (this.#waiting.size > 0) this.#schedule();
    });
  }

  #take(): (() => void) | undefined {
    if (this.#started >= this.#perTurnMax) return undefined;
    const start = this.#waiting.take();
    if (start) this.#started++;
    return start;
  }
}
