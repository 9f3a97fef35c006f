/** Creation, list and deletion of an account's API keys. */
import Type, { type Static } from 'typebox';
import { keyListFields, recentUsage } from './api-key-list.ts';
import { KeyLimits } from './key-limits.ts';
import { PublicKey } from './jwk.ts';
import { limits } from './limits.ts';
import { exampleOf } from './examples.ts';
import { Named } from './named.ts';
import { nextCursor, pageFields, total, totalField } from './paging.ts';
import { route } from './route.ts';
import { Trust } from './trust.ts';
import { documentedAs, Environment, Instant, keyExample, KeyId, Message, orNull, Scope, Text } from './schemas.ts';

const examples = ['billing worker'];

export const keyFields = {
  id: KeyId,
  nickname: Type.String({ description: 'Unique among the account’s keys', examples }),
};
export const keyTimes = { createdAt: Instant, updatedAt: Instant };

/** Why a key is disabled. */
export const disabledReasons = {
  owner: 'The account disabled it.',
  administrator: 'An administrator or an operator disabled it.',
  dormant: 'It was not used for longer than the operator allows.',
  leaked: 'Its secret was reported as leaked. A rotation enables it.',
  restore: 'A restore undid a change that had removed rights from it.',
} as const;
export type DisabledReason = keyof typeof disabledReasons;

export const DisabledReasonName = Type.Enum(Object.keys(disabledReasons) as DisabledReason[], {
  $id: 'DisabledReason',
  description: Object.entries(disabledReasons)
    .map(([name, meaning]) => `\`${name}\`: ${meaning}`)
    .join(' '),
});

/** Which secret, public key or trust a key has, and whether the key is disabled. */
export const keyState = {
  disabledAt: orNull(Instant, null),
  disabledReason: orNull(DisabledReasonName, null),
  leakedAt: orNull(Instant, null),
  environment: orNull(Text('live', 'null if the installation has no environments'), null),
  hint: orNull(Text('krv_…x7Qa', 'The prefix and the last four characters of the secret; null if they are not known')),
  publicKey: orNull(PublicKey, null),
  trust: orNull(Trust, null),
};

export const KeyMetadata = Type.Object(
  {},
  {
    additionalProperties: true,
    description: `A JSON object of your own, at most ${limits.keyMetadataBytesMax} bytes; returned by \`POST /auth/verify\``,
    examples: [{ customer: 'cus_182' }],
  },
);

export const Addresses = Type.Array(Type.String({ maxLength: limits.cidrCharsMax, examples: ['203.0.113.0/24'] }), {
  minItems: 1,
  maxItems: limits.addressesPerKeyMax,
  description: 'The IP addresses and ranges in CIDR notation from which the key is valid; null: any IP address',
});

export const AddressesOrNull = Type.Union([Addresses, Type.Null()], { $id: 'ApiKeyAddresses' });
export const MetadataOrNull = Type.Union([KeyMetadata, Type.Null()], { $id: 'ApiKeyMetadata' });

export const NewKeyBody = Named(
  'NewApiKey',
  {
    // The rules need Unicode properties, which JSON Schema lacks (see nickname_invalid), and apply to the form in NFC.
    nickname: Type.String({
      minLength: 1,
      maxLength: limits.nicknameBytesMax,
      description: `At most ${limits.nicknameBytesMax} bytes; unique among the account’s keys`,
      examples,
      [documentedAs]: { type: 'string', minLength: 1, maxLength: limits.nicknameCodePointsMax, examples },
    }),
    scopes: Type.Optional(
      Type.Array(Scope, {
        $id: 'ApiKeyScopes',
        maxItems: limits.scopesPerKeyMax,
        uniqueItems: true,
        description:
          'Names that your services check. `keyreeve:verify` is for services that verify credentials: an administrator grants it within 5 minutes of a sign-in, and it counts while the account has that role',
      }),
    ),
    expiresAt: Type.Optional(
      Type.Union(
        [
          Type.String({
            format: 'date-time',
            maxLength: 35,
            description:
              'RFC 3339, in the future. Without it, a new key does not expire, or expires as late as `KEYREEVE_KEY_LIFETIME_DAYS_MAX` allows',
            examples: ['2036-01-31T00:00:00Z'],
          }),
          Type.Null(),
        ],
        { $id: 'ApiKeyExpiry' },
      ),
    ),
    addresses: Type.Optional(AddressesOrNull),
    limits: Type.Optional(orNull(KeyLimits)),
    metadata: Type.Optional(MetadataOrNull),
    environment: Type.Optional(
      Type.String({ ...Environment, description: 'Default: the first one. It never changes' }),
    ),
  },
  {
    // Without IP ranges, so that the key works where the example is copied.
    examples: [{ nickname: examples[0], scopes: ['orders:read'], expiresAt: '2036-01-31T00:00:00Z' }],
  },
);
export type NewKeyBody = Static<typeof NewKeyBody>;

export const CreatedKey = Named('CreatedApiKey', {
  ...keyFields,
  key: Text(keyExample, 'The secret. No other response has it'),
  ...keyTimes,
});
export type CreatedKey = Static<typeof CreatedKey>;

export const ListedKey = Named('ApiKey', { ...keyFields, ...keyTimes });
export const ListedKeyFull = Named(
  'ApiKeyDetails',
  {
    ...keyFields,
    ...keyTimes,
    scopes: Type.Array(Text('orders:read')),
    expiresAt: orNull(Instant, null),
    ...keyState,
    lastUsedAt: orNull(Instant),
    usage: recentUsage,
  },
  { description: 'With ?view=full' },
);
export type ListedKey = Static<typeof ListedKey>;
export type ListedKeyFull = Static<typeof ListedKeyFull>;

export const KeyList = Named(
  'ApiKeyList',
  {
    apiKeys: Type.Union([Type.Array(ListedKeyFull), Type.Array(ListedKey)]),
    nextCursor: Type.Optional(nextCursor),
    total,
  },
  { examples: [{ apiKeys: [exampleOf(ListedKey)] }] },
);

export const ownKeys = { tag: 'API keys', auth: 'access_token' } as const;

export const createKey = route('createKey', 'POST /auth/api-keys', {
  ...ownKeys,
  summary: 'Create an API key',
  description: 'Only this response contains the secret. If the secret is lost, rotate the key.',
  body: { type: 'json', schema: NewKeyBody },
  success: {
    status: 201,
    description: 'The new key',
    schema: CreatedKey,
    headers: { Location: '/auth/api-keys/{id}' },
  },
  errors: [
    'nickname_invalid',
    'scope_invalid',
    'reserved_scope',
    'scope_not_entitled',
    'reauth_required',
    'email_unverified',
    'nickname_taken',
    'key_limit_reached',
    'too_many_creations',
  ],
});

export const listKeys = route('listKeys', 'GET /auth/api-keys', {
  ...ownKeys,
  summary: 'List the account’s API keys',
  description:
    'Oldest first: all of them. With any query parameter except `view`, the response is one page, with `nextCursor`. Secrets are never listed.',
  isExpensive: true,
  isOpenBeforeEnrolment: true,
  query: Type.Object({
    view: Type.Optional(
      Type.Literal('full', {
        description:
          'Adds scopes, expiresAt, disabledAt, disabledReason, leakedAt, environment, hint, publicKey, trust and lastUsedAt',
      }),
    ),
    ...keyListFields,
    ...pageFields,
    ...totalField,
  }),
  success: { status: 200, description: 'The keys', schema: KeyList },
  errors: ['invalid_request'],
});

export const deleteKey = route('deleteKey', 'DELETE /auth/api-keys/:id', {
  ...ownKeys,
  summary: 'Delete an API key',
  description:
    'Every verification that starts after the response is rejected, on every instance and endpoint. Cannot be undone.',
  isOpenBeforeEnrolment: true,
  params: Type.Object({ id: KeyId }),
  isNarrowing: true,
  success: {
    status: 200,
    description: 'The key has been deleted',
    schema: Message,
  },
  errors: ['not_key_owner', 'key_not_found'],
});
