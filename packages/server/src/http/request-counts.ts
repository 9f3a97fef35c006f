/**
 * Counts and durations of requests, for metrics. Each label has few values: the route is the path of its contract, because
 * clients choose paths, and unknown methods are one value.
 */
import { errors, forward, type ErrorCode } from '@keyreeve/contract';
import { monotonicMs } from '../foundation/clock.ts';
import { LatencyHistogram, requestBoundsMs } from '../foundation/latency-histogram.ts';

export interface RequestCount {
  readonly route: string;
  readonly method: string;
  readonly status: number;
  count: number;
}

export interface RequestDurations {
  readonly route: string;
  readonly method: string;
  readonly durations: LatencyHistogram;
}

/** The codes of requests that a limit rejects. With `?limited=403`, some of them have the status 403. */
const limitCodes = (Object.keys(errors) as ErrorCode[]).filter((code) => errors[code].status === 429);

/** Label of requests without a route. */
const noRoute = 'none';
const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'CONNECT', 'TRACE']);
const labelOf = (method: string | undefined): string =>
  method !== undefined && methods.has(method) ? method : 'other';

/** What a process has counted since its last report. */
export interface TakenCounts {
  readonly counts: readonly RequestCount[];
  readonly durations: readonly (Omit<RequestDurations, 'durations'> & { readonly values: Float64Array })[];
  readonly limited: ReadonlyMap<ErrorCode, number>;
}

export class RequestCounts {
  /** Requests that a limit rejected, by code. */
  readonly limited = new Map<ErrorCode, number>(limitCodes.map((code) => [code, 0]));
  /** By route, method and status. */
  readonly #counts = new Map<string, RequestCount>();
  /** By route and method. */
  readonly #durations = new Map<string, RequestDurations>();
  /** Most requests are these. */
  readonly #acceptedForwards = this.#countOf(forward.path, 'GET', 200);

  /** On the hot path: an accepted request of `/auth/forward`. */
  countForward(method: string | undefined): void {
    if (method === 'GET') this.#acceptedForwards.count++;
    else this.count(forward.path, method, 200);
  }

  /** @param ms duration; undefined for `/auth/forward`, whose durations are those of its verifications */
  count(route: string = noRoute, method: string | undefined, status: number, ms?: number): void {
    const label = labelOf(method);
    this.#countOf(route, label, status).count++;
    if (ms !== undefined) this.#durationsOf(route, label).add(ms);
  }

  /**
   * For the hot path: counts requests of one route and method with one status, without finding their rows each time.
   * @returns as {@link count}
   */
  counterOf(route: string, method: string, status: number): (ms: number) => void {
    const row = this.#countOf(route, method, status);
    const durations = this.#durationsOf(route, method);
    return (ms) => {
      row.count++;
      durations.add(ms);
    };
  }

  countLimited(code: ErrorCode): void {
    const count = this.limited.get(code);
    if (count !== undefined) this.limited.set(code, count + 1);
  }

  get counts(): Iterable<RequestCount> {
    return this.#counts.values();
  }

  get durations(): Iterable<RequestDurations> {
    return this.#durations.values();
  }

  /** @returns everything that was counted, which is then forgotten: another process adds it to its own */
  take(): TakenCounts {
    const counts = [...this.#counts.values()].filter(({ count }) => count > 0).map((row) => ({ ...row }));
    for (const row of this.#counts.values()) row.count = 0;
    const durations = [...this.#durations.values()].map(({ route, method, durations: histogram }) => ({
      route,
      method,
      values: histogram.take(),
    }));
    const limited = new Map(this.limited);
    for (const code of this.limited.keys()) this.limited.set(code, 0);
    return { counts, durations, limited };
  }

  add({ counts, durations, limited }: TakenCounts): void {
    for (const { route, method, status, count } of counts) this.#countOf(route, method, status).count += count;
    for (const { route, method, values } of durations) this.#durationsOf(route, method).addAll(values);
    for (const [code, count] of limited) this.limited.set(code, (this.limited.get(code) ?? 0) + count);
  }

  #durationsOf(route: string, method: string): LatencyHistogram {
    const key = `${method} ${route}`;
    let row = this.#durations.get(key);
    if (!row) this.#durations.set(key, (row = { route, method, durations: new LatencyHistogram(requestBoundsMs) }));
    return row.durations;
  }

  #countOf(route: string, method: string, status: number): RequestCount {
    const key = `${status} ${method} ${route}`;
    let row = this.#counts.get(key);
    if (!row) this.#counts.set(key, (row = { route, method, status, count: 0 }));
    return row;
  }
}

/** Milliseconds since a time of the monotonic clock, rounded to a tenth. */
export const elapsed = (startedMs: number): number => Math.round((monotonicMs() - startedMs) * 10) / 10;
