/** Reports of clients without a credential: bounds, and who reports. */
import { limits } from '@keyreeve/contract';
import type { Clock } from '../../foundation/clock.ts';
import { tooMany } from '../../foundation/database/fair-queue.ts';
import { coarseRange, ipRange } from '../../foundation/ip-address.ts';
import type { Leaks } from './leaks.ts';
import { ReportCounts } from './report-counts.ts';

export interface LeakReportsOptions {
  readonly leaks: Leaks;
  readonly clock: Clock;
  /** False only in measurements and race tests. */
  readonly isLimited: boolean;
}

export class LeakReports {
  readonly #options: LeakReportsOptions;
  readonly #counts: ReportCounts;
  /** Client IP ranges with a report in progress. */
  readonly #inProgress = new Set<string>();

  constructor(options: LeakReportsOptions) {
    this.#options = options;
    this.#counts = new ReportCounts(options.clock);
  }

  /**
   * Ends the secrets among the texts. The result does not depend on them.
   * @throws DomainError `too_many_in_progress`, `too_many_requests`, `unavailable`
   */
  async report(clientIp: string, texts: readonly string[]): Promise<void> {
    const { leaks, isLimited } = this.#options;
    const range = ipRange(clientIp);
    if (this.#inProgress.has(range) || this.#inProgress.size >= limits.leakReportsInProgressMax) throw tooMany();
    this.#inProgress.add(range);
    try {
      if (isLimited) this.#counts.count(clientIp);
      await leaks.report(
        { kind: 'possessor', from: coarseRange(clientIp) },
        texts.map((text) => ({ text })),
      );
    } finally {
      this.#inProgress.delete(range);
    }
  }
}
