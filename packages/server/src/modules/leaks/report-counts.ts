/**
 * Counts reports of clients without a credential, in memory: a report that matches no key writes nothing. Each process counts
 * for itself. Counts start again an hour after the first report.
 */
import { limits } from '@keyreeve/contract';
import type { Clock } from '../../foundation/clock.ts';
import { DomainError } from '../../foundation/errors.ts';
import { coarseRange, ipRange } from '../../foundation/ip-address.ts';

const windowSeconds = 3_600;
const windowMs = windowSeconds * 1_000;

interface Counter {
  count: number;
  readonly startedAt: number;
}

export class ReportCounts {
  readonly #clock: Clock;
  readonly #rangesMax: number;
  /** By client IP range, the oldest window first. */
  readonly #counters = new Map<string, Counter>();

  /** @param rangesMax beyond it, the count with the oldest window is dropped */
  constructor(clock: Clock, rangesMax: number = limits.leakReportRangesMax) {
    this.#clock = clock;
    this.#rangesMax = rangesMax;
  }

  /** Counts a report. A rejected report is not counted. @throws DomainError `too_many_requests` */
  count(clientIp: string): void {
    const now = this.#clock.now();
    const { leakReportsPerHourMax, leakReportsPerNetworkMax } = limits;
    const bounds = [
      [`range ${ipRange(clientIp)}`, leakReportsPerHourMax],
      [`network ${coarseRange(clientIp) ?? ''}`, leakReportsPerNetworkMax],
    ] as const;
    for (const [range, max] of bounds) {
      const counter = this.#counters.get(range);
      if (!counter || counter.count < max || hasEnded(counter, now)) continue;
      throw new DomainError('too_many_requests', {
        retryAfterSeconds: Math.max(1, Math.ceil((counter.startedAt + windowMs - now) / 1_000)),
        rate: { policy: 'leak reports', quota: max, windowSeconds },
      });
    }
    for (const [range] of bounds) this.#increment(range, now);
  }

  #increment(range: string, now: number): void {
    const counter = this.#counters.get(range);
    if (counter && !hasEnded(counter, now)) {
      counter.count++;
      return;
    }
    this.#counters.delete(range);
    this.#counters.set(range, { count: 1, startedAt: now });
    for (const oldest of this.#counters.keys()) {
      if (this.#counters.size <= this.#rangesMax) break;
      this.#counters.delete(oldest);
    }
  }
}

const hasEnded = ({ startedAt }: Counter, now: number): boolean => now >= startedAt + windowMs;
