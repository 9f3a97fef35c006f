/** The server searches a bounded number of rows for a page of a list, so that a page can be empty although others match. */

interface Page<T> {
  readonly items: readonly T[];
  readonly nextCursor: string | null;
}

/** 100,000 rows. */
const requestsMax = 20;

/** @returns the first page with a match, or the last of the bounded number of pages */
export async function firstMatches<T>(
  load: (cursor: string | undefined) => Promise<Page<T>>,
  cursor: string | undefined,
): Promise<Page<T>> {
  let page = await load(cursor);
  for (let count = 1; count < requestsMax && page.items.length === 0 && page.nextCursor !== null; count++)
    page = await load(page.nextCursor);
  return page;
}
