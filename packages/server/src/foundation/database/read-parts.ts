/** How a bounded search divides its reads. */
import type { Dialect } from './sql.ts';

/**
 * SQLite reads in the thread that verifies credentials, which a read of 500 rows occupies for about 2 ms. On PostgreSQL, each read is a
 * round trip.
 */
const rowsPerRead: Readonly<Record<Dialect, number>> = { sqlite: 500, postgres: 5_000 };

/**
 * The numbers of rows of successive reads. The first one is the size of the page: if all rows match, the search reads only the rows
 * that it returns.
 * @param rowsMax of all reads together
 */
export function* readsOf(
  { dialect }: { readonly dialect: Dialect },
  pageSize: number,
  rowsMax: number,
): Generator<number> {
  let rest = rowsMax;
  for (let count = pageSize; rest > 0; count = rowsPerRead[dialect]) {
    const rows = Math.min(count, rest);
    rest -= rows;
    yield rows;
  }
}
