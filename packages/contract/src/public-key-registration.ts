/** Creation of an account's API key that has a public key instead of a secret. */
import Type from 'typebox';
import { createKey, ListedKey, NewKeyBody } from './api-keys.ts';
import { PublicKeyBody, publicKeyExample } from './jwk.ts';
import { Named } from './named.ts';
import type { RouteContract } from './route.ts';

export const NewPublicKeyBody = Named(
  'NewPublicKey',
  {
    ...NewKeyBody.properties,
    scopes: Type.Optional({
      ...NewKeyBody.properties.scopes,
      $id: undefined,
      description: 'Names that your services check. None begins with `keyreeve:`',
    }),
    publicKey: PublicKeyBody,
  },
  { examples: [{ nickname: 'payroll', publicKey: publicKeyExample }] },
);

export const registerPublicKey = {
  ...createKey,
  id: 'registerPublicKey',
  path: '/auth/api-keys/public',
  summary: 'Create an API key with a public key',
  description:
    'The client keeps the private key, and exchanges assertions that it signs for secrets that are valid for a few minutes. The key has no secret of its own, and no scopes that begin with `keyreeve:`.',
  body: { type: 'json', schema: NewPublicKeyBody },
  success: { ...createKey.success, schema: ListedKey },
  errors: createKey.errors.filter((code) => code !== 'reauth_required'),
} as const satisfies RouteContract;
