/** Changes of an account's API keys: reading one, changing it, rotating its secret. */
import Type, { type Static } from 'typebox';
import { AddressesOrNull, CreatedKey, keyFields, keyState, keyTimes, MetadataOrNull, NewKeyBody } from './api-keys.ts';
import { exampleOf } from './examples.ts';
import { PublicKeyBody } from './jwk.ts';
import { shownLimits } from './key-limits.ts';
import { limits } from './limits.ts';
import { Named } from './named.ts';
import { route } from './route.ts';
import { Instant, KeyId, Message, orNull, Text } from './schemas.ts';
import { TrustBody } from './trust.ts';

export const PreviousSecret = Named('PreviousSecret', { expiresAt: Instant, lastUsedAt: orNull(Instant) });

export const KeyDetails = Named(
  'ApiKeyWithRestrictions',
  {
    ...keyFields,
    ...keyTimes,
    scopes: Type.Array(Text('orders:read')),
    expiresAt: orNull(Type.String({ ...Instant, examples: ['2036-01-31T00:00:00.000Z'] })),
    ...keyState,
    addresses: AddressesOrNull,
    ...shownLimits,
    metadata: MetadataOrNull,
    lastUsedAt: orNull(Instant),
    lastUsedFrom: orNull(Text('203.0.113.0/24', 'The client IP range of the last use, if it is known')),
    previous: orNull(PreviousSecret, null),
  },
  {
    description:
      '`previous`: the secret before the last rotation, while it is still valid. `quotaUse`: null without a quota',
  },
);
export type KeyDetails = Static<typeof KeyDetails>;

const { nickname, scopes, expiresAt, addresses, limits: keyLimits, metadata } = NewKeyBody.properties;
const restriction = { scopes, expiresAt, addresses };

export const KeyChangeBody = Named(
  'ApiKeyChange',
  {
    nickname: Type.Optional(nickname),
    ...restriction,
    limits: keyLimits,
    metadata,
    disabled: Type.Optional(
      Type.Boolean({ description: 'true: every verification rejects the key until `disabled` is false' }),
    ),
  },
  {
    minProperties: 1,
    examples: [exampleOf(Type.Object(restriction))],
    description:
      'A merge patch (RFC 7396): absent members keep their values, and null removes a value. `limits` and `metadata` are merged member by member',
  },
);
export type KeyChangeBody = Static<typeof KeyChangeBody>;

export const RotationBody = Named(
  'ApiKeyRotation',
  {
    publicKey: Type.Optional(
      Type.Object({}, { ...PublicKeyBody, description: 'Required for a key with a public key: the new one' }),
    ),
    trust: Type.Optional(TrustBody),
    overlapSeconds: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: limits.rotationOverlapSecondsMax,
        description: `Seconds for which the previous secret stays valid. Default: ${limits.rotationOverlapSeconds / 3_600} hours`,
        examples: [limits.rotationOverlapSeconds],
      }),
    ),
    endPrevious: Type.Optional(
      Type.Boolean({
        description:
          'Ends the previous secret of an earlier rotation immediately. Without it, the response is 409 during the overlap',
      }),
    ),
    endCurrent: Type.Optional(
      Type.Boolean({
        description:
          'Only during an overlap and without the other members: ends the current secret immediately, and keeps the previous one until the end of its overlap. For a client that did not receive the response to the last rotation',
      }),
    ),
  },
  { examples: [{ overlapSeconds: limits.rotationOverlapSeconds }] },
);
export type RotationBody = Static<typeof RotationBody>;

export const RotatedKey = Named(
  'RotatedApiKey',
  {
    ...keyFields,
    key: Type.Optional(CreatedKey.properties.key),
    ...keyTimes,
    previousExpiresAt: orNull(Type.String({ ...Instant, examples: ['2026-11-22T09:30:00.000Z'] })),
  },
  {
    description:
      '`previousExpiresAt`: the end of the overlap; null without an overlap. `key` is absent for a key with a public key or a trust',
  },
);
/** Of a key with a public key or a trust. */
export type RotatedPublicKey = Omit<Static<typeof RotatedKey>, 'key'>;
/** Of a key with a secret. */
export type RotatedKey = RotatedPublicKey & Pick<CreatedKey, 'key'>;

const ofKey = { params: Type.Object({ id: KeyId }), tag: 'API keys', auth: 'access_token' } as const;
const ownKeyErrors = ['not_key_owner', 'key_not_found'] as const;

export const getKey = route('getKey', 'GET /auth/api-keys/:id', {
  ...ofKey,
  summary: 'Get an API key',
  success: { status: 200, description: 'The key, without its secret', schema: KeyDetails },
  errors: ownKeyErrors,
});

export const changeKey = route('changeKey', 'PATCH /auth/api-keys/:id', {
  ...ofKey,
  summary: 'Change an API key',
  description:
    'The key keeps its secret. A change that removes rights (disabling the key, removing a scope, an earlier expiry, other IP ranges) applies to every verification that starts after the response, on every instance and endpoint, and so do changed limits.',
  isNarrowing: true,
  body: { type: 'json', schema: KeyChangeBody },
  success: { status: 200, description: 'The changed key', schema: KeyDetails },
  errors: [
    ...ownKeyErrors,
    'nickname_invalid',
    'scope_invalid',
    'reserved_scope',
    'scope_not_entitled',
    'reauth_required',
    'administrator_required',
    'nickname_taken',
    'key_leaked',
    'too_many_changes',
  ],
});

export const rotateKey = route('rotateKey', 'POST /auth/api-keys/:id/rotate', {
  ...ofKey,
  summary: 'Replace the secret of an API key',
  description:
    'The key keeps its id, nickname, scopes and usage. The previous secret is valid until the end of the overlap, so that clients can change to the new one. Only this response contains the new secret. A key with a public key or a trust gets a new one of the same kind instead. A secret that ends is rejected by every verification that starts after the response.',
  isNarrowing: true,
  body: { type: 'json', schema: RotationBody, isOptional: true },
  success: { status: 200, description: 'The key with its new secret', schema: RotatedKey },
  errors: [
    ...ownKeyErrors,
    'reserved_scope',
    'reauth_required',
    'overlap_in_progress',
    'no_overlap_in_progress',
    'too_many_changes',
    'too_many_creations',
  ],
});

export const endPreviousSecret = route('endPreviousSecret', 'DELETE /auth/api-keys/:id/previous', {
  ...ofKey,
  summary: 'End the previous secret of an API key',
  description: 'Every verification of the previous secret that starts after the response is rejected.',
  isOpenBeforeEnrolment: true,
  isNarrowing: true,
  success: { status: 200, description: 'Only the current secret is valid', schema: Message },
  errors: [...ownKeyErrors, 'no_previous_secret'],
});
