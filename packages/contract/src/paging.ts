/** Query parameters and members of paged lists. */
import Type from 'typebox';
import { limits } from './limits.ts';
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
