/**
 * Slots of the writing connections to PostgreSQL. Each class leaves the other its reserved connections. An account uses one
 * connection at a time: a second one would only wait for the lock on the account's row. Draws have connections of their own.
 */
import { limits } from '@keyreeve/contract/limits';
import type { DatabaseWaits } from './database-waits.ts';
import { FairQueue, writesWaiting } from './fair-queue.ts';
import type { Share, WorkClass } from './share.ts';

const perClassMax = limits.postgresWritersMax - limits.postgresReservedWritersMax;
const runningMax: Readonly<Record<WorkClass, number>> = {
  narrowing: perClassMax,
  draw: limits.drawsInProgressMax,
  ordinary: perClassMax,
};
/** The connections of all classes. */
export const writersMax = limits.postgresWritersMax + limits.drawsInProgressMax;

export class WriterSlots {
  readonly #waiting: FairQueue<{ readonly share: Share; readonly start: () => void }>;
  readonly #running: Record<WorkClass, number> = { narrowing: 0, draw: 0, ordinary: 0 };
  /** Owners with a running operation that allows no second one. */
  readonly #busy = new Set<string>();

  constructor(waits: DatabaseWaits) {
    this.#waiting = new FairQueue(writesWaiting(waits));
  }

  /** @throws DomainError `too_many_in_progress` or `unavailable` before `operation` begins, and its own errors */
  async run<T>(share: Share, operation: () => Promise<T>): Promise<T> {
    await new Promise<void>((resolve, reject) => {
      this.#waiting.push(share, { share, start: resolve }, reject);
      this.#startWaiting();
    });
    try {
      return await operation();
    } finally {
      this.#running[share.workClass]--;
      if (share.isOneAtATime) this.#busy.delete(share.owner);
      this.#startWaiting();
    }
  }

  #startWaiting(): void {
    const mayRun = (workClass: WorkClass, owner: string): boolean =>
      this.#running[workClass] < runningMax[workClass] &&
      (workClass === 'draw' || this.#running.narrowing + this.#running.ordinary < limits.postgresWritersMax) &&
      !this.#busy.has(owner);
    for (let next = this.#waiting.take(mayRun); next; next = this.#waiting.take(mayRun)) {
      const { workClass, owner, isOneAtATime } = next.share;
      this.#running[workClass]++;
      if (isOneAtATime) this.#busy.add(owner);
      next.start();
    }
  }
}
