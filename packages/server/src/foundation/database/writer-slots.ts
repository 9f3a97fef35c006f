/**
 * Who uses the writing connections to PostgreSQL next. Each of the two classes leaves the other its reserved connections,
 * and an account changes something on one connection at a time: a second one would only wait for the lock on its row.
 */
import { limits } from '@keyreeve/contract';
import { FairQueue, writesWaiting } from './fair-queue.ts';
import type { Share, WorkClass } from './share.ts';

const perClassMax = limits.postgresWritersMax - limits.postgresReservedWritersMax;

export class WriterSlots {
  readonly #waiting = new FairQueue<{ readonly share: Share; readonly start: () => void }>(writesWaiting);
  readonly #running: Record<WorkClass, number> = { narrowing: 0, ordinary: 0 };
  /** Those of whom one piece of work runs at a time. */
  readonly #busy = new Set<string>();

  /** @throws DomainError `too_many_in_progress`, `unavailable`: nothing was begun then; and what `work` throws */
  async run<T>(share: Share, work: () => Promise<T>): Promise<T> {
    await new Promise<void>((resolve, reject) => {
      this.#waiting.push(share, { share, start: resolve }, reject);
      this.#startWaiting();
    });
    try {
      return await work();
    } finally {
      this.#running[share.workClass]--;
      if (share.isOneAtATime) this.#busy.delete(share.owner);
      this.#startWaiting();
    }
  }
  #startWaiting(): void {
    const mayRun = (workClass: WorkClass, owner: string): boolean =>
      this.#running[workClass] < perClassMax && !this.#busy.has(owner);
    while (this.#running.narrowing + this.#running.ordinary < limits.postgresWritersMax) {
      const next = this.#waiting.take(mayRun);
      if (!next) return;
      const { workClass, owner, isOneAtATime } = next.share;
      this.#running[workClass]++;
      if (isOneAtATime) this.#busy.add(owner);
      next.start();
    }
  }
}
