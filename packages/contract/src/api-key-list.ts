/** What a list of API keys accepts in addition to its pages: search, state, order and recent usage. */
import Type, { type Static } from 'typebox';
import { limits } from './limits.ts';
import { Named } from './named.ts';

export const keySorts = [
  'created',
  '-created',
  'nickname',
  '-nickname',
  'lastUsed',
  '-lastUsed',
  'expires',
  '-expires',
] as const;
export type KeySort = (typeof keySorts)[number];

export const keyStates = ['active', 'expiring', 'expired', 'disabled'] as const;
export type KeyStateName = (typeof keyStates)[number];

/** A text that a list searches for. Control characters cannot be part of a stored text. */
export const SearchText = (description: string, charsMax: number) =>
  Type.String({ minLength: 1, maxLength: charsMax, pattern: String.raw`^[^\x00-\x1F\x7F]+$`, description });

/** Query parameters of the lists of keys. With any of them, the response is a page. */
export const keyListFields = {
  search: Type.Optional(
    SearchText('Part of the nickname, in any case, or the last characters of the hint', limits.nicknameBytesMax),
  ),
  state: Type.Optional(
    Type.Enum([...keyStates], {
      description: `\`disabled\`; otherwise \`expired\`; otherwise \`active\`. \`expiring\`: active, and expires in the next ${limits.firstExpiryNoticeDays} days`,
    }),
  ),
  sort: Type.Optional(
    Type.Enum([...keySorts], {
      description:
        'With `-`: descending. A key that was never used comes before all used keys; a key that does not expire comes after all others. Keys that are used or changed between two pages can be repeated or missing in the order of that value',
    }),
  ),
  usage: Type.Optional(
    Type.Literal('7d', {
      description: 'With `view=full`: adds the usage of the current day and the six days before it',
    }),
  ),
};

const Count = (description: string) => Type.Integer({ minimum: 0, description });

/** Usage of a key in the last days, in UTC. */
export const RecentUsage = Named('ApiKeyRecentUsage', {
  accepted: Count('Verifications in the seven days that accepted the key'),
  refused: Count('Verifications in the seven days that refused the key'),
  days: Type.Array(Count('Accepted verifications'), {
    description: 'Accepted verifications of each day in UTC, oldest first. The last one is the current day',
    examples: [[0, 12, 1842, 310, 0, 0, 25]],
  }),
});
export type RecentUsage = Static<typeof RecentUsage>;

/** In the rows of a list. */
export const recentUsage = Type.Optional(
  Type.Union([RecentUsage, Type.Null()], {
    description: 'With `usage=7d`; null if verifications are not counted',
    examples: [null],
  }),
);
