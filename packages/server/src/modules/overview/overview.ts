/** The overview of administrators: what the processes did in the last hour, and what needs attention. */
import { limits, type AuditPage, type Overview as Shown } from '@keyreeve/contract';
import type { Core } from '../../foundation/core.ts';
import { toInstant } from '../../foundation/clock.ts';
import { databaseBoundsMs, quantileMs, sumOfCounts, verificationBoundsMs } from '../../foundation/latency-histogram.ts';
import type { PasswordHasher } from '../../foundation/crypto/password.ts';
import type { Outbox } from '../outbox/outbox.ts';
import { isRunning, type Attention } from './attention.ts';
import { minuteMs, type ByResult, type MinuteCounts } from './minutes.ts';
import { listInstances, listMinutes } from './store.ts';

export interface OverviewOptions extends Core {
  readonly outbox: Outbox;
  readonly attention: Pick<Attention, 'list'>;
  readonly hasher: Pick<PasswordHasher, 'stats'>;
  /** The newest events of the audit log. */
  readonly newestEvents: (limit: number) => Promise<AuditPage['events']>;
}

const minutesShown = 60;
/** The quantiles are of these last minutes. */
const latencyMinutes = 5;
const instancesMax = 100;

export class Overview {
  readonly #options: OverviewOptions;

  constructor(options: OverviewOptions) {
    this.#options = options;
  }

  /** @throws DomainError `unavailable` */
  async read(): Promise<Shown> {
    const { db, clock, outbox, hasher, newestEvents, attention } = this.#options;
    const now = clock.now();
    const end = now - (now % minuteMs);
    const rows = await listMinutes(db, end - minutesShown * minuteMs);
    const instances = await listInstances(db, instancesMax);
    const byMinute = Map.groupBy(
      rows.map(({ minute, counts }) => ({ minute, counts: JSON.parse(counts) as MinuteCounts })),
      ({ minute }) => minute,
    );
    const starts = Array.from({ length: minutesShown }, (_, index) => end - (minutesShown - index) * minuteMs);
    const minutes = starts.map((at) => ({ at, counts: (byMinute.get(at) ?? []).map(({ counts }) => counts) }));
    const last = minutes.slice(-latencyMinutes).flatMap(({ counts }) => counts);
    const { running, waiting } = hasher.stats;
    return {
      now: toInstant(now),
      instances: instances.map((instance) => ({
        id: instance.id,
        version: instance.version,
        startedAt: toInstant(instance.startedAt),
        seenAt: toInstant(instance.seenAt),
        isRunning: isRunning(instance, now),
      })),
      minutes: minutes.map(({ at, counts }) => ({
        at: toInstant(at),
        results: sumOf(counts.map(({ results }) => results)),
        signIns: sumOf(counts.map(({ signIns }) => signIns)),
      })),
      verificationMs: quantiles(
        last.map(({ verificationMs }) => verificationMs),
        verificationBoundsMs,
      ),
      databaseMs: quantiles(
        last.map(({ databaseMs }) => databaseMs),
        databaseBoundsMs,
      ),
      hashing: {
        running,
        waiting,
        results: sumOf(minutes.flatMap(({ counts }) => counts.map(({ hashes }) => hashes))),
      },
      outbox: (await outbox.waiting()).map(({ kind, count, oldestMs }) => ({
        kind,
        waiting: count,
        oldestSeconds: Math.max(0, Math.round(oldestMs / 1_000)),
      })),
      events: await newestEvents(limits.overviewEventsMax),
      attention: await attention.list(instances),
    };
  }
}

function sumOf(parts: readonly ByResult[]): { result: string; count: number }[] {
  const sums = new Map<string, number>();
  for (const part of parts)
    for (const [result, count] of Object.entries(part)) sums.set(result, (sums.get(result) ?? 0) + count);
  return [...sums].map(([result, count]) => ({ result, count })).toSorted((a, b) => (a.result < b.result ? -1 : 1));
}

function quantiles(
  histograms: readonly (readonly number[])[],
  boundsMs: readonly number[],
): { p50: number | null; p99: number | null } {
  const sums = sumOfCounts(histograms);
  return { p50: quantileMs(sums, boundsMs, 0.5), p99: quantileMs(sums, boundsMs, 0.99) };
}
