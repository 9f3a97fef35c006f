/** Metrics for Prometheus. The hot path only increments numbers, which are collected at each scrape. */
import { Registry } from '@prometheus-io/client';
import { refusals } from '@keyreeve/contract';
import type { Core } from '../../foundation/core.ts';
import type { RequestCounts } from '../../http/request-counts.ts';
import type { UseRecords } from '../../modules/key-usage/use-records.ts';
import { jobKinds } from '../../modules/outbox/job.ts';
import type { Services } from '../wiring/wire.ts';
import { collectDatabase } from './database-metrics.ts';
import type { Health } from '../processes/health.ts';
import { collectGrowth, type GrowthSources } from './growth-metrics.ts';
import { collectInstance } from './instance-metrics.ts';
import { addCounter, addGauge, addHistogram, by } from './metric-kinds.ts';
import { collectProcessMetrics } from './process-metrics.ts';
import { collectStored } from './stored-metrics.ts';
import type { VerifierPool } from '../processes/verifier-pool.ts';
import { collectVerifiers } from './verifier-metrics.ts';

export interface MetricsSources extends Services, Core, GrowthSources {
  readonly requestCounts: RequestCounts;
  readonly health: Pick<Health, 'check'>;
  /** Undefined without processes that only verify. */
  readonly verifiers: VerifierPool | undefined;
}

export interface MetricDescription {
  readonly name: string;
  readonly help: string;
  readonly labelNames?: readonly string[];
}

export class Metrics {
  readonly contentType: string;
  readonly #registry = new Registry();

  constructor(sources: MetricsSources) {
    const registry = this.#registry;
    const { db, uses, journal, verifiers } = sources;
    collectProcessMetrics(registry);
    collectInstance(registry, db.dialect, sources.health);
    collectVerifications(registry, sources);
    collectRequests(registry, sources.requestCounts);
    collectSignIns(registry, sources);
    collectApprovals(registry, sources);
    collectExchanges(registry, sources);
    collectUsage(registry, uses);
    collectLimits(registry, sources.limiter);
    collectOutbox(registry, sources);
    collectDatabase(registry, db);
    addGauge(registry, {
      name: 'keyreeve_database_writes',
      help: '1 while commits succeed',
      read: () => [{ value: db.writes.isHealthy ? 1 : 0 }],
    });
    if (journal)
      addGauge(registry, {
        name: 'keyreeve_deletion_journal_lag_seconds',
        help: 'Time for which the deletion journal has lacked entries',
        read: () => [{ value: journal.lagMs / 1_000 }],
      });
    if (verifiers) collectVerifiers(registry, verifiers);
    collectStored(registry, sources);
    collectGrowth(registry, sources);
    this.contentType = registry.contentType;
  }

  /** Reads no values. */
  get descriptions(): MetricDescription[] {
    return this.#registry.getMetricsAsArray();
  }

  text(): Promise<string> {
    return this.#registry.metrics();
  }
}

function collectVerifications(registry: Registry, { verifier: { counts, durations } }: MetricsSources): void {
  addCounter(registry, {
    name: 'keyreeve_verifications_total',
    help: 'Verifications, by code of the refusal or type of the credential',
    labelNames: ['outcome', 'reason'],
    read: () =>
      Object.entries(counts).map(([reason, value]) => ({
        labels: { outcome: reason in refusals ? 'refused' : 'accepted', reason },
        value,
      })),
  });
  addHistogram(registry, {
    name: 'keyreeve_verification_duration_seconds',
    help: 'Duration of a verification or batch from the complete request',
    read: () =>
      Object.entries(durations.byEndpoint).map(([endpoint, histogram]) => ({
        labels: { endpoint },
        durations: histogram,
      })),
  });
}

function collectRequests(registry: Registry, requests: RequestCounts): void {
  addCounter(registry, {
    name: 'keyreeve_http_requests_total',
    help: 'Responses by route, method and status',
    labelNames: ['route', 'method', 'code'],
    *read() {
      for (const { route, method, status, count: value } of requests.counts)
        yield { labels: { route, method, code: String(status) }, value };
    },
  });
  addHistogram(registry, {
    name: 'keyreeve_http_request_duration_seconds',
    help: 'Duration of a request, except /auth/forward',
    *read() {
      for (const { route, method, durations } of requests.durations) yield { labels: { route, method }, durations };
    },
  });
  addCounter(registry, {
    name: 'keyreeve_rate_limited_requests_total',
    help: 'Requests that a limit rejected, by problem code',
    labelNames: ['kind'],
    read: () => by('kind', Object.fromEntries(requests.limited)),
  });
}

function collectSignIns(registry: Registry, { signIns, tokenPairs, hasher }: MetricsSources): void {
  const labelNames = ['result'];
  addCounter(registry, {
    name: 'keyreeve_sign_ins_total',
    help: 'Sign-ins, by result',
    labelNames,
    read: () => by('result', { ...signIns.counts }),
  });
  addCounter(registry, {
    name: 'keyreeve_refreshes_total',
    help: 'Refresh tokens presented, by result',
    labelNames,
    read: () => by('result', { ...tokenPairs.refreshes }),
  });
  addCounter(registry, {
    name: 'keyreeve_password_hashes_total',
    help: 'Password hashes, computed or refused',
    labelNames,
    read: () => by('result', { hashed: hasher.stats.hashed, refused: hasher.stats.refused }),
  });
  const of = (name: string, help: string, read: () => number): void =>
    addGauge(registry, { name, help, read: () => [{ value: read() }] });
  of('keyreeve_password_hashes_running', 'Password hashes in progress', () => hasher.stats.running);
  of('keyreeve_password_hashes_waiting', 'Password hashes in the queue', () => hasher.stats.waiting);
}

function collectApprovals(registry: Registry, { approvals }: MetricsSources): void {
  addCounter(registry, {
    name: 'keyreeve_device_requests_total',
    help: 'Requests of programs on devices, by what happened',
    labelNames: ['result'],
    read: () => by('result', { ...approvals.counts }),
  });
}

function collectExchanges(registry: Registry, { exchangeResults, identityTokens, keySets }: MetricsSources): void {
  const labelNames = ['result'];
  addCounter(registry, {
    name: 'keyreeve_exchanges_total',
    help: 'Exchanges for short-lived secrets, by grant and result',
    labelNames: ['grant', ...labelNames],
    *read() {
      for (const [grant, counts] of Object.entries(exchangeResults.counts))
        for (const [result, value] of Object.entries(counts)) yield { labels: { grant, result }, value };
    },
  });
  addCounter(registry, {
    name: 'keyreeve_identity_token_signatures_total',
    help: 'Verified signatures of identity tokens',
    labelNames,
    read: () => by('result', identityTokens.counts),
  });
  addCounter(registry, {
    name: 'keyreeve_issuer_key_set_fetches_total',
    help: 'Fetches of the JWK sets of issuers',
    labelNames,
    read: () => by('result', keySets.counts),
  });
}

function collectUsage(registry: Registry, usage: UseRecords): void {
  addCounter(registry, {
    name: 'keyreeve_key_usage_total',
    help: 'Verifications in the usage of keys',
    labelNames: ['result'],
    read: () => by('result', { ...usage.totals }),
  });
  addGauge(registry, {
    name: 'keyreeve_key_usage_waiting',
    help: 'Keys per hour whose counts and last use wait to be written',
    read: () => [{ value: usage.rows }],
  });
}

function collectLimits(registry: Registry, limiter: MetricsSources['limiter']): void {
  const labelNames = ['result'];
  addCounter(registry, {
    name: 'keyreeve_key_limit_draws_total',
    help: 'Draws of tokens from limits',
    labelNames,
    read: () => by('result', { ...limiter.draws }),
  });
  addCounter(registry, {
    name: 'keyreeve_key_limit_tokens_total',
    help: 'Tokens drawn from limits, and spent',
    labelNames,
    read: () => by('result', { ...limiter.tokens }),
  });
  addGauge(registry, {
    name: 'keyreeve_key_limit_waiting',
    help: 'Verifications that wait for a draw',
    read: () => [{ value: limiter.waiting }],
  });
  addCounter(registry, {
    name: 'keyreeve_key_limit_waits_total',
    help: 'Verifications that needed a draw',
    labelNames,
    read: () => by('result', { ...limiter.waits }),
  });
}

function collectOutbox(registry: Registry, { outbox, webhooks }: MetricsSources): void {
  const countsOf = (kind: string) => outbox.counts.get(kind) ?? { done: 0, failed: 0, givenUp: 0 };
  addCounter(registry, {
    name: 'keyreeve_outbox_attempts_total',
    help: 'Attempts to run jobs, such as mail',
    labelNames: ['kind', 'result'],
    read: () =>
      jobKinds.flatMap((kind) => {
        const { done, failed, givenUp } = countsOf(kind);
        // The attempt after which a job is given up has failed as well.
        return [
          { labels: { kind, result: 'done' }, value: done },
          { labels: { kind, result: 'failed' }, value: failed + givenUp },
        ];
      }),
  });
  addCounter(registry, {
    name: 'keyreeve_outbox_given_up_total',
    help: 'Jobs that are not retried any more',
    labelNames: ['kind'],
    read: () => jobKinds.map((kind) => ({ labels: { kind }, value: countsOf(kind).givenUp })),
  });
  addCounter(registry, {
    name: 'keyreeve_webhook_deliveries_total',
    help: 'Attempts to deliver webhooks, by result',
    labelNames: ['result'],
    read: () => by('result', webhooks.sender.counts),
  });
}
