/** SQL for uniqueness that ignores joiners (`foundation/joiners.ts`). Migration 0001 has indexes on the same expressions. */
import type { Dialect } from './sql.ts';

const characterOf = { sqlite: 'char', postgres: 'chr' } as const;

/** An expression: the text without joiners (U+200C, U+200D). */
function withoutJoinersIn(dialect: Dialect, text: string): string {
  const character = characterOf[dialect];
  return `replace(replace(${text}, ${character}(8204), ''), ${character}(8205), '')`;
}

/**
 * A condition: one of the rows has the name, apart from joiners. Names without a joiner and names with one have different indexes.
 * @param rows a table and a condition: `api_keys k where k.account_pk = 1`
 * @param column of the name in the table
 * @param name an expression
 */
export function hasSameName(dialect: Dialect, rows: string, column: string, name: string): string {
  const [bare, stored] = [withoutJoinersIn(dialect, name), withoutJoinersIn(dialect, column)];
  return `(exists (select 1 from ${rows} and ${column} = ${bare})
     or exists (select 1 from ${rows} and nullif(${stored}, ${column}) = ${bare}))`;
}
