/** The public keys of API keys, as JWKs (RFC 7517). */
import Type, { type Static } from 'typebox';
import { Named } from './named.ts';
import { Text } from './schemas.ts';

/** RFC 8037 appendix A.2. */
export const publicKeyExample = {
  crv: 'Ed25519',
  kty: 'OKP',
  x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo',
} as const;

/** The server checks the members, because its errors must name a member of a private key. */
export const PublicKeyBody = Type.Object(
  {},
  {
    additionalProperties: true,
    description:
      'A JWK (RFC 7517) of Ed25519 (`kty` `OKP`) or P-256 (`kty` `EC`), without private members. `alg`, `use`, `key_ops`, `kid` and `ext` are accepted and not stored',
    examples: [publicKeyExample],
  },
);

export const PublicKey = Named(
  'PublicKey',
  {
    crv: Type.Enum(['Ed25519', 'P-256']),
    kty: Type.Enum(['OKP', 'EC']),
    x: Text(publicKeyExample.x),
    y: Type.Optional(Text('x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0', 'For P-256')),
  },
  { examples: [publicKeyExample] },
);
export type PublicKey = Static<typeof PublicKey>;
