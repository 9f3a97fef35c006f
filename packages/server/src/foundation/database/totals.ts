/** Numbers of entries of lists, counted up to a bound. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ListTotal } from '@keyreeve/contract';
import { limits } from '@keyreeve/contract/limits';
import type { Dialect } from './sql.ts';
import { readsOf } from './read-parts.ts';

/** Rows that a statement counts at most: one more than a total can have. */
export const countedRowsMax = limits.countedEntriesMax + 1;

/** @param found entries, at most {@link countedRowsMax} */
export const toTotal = (found: number): ListTotal => ({
  count: Math.min(found, limits.countedEntriesMax),
  isExact: found <= limits.countedEntriesMax,
});

export interface CountedPart<Position> {
  /** Rows of the part that match the filters. */
  readonly matching: number;
  /** The last row of the part; undefined if there are no further rows. */
  readonly last: Position | undefined;
}

/**
 * Counts the matches among the first {@link countedRowsMax} rows of a list.
 * @param countNext counts the matches in the next rows after a position
 */
export async function countInParts<Position>(
  db: { readonly dialect: Dialect },
  start: Position,
  countNext: (after: Position, rows: number) => Promise<CountedPart<Position>>,
): Promise<ListTotal> {
  let matching = 0;
  let position = start;
  for (const rows of readsOf(db, limits.adminPageMax, countedRowsMax)) {
    // SQLite reads synchronously: other requests run between two reads.
    if (position !== start) await nextTurn();
    const part = await countNext(position, rows);
    matching += part.matching;
    if (part.last === undefined) return toTotal(matching);
    position = part.last;
  }
  return { ...toTotal(matching), isExact: false };
}
