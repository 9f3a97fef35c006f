/** Lists that come in pages: what a request may ask for, and where the next page begins. */
import Type from 'typebox';
import { limits } from './limits.ts';
import { orNull } from './schemas.ts';

export const nextCursor = orNull(
  Type.String({ description: 'For the next page. A page may have fewer entries than asked for, even none, before it' }),
  null,
);

/** Of every list that comes in pages. */
export const pageFields = {
  limit: Type.Optional(
    Type.String({
      pattern: '^(?:[1-9]|[1-9][0-9]|100)$',
      description: `How many at most: 1 to ${limits.adminPageMax}; ${limits.adminPageMax} when it isn’t given`,
    }),
  ),
  cursor: Type.Optional(
    Type.String({ minLength: 1, maxLength: 512, description: 'The `nextCursor` of the page before; opaque' }),
  ),
};
