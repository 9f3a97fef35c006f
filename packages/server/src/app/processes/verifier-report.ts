/**
 * What a verifier has counted since its last report. The main process adds it to its own counts, so that metrics, the overview
 * and usage are sums that never fall. The counts since the last report of a killed verifier are lost.
 */
import { standardOutput } from '../../foundation/log-output.ts';
import type { Db } from '../../foundation/database/db.ts';
import type { RequestCounts, TakenCounts } from '../../http/request-counts.ts';
import type { KeyLimiter, QuotaReached } from '../../modules/key-limits/key-limits.ts';
import type { UseCollector } from '../../modules/key-usage/use-collector.ts';
import type { VerificationEndpoint } from '../../modules/verification/durations.ts';
import type { ResultCounts } from '../../modules/verification/results.ts';
import type { Verifier } from '../../modules/verification/verify.ts';
import type { Services } from '../wiring/wire.ts';

type LimiterCounts = Pick<KeyLimiter, 'draws' | 'tokens' | 'waits'>;

/** The state of the process at the report. */
export interface VerifierState {
  readonly residentBytes: number;
  /** Since the start of the process. */
  readonly processorSeconds: number;
  /** Since the last report. */
  readonly eventLoopDelayMaxMs: number;
  readonly connections: number;
  readonly waitingForDraws: number;
  /** Log records that were lost since the start of the process. */
  readonly logRecordsLost: number;
}

export interface VerifierReport {
  /** Used-up quotas, whose audit events the main process writes. */
  readonly quotas: readonly QuotaReached[];
  /** Verifications that were counted for no key, because too many rows were waiting. */
  readonly droppedUses: number;
  readonly results: ResultCounts;
  readonly durations: Readonly<Record<VerificationEndpoint, Float64Array>>;
  readonly requests: TakenCounts;
  readonly limiter: LimiterCounts;
  readonly reads: Float64Array;
  readonly failedReads: number;
  readonly state: VerifierState;
}

export interface ReportSources {
  readonly verifier: Verifier;
  readonly limiter: KeyLimiter;
  readonly requestCounts: RequestCounts;
  readonly db: Pick<Db, 'times'>;
  readonly uses: UseCollector;
  /** Those that wait for the next report. */
  readonly quotas: QuotaReached[];
}

export function takeReport(
  { verifier, limiter, requestCounts, db: { times }, uses, quotas }: ReportSources,
  { eventLoopDelayMaxMs, connections }: Pick<VerifierState, 'eventLoopDelayMaxMs' | 'connections'>,
): VerifierReport {
  const { user, system } = process.cpuUsage();
  const droppedUses = uses.dropped;
  uses.dropped = 0;
  const { failedReads } = times;
  times.failedReads = 0;
  const { forward, verify, verify_batch, introspect } = verifier.durations.byEndpoint;
  return {
    quotas: quotas.splice(0),
    droppedUses,
    results: takeCounts(verifier.counts),
    durations: {
      forward: forward.take(),
      verify: verify.take(),
      verify_batch: verify_batch.take(),
      introspect: introspect.take(),
    },
    requests: requestCounts.take(),
    limiter: {
      draws: takeCounts(limiter.draws),
      tokens: takeCounts(limiter.tokens),
      waits: takeCounts(limiter.waits),
    },
    reads: times.byOperation.read.take(),
    failedReads,
    state: {
      residentBytes: process.memoryUsage.rss(),
      processorSeconds: (user + system) / 1e6,
      eventLoopDelayMaxMs,
      connections,
      waitingForDraws: limiter.waiting,
      logRecordsLost: standardOutput.lost,
    },
  };
}

export interface ReportTargets extends Pick<Services, 'verifier' | 'limiter' | 'uses' | 'quotaNotices'> {
  readonly requestCounts: RequestCounts;
  readonly db: Pick<Db, 'times'>;
}

export function addReport(
  { verifier, limiter, uses, quotaNotices, requestCounts, db: { times } }: ReportTargets,
  report: VerifierReport,
): void {
  addCounts(verifier.counts, report.results);
  for (const [endpoint, values] of Object.entries(report.durations))
    verifier.durations.byEndpoint[endpoint as VerificationEndpoint].addAll(values);
  requestCounts.add(report.requests);
  uses.collector.dropped += report.droppedUses;
  for (const quota of report.quotas) quotaNotices.add(quota);
  addCounts(limiter.draws, report.limiter.draws);
  addCounts(limiter.tokens, report.limiter.tokens);
  addCounts(limiter.waits, report.limiter.waits);
  times.byOperation.read.addAll(report.reads);
  times.failedReads += report.failedReads;
}

function takeCounts<Counts extends Record<keyof Counts, number>>(counts: Counts): Counts {
  const taken = { ...counts };
  for (const name of Object.keys(counts) as (keyof Counts)[]) counts[name] = 0 as Counts[keyof Counts];
  return taken;
}

function addCounts<Counts extends Record<keyof Counts, number>>(counts: Counts, added: Counts): void {
  for (const name of Object.keys(added) as (keyof Counts)[])
    counts[name] = (counts[name] + added[name]) as Counts[keyof Counts];
}
