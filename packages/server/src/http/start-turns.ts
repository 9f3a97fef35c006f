/**
 * Starts a bounded number of requests in each turn of the event loop. A request that changes nothing is processed within one
 * turn; a thousand of them in one turn would make each statement of all transactions wait for all of them.
 *
 * Requests that wait start in the order of `db/fair-queue.ts`: the two classes in turn, and the callers of each in turn.
 */
import { limits } from '@keyreeve/contract';
import { FairQueue } from '../foundation/database/fair-queue.ts';
import type { Share } from '../foundation/database/share.ts';

export class StartTurns {
  readonly #waiting = new FairQueue<() => void>({
    waitingMax: limits.connectionsMax,
    waitingPerOwnerMax: limits.connectionsMax,
    waitMsMax: limits.writeWaitMsMax,
  });
  #started = 0;
  #isScheduled = false;

  /** @throws DomainError `unavailable` when it waited too long */
  async next(share: Omit<Share, 'isOneAtATime'>): Promise<void> {
    this.#schedule();
    if (this.#started < limits.requestStartsPerTurnMax && this.#waiting.size === 0) {
      this.#started++;
      return;
    }
    await new Promise<void>((resolve, reject) =>
      this.#waiting.push({ ...share, isOneAtATime: false }, resolve, reject),
    );
  }

  /** In the next turn, as long as requests have started in this one. */
  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#started = 0;
      for (let start = this.#take(); start; start = this.#take()) start();
      if (this.#waiting.size > 0) this.#schedule();
    });
  }

  #take(): (() => void) | undefined {
    if (this.#started >= limits.requestStartsPerTurnMax) return undefined;
    const start = this.#waiting.take();
    if (start) this.#started++;
    return start;
  }
}
