/** Reports of clients without a credential: bounds, and the client IP range of the reporter. */
import { limits } from '@keyreeve/contract';
import type { Clock } from '../../foundation/clock.ts';
import { tooMany } from '../../foundation/database/fair-queue.ts';
import { coarseRange, ipRange } from '../../foundation/ip-address.ts';
import type { Leaks } from './leaks.ts';
import { ReportCounts } from './report-counts.ts';

export class LeakReports {
  readonly #leaks: Leaks;
  /** Undefined only in measurements and race tests. */
  readonly #counts: ReportCounts | undefined;
  /** Client IP ranges with a report in progress. */
  readonly #inProgress = new Set<string>();

  constructor(leaks: Leaks, clock: Clock, isLimited: boolean) {
    this.#leaks = leaks;
    this.#counts = isLimited ? new ReportCounts(clock) : undefined;
  }

  /**
   * Ends the secrets among the texts. The result does not depend on them.
   * @throws DomainError `too_many_in_progress`, `too_many_requests`, `unavailable`
   */
  async report(clientIp: string, texts: readonly string[]): Promise<void> {
    const range = ipRange(clientIp);
    if (this.#inProgress.has(range) || this.#inProgress.size >= limits.leakReportsInProgressMax) throw tooMany();
    this.#inProgress.add(range);
    try {
      this.#counts?.count(clientIp);
      await this.#leaks.report(
        { kind: 'possessor', from: coarseRange(clientIp) },
        texts.map((text) => ({ text })),
      );
    } finally {
      this.#inProgress.delete(range);
    }
  }
}
