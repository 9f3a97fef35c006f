/** Creation of an account's API key that has a public key or a trust instead of a secret. */
import Type from 'typebox';
import { createKey, ListedKey, NewKeyBody } from './api-keys.ts';
import { PublicKeyBody, publicKeyExample } from './jwk.ts';
import { Named } from './named.ts';
import type { RouteContract } from './route.ts';
import { TrustBody } from './trust.ts';

export const NewPublicKeyBody = Named(
  'NewPublicKey',
  {
    ...NewKeyBody.properties,
    scopes: Type.Optional({
      ...NewKeyBody.properties.scopes,
      $id: undefined,
      description: 'Names that your services check. None begins with `keyreeve:`',
    }),
    publicKey: Type.Optional(PublicKeyBody),
    trust: Type.Optional(TrustBody),
  },
  {
    examples: [{ nickname: 'payroll', publicKey: publicKeyExample }],
    description: 'Exactly one of `publicKey` and `trust` is required',
  },
);

export const registerPublicKey = {
  ...createKey,
  id: 'registerPublicKey',
  path: '/auth/api-keys/public',
  summary: 'Create an API key with a public key or a trust',
  description:
    'The key has no secret of its own, and no scopes that begin with `keyreeve:`. With `publicKey`, the client keeps the private key and signs assertions. With `trust`, the client has the identity tokens of an issuer, such as those of a CI job. It exchanges either for secrets that are valid for a few minutes, with `POST /auth/oauth/token`.',
  body: { type: 'json', schema: NewPublicKeyBody },
  success: { ...createKey.success, schema: ListedKey },
  errors: createKey.errors.filter((code) => code !== 'reauth_required'),
} as const satisfies RouteContract;
