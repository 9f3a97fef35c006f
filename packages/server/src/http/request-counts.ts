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
    if (ms !== undefined) this.#durationsOf(route, label).durations.add(ms);
  }

  /**
   * For the hot path: counts requests of one route and method with one status, without finding their rows each time.
   * @returns as {@link count}
   */
  counterOf(route: string, method: string, status: number): (ms: number) => void {
    const row = this.#countOf(route, method, status);
    const { durations } = this.#durationsOf(route, method);
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

  #durationsOf(route: string, method: string): RequestDurations {
    const key = `${method} ${route}`;
    let row = this.#durations.get(key);
    if (!row) this.#durations.set(key, (row = { route, method, durations: new LatencyHistogram(requestBoundsMs) }));
    return row;
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
