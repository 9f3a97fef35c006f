/**
 * The coalescing reader: lookups that arrive together share a database read. It keeps no result.
 *
 * A lookup joins the next read: its result comes from a statement that was sent after the lookup arrived. So a verification
 * sees every deletion that was acknowledged before it began: the deletion was committed before the acknowledgement, and the
 * statement's snapshot is taken later.
 */
import { limits } from '@keyreeve/contract/limits';
import { isTraced, startShared, type Span } from '../tracing.ts';
import type { SharedReads } from './db.ts';
import { unavailable } from './unavailable.ts';

interface Waiting<Lookup, Row> {
  readonly lookup: Lookup;
  readonly onRow: (row: Row | undefined) => void;
  readonly onError: (error: unknown) => void;
  readonly span: Span | undefined;
}

export type ReadMany<Lookup, Row> = (lookups: readonly Lookup[]) => Promise<readonly (Row | undefined)[]>;

export class CoalescingReader<Lookup, Row> {
  readonly #readMany: ReadMany<Lookup, Row>;
  readonly #concurrentReadsMax: number;
  readonly #immediateBatchSize: number;
  #waiting: Waiting<Lookup, Row>[] = [];
  #readsInProgress = 0;
  #isScheduled = false;
  #isCollecting = false;

  constructor(readMany: ReadMany<Lookup, Row>, { concurrentReadsMax, immediateBatchSize }: SharedReads) {
    this.#readMany = readMany;
    this.#concurrentReadsMax = concurrentReadsMax;
    this.#immediateBatchSize = immediateBatchSize;
  }

  /**
   * Calls one of the callbacks once. Promises would add a tenth to the time of this hot path.
   * @param span of a recorded verification
   */
  find(lookup: Lookup, onRow: (row: Row | undefined) => void, onError: (error: unknown) => void, span?: Span): void {
    if (this.#waiting.length >= limits.lookupsWaitingMax) return onError(unavailable(new Error('too many reads wait')));
    this.#waiting.push({ lookup, onRow, onError, span });
    if (!this.#isCollecting) this.#readOrSchedule();
  }

  /** The lookups that `start` makes before it returns share one read, up to `limits.lookupBatchMax`. */
  together<T>(start: () => T): T {
    const isNested = this.#isCollecting;
    this.#isCollecting = true;
    try {
      return start();
    } finally {
      this.#isCollecting = isNested;
      if (!isNested && this.#waiting.length > 0) this.#readOrSchedule();
    }
  }

  /** {@link find} as a promise. */
  read(lookup: Lookup): Promise<Row | undefined> {
    return new Promise((resolve, reject) => this.find(lookup, resolve, reject));
  }

  #readOrSchedule(): void {
    const mayRead = this.#readsInProgress < this.#concurrentReadsMax;
    if (this.#waiting.length >= this.#immediateBatchSize && mayRead) void this.#readNext();
    else this.#schedule();
  }

  /** Reads at the end of this turn of the event loop, when all lookups of the turn have joined. */
  #schedule(): void {
    if (this.#isScheduled || this.#readsInProgress >= this.#concurrentReadsMax) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      if (this.#waiting.length > 0 && this.#readsInProgress < this.#concurrentReadsMax) void this.#readNext();
    });
  }

  async #readNext(): Promise<void> {
    const batch = this.#waiting.slice(0, limits.lookupBatchMax);
    this.#waiting = this.#waiting.slice(limits.lookupBatchMax);
    this.#readsInProgress++;
    if (this.#waiting.length > 0) this.#schedule();
    const spans = isTraced() ? batch.map(({ span }) => span) : [];
    const read = startShared('db.read', spans);
    try {
      const rows = await this.#readMany(batch.map(({ lookup }) => lookup));
      read?.end();
      for (const [index, waiting] of batch.entries()) deliver(waiting, rows[index]);
    } catch (error) {
      read?.fail().end();
      // The waiting lookups fail too: they have waited for this read, and the next read would probably fail as slowly.
      for (const { onError } of [...batch, ...this.#waiting.splice(0)]) onError(error);
    } finally {
      this.#readsInProgress--;
      if (this.#waiting.length > 0) this.#schedule();
    }
  }
}

/** An error in one callback affects only its lookup. */
function deliver<Row>({ onRow, onError }: Waiting<unknown, Row>, row: Row | undefined): void {
  try {
    onRow(row);
  } catch (error) {
    onError(error);
  }
}
