/** Lists that come in pages: what a request may ask for, and where the next page begins. */
import Type from 'typebox';
import { limits } from './limits.ts';
import { IntegerText, orNull } from './schemas.ts';

export const nextCursor = orNull(
  Type.String({
    description:
      'For the next page. A page can have fewer entries than its limit, even none, and still not be the last',
  }),
  null,
);

/** Of every list that comes in pages. */
export const pageFields = {
  limit: Type.Optional(
    IntegerText(
      '^(?:[1-9]|[1-9][0-9]|100)$',
      { minimum: 1, maximum: limits.adminPageMax },
      `How many entries a page has at most; ${limits.adminPageMax} by default`,
    ),
  ),
  cursor: Type.Optional(
    Type.String({ minLength: 1, maxLength: 512, description: 'The `nextCursor` of the page before; opaque' }),
  ),
};
