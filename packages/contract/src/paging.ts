/** Query parameters and members of paged lists. */
import Type, { type Static } from 'typebox';
import { limits } from './limits.ts';
import { Named } from './named.ts';
import { IntegerText, orNull } from './schemas.ts';

export const nextCursor = orNull(
  Type.String({
    description: 'For the next page. A page that is not the last can have fewer entries than its limit, or none',
  }),
  null,
);

/** Query parameters of every paged list. */
export const pageFields = {
  limit: Type.Optional(
    IntegerText(
      '^(?:[1-9]|[1-9][0-9]|100)$',
      { minimum: 1, maximum: limits.adminPageMax },
      `Maximum number of entries; ${limits.adminPageMax} by default`,
    ),
  ),
  cursor: Type.Optional(
    Type.String({ minLength: 1, maxLength: 512, description: 'The `nextCursor` of the previous page; opaque' }),
  ),
};

/** Query parameter of the lists that count their entries. */
export const totalField = {
  total: Type.Optional(
    Type.Literal('true', {
      description:
        'Adds the number of entries of all pages. Only for the first page, because the server counts them for each request',
    }),
  ),
};

export const ListTotal = Named('ListTotal', {
  count: Type.Integer({ minimum: 0, maximum: limits.countedEntriesMax, examples: [2318] }),
  isExact: Type.Boolean({
    description: `false: there are at least this many. The server counts at most ${limits.countedEntriesMax} entries, and searches as many of the list for those that match the filters`,
    examples: [true],
  }),
});
export type ListTotal = Static<typeof ListTotal>;

/** In the first page, with `total=true`. */
export const total = Type.Optional(ListTotal);
