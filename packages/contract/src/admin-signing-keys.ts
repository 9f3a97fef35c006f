/** Administration: the keys that sign access tokens. */
import Type, { type Static } from 'typebox';
import { administrator, changing } from './admin-parts.ts';
import { limits } from './limits.ts';
import { Named } from './named.ts';
import { route } from './route.ts';
import { Instant } from './schemas.ts';

export const SigningKey = Named('SigningKey', {
  kid: Type.String({ examples: ['dYk0u3rY8mQ2nS1vXw5zAA'] }),
  alg: Type.String({ examples: ['ES256'] }),
  state: Type.Enum(['next', 'active', 'retired'], {
    description: 'All are published. `next`: does not sign yet. `retired`: no longer signs',
  }),
  createdAt: Instant,
  activatesAt: Instant,
});
export type SigningKey = Static<typeof SigningKey>;

export const SigningKeyList = Named('SigningKeyList', { signingKeys: Type.Array(SigningKey) });

export const SigningKeyRotation = Named('SigningKeyRotation', {
  immediately: Type.Optional(
    Type.Boolean({ description: 'For a leaked key: revokes all other keys, so all access tokens end' }),
  ),
});

export const adminListSigningKeys = route('adminListSigningKeys', 'GET /admin/signing-keys', {
  ...administrator,
  summary: 'List the signing keys',
  description: 'Revoked keys, and keys whose last access token has expired, are not listed.',
  success: { status: 200, description: 'The published keys, by activation', schema: SigningKeyList },
});

export const adminRotateSigningKeys = route('adminRotateSigningKeys', 'POST /admin/signing-keys/rotate', {
  ...changing,
  summary: 'Rotate the signing keys',
  description: `Creates the next key. It is published now and signs ${limits.signingKeyLeadSeconds / 60} minutes later, when other services have fetched it.`,
  body: { type: 'json', schema: SigningKeyRotation, isOptional: true },
  success: { status: 201, description: 'The new key', schema: SigningKey },
  errors: ['signing_key_waiting'],
});
