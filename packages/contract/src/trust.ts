/** The trust of an API key: whose identity tokens its clients exchange, and which claims they have. */
import Type, { type Static } from 'typebox';
import { limits } from './limits.ts';
import { Named } from './named.ts';
import { orNull, Text } from './schemas.ts';

export const trustExample = {
  issuer: 'https://token.actions.githubusercontent.com',
  claims: { repository_id: '4711', ref: 'refs/heads/main' },
} as const;

const issuer = Type.String({
  minLength: 1,
  maxLength: limits.issuerUrlCharsMax,
  description: 'The URL of an issuer of the account of the key, or of one for all accounts',
  examples: [trustExample.issuer],
});

/** The server checks the claims, because its errors name the claims that the issuer needs. */
export const TrustBody = Named(
  'NewTrust',
  {
    issuer,
    claims: Type.Object(
      {},
      {
        additionalProperties: true,
        description: `1 to ${limits.trustClaimsMax} claims with their values: strings, integers or booleans, compared exactly. At least one is a claim that the issuer never uses again for another workload, such as \`repository_id\`. A name that begins with \`/\` is a JSON pointer (RFC 6901). If the issuer declares the claim as a list, the list contains the value`,
        examples: [trustExample.claims],
      },
    ),
    audience: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: limits.trustAudienceCharsMax,
        description: 'The claim `aud`: the public URL (the default), or one of `KEYREEVE_EXCHANGE_AUDIENCES`',
        examples: ['https://auth.example.com'],
      }),
    ),
  },
  { description: 'Which identity tokens are exchanged for secrets of the key', examples: [trustExample] },
);
export type TrustBody = Static<typeof TrustBody>;

export const Trust = Named('Trust', {
  issuer: Text(trustExample.issuer),
  claims: Type.Object(
    {},
    {
      additionalProperties: true,
      description: 'The values by the JSON pointers (RFC 6901) of the claims',
      examples: [{ '/ref': trustExample.claims.ref, '/repository_id': trustExample.claims.repository_id }],
    },
  ),
  audience: Text('https://auth.example.com'),
  issuerState: Type.Enum(['declared', 'removed'], {
    description: '`removed`: the issuer was removed, so no identity token is accepted until the trust is rotated',
  }),
});
export type Trust = Static<typeof Trust>;

/** Why an identity token was rejected that has a valid signature, and the audience of the trust. */
export const tokenRejections = {
  claims: 'A claim of the trust is missing in the token, or has another value.',
  used: 'The token was exchanged before, and the issuer’s tokens are accepted once.',
  restored: 'The token was issued before the last restore, which has lost the record of used tokens.',
  disabled: 'The key or its account is disabled.',
  expired: 'The key or the token expires within a second.',
  address: 'The key is not valid from the client IP.',
} as const;
export type TokenRejection = keyof typeof tokenRejections;

const token = {
  at: Type.String({ format: 'date-time', examples: ['2026-11-21T09:30:00.000Z'] }),
  issuer: Text(trustExample.issuer),
};
const subject = orNull(Text('repo:octo/app:ref:refs/heads/main', 'The claim `sub`'));

export const KeyTokens = Named(
  'ApiKeyTokens',
  {
    accepted: Type.Array(Named('AcceptedToken', { ...token, subject })),
    rejected: Type.Array(
      Named('RejectedToken', {
        ...token,
        subject,
        reason: Type.Enum(Object.keys(tokenRejections) as TokenRejection[], {
          description: Object.entries(tokenRejections)
            .map(([name, meaning]) => `\`${name}\`: ${meaning}`)
            .join(' '),
        }),
        claims: Type.Object(
          {},
          {
            additionalProperties: true,
            description: `The claims of the token; above ${limits.rejectedTokenBytesMax} bytes of JSON, only those that the trust names, as far as they fit`,
            examples: [{ sub: 'repo:octo/app:ref:refs/heads/next', repository_id: '4711', ref: 'refs/heads/next' }],
          },
        ),
      }),
    ),
  },
  { description: `At most ${limits.keyTokensMax} of each, newest first` },
);
export type KeyTokens = Static<typeof KeyTokens>;
