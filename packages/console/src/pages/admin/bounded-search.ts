/** The server searches a bounded number of rows for a page of a list, so that a page can be empty although others match. */
import type { LoadPage } from '../../list.ts';

/** 100,000 rows. */
const requestsMax = 20;

/** @returns loads the first page with a match, or the last of the bounded number of pages */
export const firstMatches =
  <T>(load: LoadPage<T>): LoadPage<T> =>
  async (query, signal, first) => {
    let page = await load(query, signal, first);
    const { total } = page;
    for (let count = 1; count < requestsMax && page.items.length === 0 && page.nextCursor !== null; count++)
      page = await load({ ...query, cursor: page.nextCursor }, signal, {});
    return { ...page, total };
  };
