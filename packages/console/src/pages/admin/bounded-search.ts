/** The server searches a bounded number of rows for a page of a list, so that a page can be empty although others match. */
import type { ListQuery } from '../../list.ts';

interface Page<T> {
  readonly items: readonly T[];
  readonly nextCursor: string | null;
}

/** 100,000 rows. */
const requestsMax = 20;

/** @returns loads the first page with a match, or the last of the bounded number of pages */
export const firstMatches =
  <T>(load: (query: ListQuery, signal: AbortSignal) => Promise<Page<T>>): typeof load =>
  async (query, signal) => {
    let page = await load(query, signal);
    for (let count = 1; count < requestsMax && page.items.length === 0 && page.nextCursor !== null; count++)
      page = await load({ ...query, cursor: page.nextCursor }, signal);
    return page;
  };
