/**
 * Writes what `use-collector.ts` has collected: to the tables of usage and of last uses, in few and large commits. It is the only
 * writer of both, except for the housekeeping.
 */
import { allInOrder } from '../../foundation/all-in-order.ts';
import { CoalescedCall } from '../../foundation/database/coalesced-call.ts';
import type { Db } from '../../foundation/database/db.ts';
import { isOutcomeUnknown } from '../../foundation/database/unavailable.ts';
import { writeUsesTx } from '../api-keys/use-store.ts';
import { addHoursTx } from './store.ts';
import type { CollectedUse, UseCollector } from './use-collector.ts';

/** Verifications since the start, for metrics. */
export interface RecordedVerifications {
  /** Added to the table. */
  readonly written: number;
  /** Counted for no key, because too many rows were waiting. */
  readonly dropped: number;
  /** The commit has an unknown outcome. They are not written again, so no verification is counted twice. */
  readonly unknown: number;
}

/** A longer transaction would keep its locks on PostgreSQL, and would make the write-ahead log of SQLite larger. */
const rowsPerCommitMax = 20_000;

export class UseRecords {
  /** Of this process. */
  readonly collector: UseCollector;
  readonly #db: Pick<Db, 'usage'>;
  readonly #isCounting: boolean;
  readonly #totals = { written: 0, unknown: 0 };
  /** A flush that began earlier may have taken its rows before the last verifications, so a caller waits for the next one. */
  readonly #flush = new CoalescedCall(() => this.#write());

  /** @param isCounting whether usage is kept; times of last use are always */
  constructor(db: Pick<Db, 'usage'>, collector: UseCollector, isCounting: boolean) {
    this.#db = db;
    this.collector = collector;
    this.#isCounting = isCounting;
    // The flush of the next interval reports a failure.
    collector.onDue = () => void this.flush().catch(() => undefined);
  }

  get totals(): RecordedVerifications {
    return { ...this.#totals, dropped: this.collector.dropped };
  }

  /** Rows that wait for a flush, or for the end of the flush in progress. */
  get rows(): number {
    return this.collector.rows;
  }

  /** What the verifications of another process have shown. The next flush writes it. */
  add(uses: readonly CollectedUse[]): void {
    this.collector.add(uses);
  }

  /**
   * Writes everything that was collected before the call. After an error, what is certainly not committed waits for the next
   * flush, and so do times of last use in any case: writing one again has no effect.
   * @throws the first error of the database
   */
  flush(): Promise<void> {
    return this.#flush.call();
  }

  async #write(): Promise<void> {
    const hours = this.collector.take();
    for (const [index, parts] of hours.entries()) {
      for (;;) {
        const batch: CollectedUse[][] = [];
        try {
          await this.#commit(parts, batch);
        } catch (error) {
          this.#putBack(batch.flat(), isOutcomeUnknown(error));
          for (const rest of hours.slice(index)) this.#putBack([...rest].flat(), false);
          throw error;
        }
        if (batch.length === 0) break;
        this.#finish(batch.flat(), 'written');
      }
    }
  }

  /** Writes some parts in one transaction. @param batch receives them */
  async #commit(parts: Iterator<CollectedUse[]>, batch: CollectedUse[][]): Promise<void> {
    let rows = 0;
    const takesPart = (): boolean => {
      const next = rows < rowsPerCommitMax ? parts.next() : undefined;
      if (!next || next.done) return false;
      batch.push(next.value);
      rows += next.value.length;
      return true;
    };
    if (!takesPart()) return;
    // It may run again after a conflict, with the parts that it has taken. A part is computed while the one before it is written.
    await this.#db.usage.transaction(async (tx) => {
      for (let index = 0; index < batch.length || takesPart(); index++) {
        const json = JSON.stringify(batch[index]);
        await allInOrder([this.#isCounting && addHoursTx(tx, json), writeUsesTx(tx, json)]);
      }
    });
  }

  #finish(uses: readonly CollectedUse[], result: 'written' | 'unknown'): void {
    this.collector.release(uses.length);
    if (this.#isCounting) for (const { accepted, refused } of uses) this.#totals[result] += accepted + refused;
  }

  /** They keep their places, so there is always room. Of an unknown outcome, only times are put back. */
  #putBack(uses: readonly CollectedUse[], isUnknown: boolean): void {
    if (isUnknown) this.#finish(uses, 'unknown');
    else this.collector.release(uses.length);
    const times = (): CollectedUse[] =>
      uses.filter(({ usedAt }) => usedAt !== null).map((use) => ({ ...use, accepted: 0, refused: 0 }));
    this.collector.putBack(isUnknown ? times() : uses);
  }
}
