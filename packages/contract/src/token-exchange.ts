/**
 * The exchange of a credential of a client for a short-lived secret: a signed assertion of a public-key key (RFC 7523), or an
 * identity token that a key trusts (RFC 7523, RFC 8693).
 */
import Type, { type Static } from 'typebox';
import { shortLivedSecretPrefix } from './credentials.ts';
import { deviceCodeGrant, deviceErrors, deviceKeyMembers } from './device-authorization.ts';
import { limits } from './limits.ts';
import { Named } from './named.ts';
import { route } from './route.ts';
import { Text } from './schemas.ts';

export const jwtBearerGrant = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
/** RFC 6749 section 4.4. */
export const clientCredentialsGrant = 'client_credentials';
export const tokenExchangeGrant = 'urn:ietf:params:oauth:grant-type:token-exchange';

/** RFC 8693 section 3. */
export const tokenTypes = {
  jwt: 'urn:ietf:params:oauth:token-type:jwt',
  idToken: 'urn:ietf:params:oauth:token-type:id_token',
  accessToken: 'urn:ietf:params:oauth:token-type:access_token',
} as const;

const Absent = (reason: string) => Type.Optional(Text('', `Must be empty or absent: ${reason}`));
const fixedAudience = 'a short-lived secret is for every service that verifies credentials here';

/** Further parameters are ignored (RFC 6749 section 3.2). */
export const ExchangeBody = Type.Object(
  {
    grant_type: Text(
      jwtBearerGrant,
      `Or \`${tokenExchangeGrant}\`, \`${clientCredentialsGrant}\` or \`${deviceCodeGrant}\``,
    ),
    client_id: Type.Optional(
      Text('4830184710273911', 'The id of an API key with a trust or a secret, or of a program'),
    ),
    device_code: Type.Optional(Text('krvd_7pQw3nZk…', 'Of `POST /auth/oauth/device`')),
    client_secret: Type.Optional(
      Text('krv_…', `For \`${clientCredentialsGrant}\` without Basic: the secret of the API key`),
    ),
    assertion: Type.Optional(
      Text('eyJhbGciOiJFZERTQSIsImtpZCI6IjE4…', 'A JWT: signed with the private key, or the identity token'),
    ),
    subject_token: Type.Optional(Text('eyJhbGciOiJSUzI1NiIsImtpZCI6…', 'For a token exchange: the identity token')),
    subject_token_type: Type.Optional(Text(tokenTypes.jwt, `For a token exchange. Or \`${tokenTypes.idToken}\``)),
    requested_token_type: Type.Optional(Text(tokenTypes.accessToken, 'This value, or absent')),
    actor_token: Absent('there is no delegation'),
    resource: Absent(fixedAudience),
    audience: Absent(fixedAudience),
    scope: Absent('a short-lived secret has the scopes of its API key'),
  },
  { $id: 'AssertionExchange' },
);
export type ExchangeBody = Static<typeof ExchangeBody>;

export const ExchangedSecret = Named('ShortLivedSecret', {
  access_token: Text(`${shortLivedSecretPrefix}_8sT2xUvN…`, 'The short-lived secret, for use like an API key'),
  issued_token_type: Type.Optional(Text(tokenTypes.accessToken, 'Of a token exchange (RFC 8693)')),
  token_type: Type.Literal('Bearer'),
  expires_in: Type.Integer({
    description:
      'Seconds; fewer if the identity token, the key, or the overlap of its public key or trust ends earlier',
    examples: [limits.shortLivedSecretSeconds],
  }),
  ...deviceKeyMembers,
});
export type ExchangedSecret = Static<typeof ExchangedSecret>;

/** RFC 6749 section 5.2, RFC 7009 section 2.2.1, RFC 8693 section 2.2.2. */
export const OAuthError = Named('OAuthError', {
  error: Type.Enum([
    'invalid_request',
    'invalid_client',
    'invalid_grant',
    'unsupported_grant_type',
    'invalid_scope',
    'invalid_target',
    'unsupported_token_type',
    ...deviceErrors,
  ]),
  error_description: Text('The assertion is malformed, expired, …'),
});
export type OAuthError = Static<typeof OAuthError>;

export const exchangeAssertion = route('exchangeAssertion', 'POST /auth/oauth/token', {
  tag: 'API keys',
  summary: 'Exchange an assertion, an identity token or the secret of an API key for a short-lived secret',
  description:
    'For API keys with a public key: RFC 7523 section 2.1. The JWT has the header `kid` and the claims `iss`, `sub`, `aud`, `iat`, `exp` and `jti`. Each works once. For API keys with a trust: RFC 7523 section 2.1 or RFC 8693, with the id of the key as `client_id`. For API keys with a secret: RFC 6749 section 4.4, with the id and the secret of the key as `client_id` and `client_secret`, or as Basic. For programs on devices: RFC 8628 section 3.4. A response with status 400 or 401 has the format of RFC 6749 section 5.2.',
  auth: 'none',
  body: { type: 'form', schema: ExchangeBody, bytesMax: limits.exchangeBodyBytesMax },
  success: {
    status: 200,
    description: 'A short-lived secret, or the API key of a program for its device code. No other response has it',
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
    'invalid_target',
    'too_many_exchanges',
    ...deviceErrors,
  ],
});
