/**
 * The columns `used_from` of credentials: client IP ranges from which a credential was used, in the form of `coarseRange`,
 * separated by spaces.
 */

/** Bounds the column: about 16 ranges. Later ranges are not stored, so a credential is not kept because of them. */
const charsMax = 300;

/**
 * @param column with the name of its table where the statement needs it
 * @param range an SQL expression of a text: the client IP range of a use, or null
 * @returns an SQL expression: the column with this range, once
 */
export const withUse = (column: string, range: string): string =>
  `case when ${range} is null or length(coalesce(${column}, '')) > ${charsMax}
       or ' ' || coalesce(${column}, '') || ' ' like '% ' || ${range} || ' %' then ${column}
     else coalesce(${column} || ' ', '') || ${range} end`;

/** The ranges in a column. */
export const rangesIn = (usedFrom: string | null): readonly string[] =>
  usedFrom === null || usedFrom === '' ? [] : usedFrom.split(' ');
