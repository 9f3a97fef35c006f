/** Counts error responses by route and status, for metrics. */

export interface ErrorCount {
  readonly route: string;
  readonly status: number;
  readonly count: number;
}

/** Label of requests without a route. The path is no label, because clients choose it. */
const noRoute = 'none';

export class RequestErrors {
  readonly #counts = new Map<string, { route: string; status: number; count: number }>();

  count(route: string = noRoute, status: number): void {
    const key = `${status} ${route}`;
    const row = this.#counts.get(key);
    if (row) row.count++;
    else this.#counts.set(key, { route, status, count: 1 });
  }

  *[Symbol.iterator](): Generator<ErrorCount> {
    yield* this.#counts.values();
  }
}
