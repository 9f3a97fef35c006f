/**
 * Estimated numbers of accounts, API keys and sessions, for metrics. The cost is bounded: SQLite counts up to a million rows of
 * each table in short reads, with other work between them; PostgreSQL counts up to ten thousand, and estimates more.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { monotonicMs } from '../../foundation/clock.ts';
import type { Db } from '../../foundation/database/db.ts';
import { countNext, estimateRows, rowsPerReadMax, type CountedTable } from './estimates-store.ts';

export interface EstimatedCounts {
  readonly accounts: number;
  readonly apiKeys: number;
  /** Including those of the console. */
  readonly sessions: number;
  readonly consoleSessions: number;
}

interface Count {
  readonly rows: number;
  readonly ofConsole: number;
}

const keptMs = 60_000;
/** Of one table on SQLite. */
const readsMax = 100;

export class Estimates {
  readonly #db: Db;
  readonly #keptMs: number;
  #last: { readonly counts: Promise<EstimatedCounts>; readonly atMs: number } | undefined;

  /** @param keptMsMax for how long a result is returned again */
  constructor(db: Db, keptMsMax = keptMs) {
    this.#db = db;
    this.#keptMs = keptMsMax;
  }

  /** @throws DomainError `unavailable`; the next call reads again */
  read(): Promise<EstimatedCounts> {
    const now = monotonicMs();
    if (this.#last && now - this.#last.atMs < this.#keptMs) return this.#last.counts;
    const counts = this.#count();
    this.#last = { counts, atMs: now };
    counts.catch(() => (this.#last = undefined));
    return counts;
  }

  async #count(): Promise<EstimatedCounts> {
    const accounts = await this.#countOf('accounts', 0);
    const apiKeys = await this.#countOf('api_keys', 0);
    const sessions = await this.#countOf('sessions', '');
    return {
      accounts: accounts.rows,
      apiKeys: apiKeys.rows,
      sessions: sessions.rows,
      consoleSessions: sessions.ofConsole,
    };
  }

  async #countOf(table: CountedTable, first: number | string): Promise<Count> {
    if (this.#db.dialect === 'postgres') return this.#estimate(table, first);
    let rows = 0;
    let ofConsole = 0;
    let after = first;
    for (let reads = 0; reads < readsMax; reads++) {
      const next = await countNext(this.#db, table, after);
      rows += next.count;
      ofConsole += next.ofConsole;
      if (next.count < rowsPerReadMax || next.last === null) break;
      after = next.last;
      // Verifications run between two reads.
      await nextTurn();
    }
    return { rows, ofConsole };
  }

  /** Beyond the rows that are counted, the share of the console's sessions is that of the counted rows. */
  async #estimate(table: CountedTable, first: number | string): Promise<Count> {
    const counted = await countNext(this.#db, table, first);
    if (counted.count < rowsPerReadMax) return { rows: counted.count, ofConsole: counted.ofConsole };
    const rows = Math.max(counted.count, await estimateRows(this.#db, table));
    return { rows, ofConsole: Math.round((counted.ofConsole * rows) / counted.count) };
  }
}
