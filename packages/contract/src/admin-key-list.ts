/** Administration: the API keys of all accounts. */
import Type, { type Static } from 'typebox';
import { administrator } from './admin-parts.ts';
import { SearchText } from './api-key-list.ts';
import { ListedKeyFull } from './api-keys.ts';
import { limits } from './limits.ts';
import { Named } from './named.ts';
import { nextCursor, pageFields, total, totalField } from './paging.ts';
import { route } from './route.ts';
import { AccountFilter, AccountId, IntegerText, keyExample, orNull, Scope, strict, Text } from './schemas.ts';

export const KeyOwner = Named('ApiKeyOwner', {
  id: AccountId,
  email: orNull(Text('ada@example.com', 'Null for a service account')),
  name: orNull(Text('billing', 'Of a service account'), null),
});

const { usage: _, ...keyMembers } = ListedKeyFull.properties;
export const OwnedKey = Named('OwnedApiKey', { ...keyMembers, owner: KeyOwner });
export type OwnedKey = Static<typeof OwnedKey>;

export const OwnedKeyPage = Named('OwnedApiKeyPage', {
  apiKeys: Type.Array(OwnedKey, { examples: [[]] }),
  nextCursor,
  total,
});
export type OwnedKeyPage = Static<typeof OwnedKeyPage>;

const Time = (description: string) => Type.Optional(Type.String({ format: 'date-time', maxLength: 35, description }));

export const adminSearchKeys = route('adminSearchKeys', 'GET /admin/api-keys', {
  ...administrator,
  summary: 'Search the API keys of all accounts',
  description: `In the order of their ids. The server reads at most ${limits.adminRowsPerPageMax} keys for a page, so continue until \`nextCursor\` is null. Secrets are never listed.`,
  query: Type.Object(
    {
      id: Type.Optional(
        IntegerText('^[1-9][0-9]{0,15}$', { minimum: 1, maximum: Number.MAX_SAFE_INTEGER }, 'Only this key'),
      ),
      hint: Type.Optional(SearchText('The last characters of the hint, or all of it', limits.nicknameBytesMax)),
      nickname: Type.Optional(SearchText('Part of the nickname, in any case', limits.nicknameBytesMax)),
      owner: AccountFilter('Only keys of this account'),
      scope: Type.Optional(
        Type.String({ ...Scope, description: 'Only keys with this scope, also if it is not in force' }),
      ),
      unusedSince: Time('RFC 3339. Only keys that were neither used nor created at this time or later'),
      expiresBefore: Time('RFC 3339. Only keys that expire before this time'),
      ...pageFields,
      ...totalField,
    },
    strict,
  ),
  success: { status: 200, description: 'A page of keys', schema: OwnedKeyPage },
  errors: ['invalid_request'],
});

export const FindKeyBody = Named('ApiKeySearch', {
  key: Type.String({
    minLength: 1,
    maxLength: limits.importedKeyCharsMax,
    description: 'The whole secret',
    examples: [keyExample],
  }),
});

export const FoundKey = Named('FoundApiKey', {
  ...OwnedKey.properties,
  secret: Type.Enum(['current', 'previous', 'short_lived', 'leaked'], {
    description: 'What the given secret is to the key. `leaked`: a report has ended it',
  }),
});
export type FoundKey = Static<typeof FoundKey>;

export const adminFindKey = route('adminFindKey', 'POST /admin/api-keys/find', {
  ...administrator,
  needsRecentSignIn: true,
  summary: 'Find the API key of a secret',
  description:
    'Imported keys and ended previous secrets are found too. The secret is neither stored nor logged. Writes the audit event `api_key.identified`, which the owner can read.',
  body: { type: 'json', schema: FindKeyBody },
  success: { status: 200, description: 'The key and its owner', schema: FoundKey },
  errors: ['key_not_found'],
});
