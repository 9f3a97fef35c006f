/** SQL for lists that a statement receives as one parameter, a JSON array in `$1`. */
import type { Dialect } from './sql.ts';

const replacements: Readonly<Record<string, Readonly<Record<Dialect, string>>>> = {
  '{ids}': {
    sqlite: 'select value from json_each($1)',
    postgres: 'select value from json_array_elements_text($1::json)',
  },
  '{numbers}': {
    sqlite: 'select cast(value as integer) from json_each($1)',
    postgres: 'select value::bigint from json_array_elements_text($1::json)',
  },
  '{dated}': {
    sqlite: `(select value ->> '$.id' as id, value ->> '$.at' as at from json_each($1)) given`,
    postgres: 'json_to_recordset($1::json) as given (id text, at bigint)',
  },
};

/** An id and a time, in milliseconds. */
export interface DatedId {
  readonly id: string;
  readonly at: number;
}

/**
 * A statement about the items of a list, for each database.
 * @param text contains `{ids}` or `{numbers}`, a subselect of a list of texts, or `{dated}`, a table `given (id, at)` of a
 *   list of {@link DatedId}
 */
export function onList(text: string): Record<Dialect, string> {
  const of = (dialect: Dialect): string => text.replaceAll(/\{\w+\}/g, (mark) => replacements[mark]?.[dialect] ?? mark);
  return { sqlite: of('sqlite'), postgres: of('postgres') };
}
