/** Metrics for Prometheus. The hot path only increments numbers, which are collected at each scrape. */
import { Counter, Gauge, Histogram, Registry } from '@prometheus-io/client';
import type { PasswordHasher } from '../foundation/crypto/password.ts';
import type { Db, DbTimes } from '../foundation/database/db.ts';
import type { WriteHealth } from '../foundation/database/write-health.ts';
import type { ErrorCount } from '../http/request-errors.ts';
import { jobKinds, type Outbox, type WaitingJobs } from '../modules/outbox/outbox.ts';
import { collectGrowth } from './growth-metrics.ts';
import { collectProcessMetrics } from './process-metrics.ts';
import type { KeyLimiter } from '../modules/key-limits/key-limits.ts';
import type { UsageCounter } from '../modules/key-usage/usage-counter.ts';
import type { SignInCounts } from '../modules/tokens/sign-ins.ts';
import type { ResultCounts } from '../modules/verification/verify.ts';

export interface MetricsSources {
  readonly db: Db;
  readonly verifications: ResultCounts;
  /** Undefined if verifications are not counted by key. */
  readonly usage: Pick<UsageCounter, 'totals' | 'rows'> | undefined;
  readonly limiter: Pick<KeyLimiter, 'draws' | 'tokens' | 'waiting' | 'waits'>;
  readonly signIns: SignInCounts;
  readonly hasher: Pick<PasswordHasher, 'stats'>;
  readonly dbTimes: DbTimes;
  readonly writes: WriteHealth;
  /** Responses by route and status. */
  readonly errors: Iterable<ErrorCount>;
  readonly outbox: Outbox;
  /** Deliveries by result. */
  readonly webhooks: Readonly<Record<string, number>>;
}

const databaseBucketsSeconds = [0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5];

/** The metrics of a worker, as sent to the supervisor. */
export type MetricsSnapshot = Awaited<ReturnType<Registry['getMetricsAsJSON']>>;

export class Metrics {
  readonly contentType: string;
  readonly #registry = new Registry();

  constructor(sources: MetricsSources, worker?: number) {
    const { verifications, usage, limiter, signIns, hasher, dbTimes, writes, outbox, webhooks } = sources;
    collectProcessMetrics(this.#registry, worker === undefined ? {} : { worker: String(worker) });
    addCounter(this.#registry, 'keyreeve_verifications_total', 'Credentials verified, by result', () => verifications);
    if (usage) this.#usage(usage);
    this.#limits(limiter);
    addCounter(this.#registry, 'keyreeve_logins_total', 'Sign-ins, by result', () => signIns);
    addCounter(
      this.#registry,
      'keyreeve_password_hashes_total',
      'Password hashes computed, or rejected because the queue was full',
      () => {
        const { hashed, refused } = hasher.stats;
        return { hashed, refused };
      },
    );
    addCounter(
      this.#registry,
      'keyreeve_webhook_deliveries_total',
      'Attempts to deliver webhooks, by result',
      () => webhooks,
    );
    this.#gauge('keyreeve_password_hashes_running', 'Password hashes in progress', () => hasher.stats.running);
    this.#gauge('keyreeve_password_hashes_waiting', 'Password hashes in the queue', () => hasher.stats.waiting);
    collectDatabase(this.#registry, dbTimes, writes);
    const help = '1 while commits succeed, 0 while they fail';
    this.#gauge('keyreeve_database_writes', help, () => (writes.isHealthy ? 1 : 0), worker);
    this.#requestErrors(sources.errors);
    this.#outboxCounts(outbox);
    // The database is shared by all workers, so only one reports the outbox and the growth.
    if (worker === undefined || worker === 1) {
      const oldest = 'Age of the oldest unfinished job, 0 if there is none';
      this.#outboxGauge('keyreeve_outbox_waiting', 'Unfinished jobs, up to 10000', outbox, ({ count }) => count);
      this.#outboxGauge('keyreeve_outbox_oldest_seconds', oldest, outbox, ({ oldestMs }) => oldestMs / 1_000);
      collectGrowth(this.#registry, sources.db);
    }
    this.contentType = this.#registry.contentType;
  }

  text(): Promise<string> {
    return this.#registry.metrics();
  }

  snapshot(): Promise<MetricsSnapshot> {
    return this.#registry.getMetricsAsJSON();
  }

  /** @param worker number of the worker, for metrics of a process */
  #gauge(name: string, help: string, read: () => number, worker?: number): void {
    const labels: Record<string, string> = worker === undefined ? {} : { worker: String(worker) };
    const registers = [this.#registry];
    new Gauge({
      name,
      help,
      labelNames: Object.keys(labels),
      registers,
      collect() {
        this.set(labels, read());
      },
    });
  }

  #usage(usage: Pick<UsageCounter, 'totals' | 'rows'>): void {
    const help = 'Verifications in the usage of keys: written, dropped, or in a commit with an unknown outcome';
    addCounter(this.#registry, 'keyreeve_key_usage_total', help, () => ({ ...usage.totals }));
    this.#gauge('keyreeve_key_usage_waiting', 'Keys per hour whose counts wait to be written', () => usage.rows);
  }

  #limits(limiter: MetricsSources['limiter']): void {
    const draws = 'Draws of tokens from the limits of keys and accounts: committed, failed, or of unknown outcome';
    addCounter(this.#registry, 'keyreeve_key_limit_draws_total', draws, () => ({ ...limiter.draws }));
    const tokens = 'Tokens of limits: drawn from the database, and spent by verifications';
    addCounter(this.#registry, 'keyreeve_key_limit_tokens_total', tokens, () => ({ ...limiter.tokens }));
    this.#gauge('keyreeve_key_limit_waiting', 'Verifications that wait for a draw', () => limiter.waiting);
    const waits = 'Verifications that needed a draw: waited until it began, or were rejected because too many waited';
    addCounter(this.#registry, 'keyreeve_key_limit_waits_total', waits, () => ({ ...limiter.waits }));
  }

  #requestErrors(errors: Iterable<ErrorCount>): void {
    new Counter({
      name: 'keyreeve_request_errors_total',
      help: 'Responses with an error, by route and status',
      labelNames: ['route', 'status'],
      registers: [this.#registry],
      collect() {
        this.reset();
        for (const { route, status, count } of errors) this.inc({ route, status }, count);
      },
    });
  }

  #outboxCounts(outbox: Outbox): void {
    new Counter({
      name: 'keyreeve_outbox_total',
      help: 'Jobs, such as mail: done, failed and retried, or given up',
      labelNames: ['kind', 'result'],
      registers: [this.#registry],
      collect() {
        this.reset();
        for (const kind of jobKinds) {
          const { done = 0, failed = 0, givenUp = 0 } = outbox.counts.get(kind) ?? {};
          this.inc({ kind, result: 'done' }, done);
          this.inc({ kind, result: 'failed' }, failed);
          this.inc({ kind, result: 'given_up' }, givenUp);
        }
      },
    });
  }

  /** By kind, from the database. Without a connection the metric is absent; other metrics report that. */
  #outboxGauge(name: string, help: string, outbox: Outbox, pick: (waiting: WaitingJobs) => number): void {
    new Gauge({
      name,
      help,
      labelNames: ['kind'],
      registers: [this.#registry],
      async collect() {
        this.reset();
        const rows = await outbox.waiting().catch(() => undefined);
        if (!rows) return;
        for (const kind of jobKinds) {
          const row = rows.find((candidate) => candidate.kind === kind);
          this.set({ kind }, row ? pick(row) : 0);
        }
      },
    });
  }
}

/** Durations of reads and commits, and counts of commits. With workers on SQLite, the supervisor counts the commits. */
export function collectDatabase(registry: Registry, dbTimes: DbTimes, writes: WriteHealth): void {
  const registers = [registry];
  const times = new Histogram({
    name: 'keyreeve_database_seconds',
    help: 'Time of a shared database read, or of a shared commit',
    labelNames: ['operation'],
    buckets: databaseBucketsSeconds,
    registers,
  });
  const { observe } = dbTimes;
  dbTimes.observe = (operation, ms) => {
    observe(operation, ms);
    times.observe({ operation }, ms / 1000);
  };
  addCounter(registry, 'keyreeve_database_commits_total', 'Commits to the database, by result', () => writes.commits);
}

function addCounter(
  registry: Registry,
  name: string,
  help: string,
  read: () => Readonly<Record<string, number>>,
): void {
  new Counter({
    name,
    help,
    labelNames: ['result'],
    registers: [registry],
    collect() {
      this.reset();
      for (const [result, count] of Object.entries(read())) this.inc({ result }, count);
    },
  });
}
