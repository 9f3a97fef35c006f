/** The exchange of a signed assertion for a short-lived secret of a public-key key (RFC 7523, RFC 6749). */
import Type, { type Static } from 'typebox';
import { shortLivedSecretPrefix } from './credentials.ts';
import { limits } from './limits.ts';
import { Named } from './named.ts';
import { route } from './route.ts';
import { Text } from './schemas.ts';

export const jwtBearerGrant = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
/** RFC 6749 section 4.4. */
export const clientCredentialsGrant = 'client_credentials';

/** Further parameters are ignored (RFC 6749 section 3.2). */
export const ExchangeBody = Type.Object(
  {
    grant_type: Text(jwtBearerGrant),
    assertion: Type.Optional(Text('eyJhbGciOiJFZERTQSIsImtpZCI6IjE4…', 'A JWT, signed with the private key')),
    client_id: Type.Optional(Text('4830184710273911', 'The id of an API key')),
    client_secret: Type.Optional(
      Text('krv_…', `For \`${clientCredentialsGrant}\` without Basic: the secret of the API key`),
    ),
    scope: Type.Optional(Text('', 'Must be empty or absent')),
  },
  { $id: 'AssertionExchange' },
);

export const ExchangedSecret = Named('ShortLivedSecret', {
  access_token: Text(`${shortLivedSecretPrefix}_8sT2xUvN…`, 'The short-lived secret, for use like an API key'),
  token_type: Type.Literal('Bearer'),
  expires_in: Type.Integer({
    description: 'Seconds; fewer if the key or the overlap of its public key ends earlier',
    examples: [limits.shortLivedSecretSeconds],
  }),
});
export type ExchangedSecret = Static<typeof ExchangedSecret>;

/** RFC 6749 section 5.2. */
export const OAuthError = Named('OAuthError', {
  error: Type.Enum(['invalid_request', 'invalid_client', 'invalid_grant', 'unsupported_grant_type', 'invalid_scope']),
  error_description: Text('The assertion is malformed, expired, …'),
});
export type OAuthError = Static<typeof OAuthError>;

export const exchangeAssertion = route('exchangeAssertion', 'POST /auth/oauth/token', {
  tag: 'API keys',
  summary: 'Exchange an assertion for a short-lived secret',
  description:
    'RFC 7523 section 2.1, for API keys with a public key. The JWT has the header `kid` and the claims `iss`, `sub`, `aud`, `iat`, `exp` and `jti`. Each works once. A response with status 400 has the format of RFC 6749 section 5.2.',
  auth: 'none',
  body: { type: 'form', schema: ExchangeBody, bytesMax: limits.exchangeBodyBytesMax },
  success: {
    status: 200,
    description: 'A short-lived secret, which is in no other response',
    schema: ExchangedSecret,
    headers: { 'Cache-Control': '`no-store`', Pragma: '`no-cache`' },
  },
  errorFormat: 'oauth',
  errors: [
    'invalid_request',
    'invalid_client',
    'invalid_grant',
    'unsupported_grant_type',
    'invalid_scope',
    'too_many_exchanges',
  ],
});
