/** Sign-in, refresh, sign-out, public keys and discovery. */
import Type, { type Static } from 'typebox';
import { limits } from './limits.ts';
import { Named } from './named.ts';
import { route } from './route.ts';
import { Text } from './schemas.ts';
import { jwtBearerGrant } from './token-exchange.ts';
import { oneTimePasswordHeader } from './second-factor.ts';

/** For the responses with public keys and discovery. */
export const discoveryCacheControl = `public, max-age=${limits.jwksMaxAgeSeconds}`;

export const TokenPair = Named('TokenPair', {
  accessToken: Text('eyJhbGciOiJFZERTQSJ9…', 'A JWT (RFC 9068), valid for 10 minutes unless configured otherwise'),
  refreshToken: Text(
    'krvr_8sT2xUvN…',
    `Opaque; replaced at every use that is ${limits.refreshReuseSeconds} seconds or more after it was issued`,
  ),
});
export type TokenPair = Static<typeof TokenPair>;

export const RefreshTokenBody = Named('RefreshTokenRequest', {
  refreshToken: Type.String({ minLength: 1, maxLength: 512, examples: ['krvr_8sT2xUvN…'] }),
});
export type RefreshTokenBody = Static<typeof RefreshTokenBody>;

export const issueTokens = route('issueTokens', 'POST /auth/token', {
  tag: 'Tokens',
  summary: 'Exchange email and password for tokens',
  description:
    'Starts a session. The Authorization header is `Basic base64("<email>:<password>")` in UTF-8 (RFC 7617); bytes that are not UTF-8 are read as ISO-8859-1. A body is ignored. The response and its time are the same for a wrong email and a wrong password. An account with a second factor needs its code, or a recovery code, in the header `X-Keyreeve-OTP`; it is checked only after a correct password.',
  auth: 'password',
  headers: Type.Object({
    [oneTimePasswordHeader]: Type.Optional(
      Type.String({ description: 'The six digits of the second factor, or a recovery code', examples: ['492039'] }),
    ),
  }),
  success: { status: 200, description: 'A new session’s tokens', schema: TokenPair },
  errors: ['invalid_credentials', 'second_factor_required', 'second_factor_invalid', 'too_many_attempts', 'overloaded'],
});

export const refreshTokens = route('refreshTokens', 'POST /auth/token/refresh', {
  tag: 'Tokens',
  summary: 'Exchange a refresh token for a new pair',
  description: `The refresh token is replaced. For 30 seconds (\`KEYREEVE_REFRESH_GRACE_SECONDS\`) a replaced token returns the same successor, for retries and second tabs; after a 503 or a lost response, a retry succeeds until ${limits.unansweredRefreshSeconds / 60} minutes after the database answers again. Any other use of a replaced token ends the session. A token that was issued less than ${limits.refreshReuseSeconds} seconds ago is returned unchanged, with a new access token.`,
  auth: 'refresh_token',
  body: { type: 'json', schema: RefreshTokenBody },
  success: { status: 200, description: 'The session’s next tokens', schema: TokenPair },
  errors: ['invalid_refresh_token', 'refresh_token_reused'],
});

export const revokeTokens = route('revokeTokens', 'POST /auth/token/revoke', {
  tag: 'Tokens',
  summary: 'Sign out',
  description:
    'Ends the session of the refresh token: Keyreeve immediately rejects its access tokens. The response is the same for an unknown token and an ended session.',
  auth: 'refresh_token',
  body: { type: 'json', schema: RefreshTokenBody },
  isNarrowing: true,
  success: { status: 204, description: 'The session has ended' },
});

const exampleKey = { kty: 'OKP', kid: 'nR3kq0Zb', alg: 'EdDSA', use: 'sig', crv: 'Ed25519', x: '11qYAYKxCrfV…' };
/** RFC 7517 section 4. `kty` determines the optional members. */
export const Jwk = Named(
  'JsonWebKey',
  {
    kty: Type.String(),
    kid: Type.String(),
    alg: Type.String(),
    use: Type.Literal('sig'),
    crv: Type.Optional(Type.String()),
    x: Type.Optional(Type.String()),
    y: Type.Optional(Type.String()),
    n: Type.Optional(Type.String()),
    e: Type.Optional(Type.String()),
  },
  { examples: [exampleKey] },
);
export const Jwks = Named('JsonWebKeySet', { keys: Type.Array(Jwk) });
export type Jwks = Static<typeof Jwks>;

export const getJwks = route('getJwks', 'GET /.well-known/jwks.json', {
  tag: 'Tokens',
  summary: 'Get the public keys of access tokens',
  description:
    'RFC 7517. A service that verifies access tokens with these keys accepts them until they expire, also after a sign-out; to avoid that, call /auth/verify or /auth/introspect.',
  auth: 'none',
  success: {
    status: 200,
    description: 'Public keys only',
    schema: Jwks,
    headers: { 'Cache-Control': discoveryCacheControl },
    isFixed: true,
  },
});

export const Metadata = Named('ServerMetadata', {
  issuer: Text('https://auth.example.com'),
  token_endpoint: Text('https://auth.example.com/auth/oauth/token'),
  token_endpoint_auth_methods_supported: Type.Array(Text('client_secret_basic')),
  device_authorization_endpoint: Type.Optional(
    Text('https://auth.example.com/auth/oauth/device', 'RFC 8628 section 4. Absent without the console'),
  ),
  revocation_endpoint: Text('https://auth.example.com/auth/oauth/revoke', 'RFC 7009'),
  revocation_endpoint_auth_methods_supported: Type.Array(Text('none')),
  jwks_uri: Text('https://auth.example.com/.well-known/jwks.json'),
  introspection_endpoint: Text('https://auth.example.com/auth/introspect'),
  introspection_endpoint_auth_methods_supported: Type.Array(Text('client_secret_basic')),
  response_types_supported: Type.Array(Type.String(), { examples: [[]] }),
  grant_types_supported: Type.Array(Text(jwtBearerGrant)),
  service_documentation: Type.Optional(Text('https://auth.example.com/docs')),
});
export type Metadata = Static<typeof Metadata>;

export const getMetadata = route('getMetadata', 'GET /.well-known/oauth-authorization-server', {
  tag: 'Tokens',
  summary: 'Get the server metadata',
  description:
    'RFC 8414: issuer, token endpoint, public keys and introspection. The grants are those of API keys with a public key (RFC 7523), a trust (RFC 7523, RFC 8693) or a secret (RFC 6749 section 4.4), and of programs on devices (RFC 8628).',
  auth: 'none',
  success: {
    status: 200,
    description: 'Metadata',
    schema: Metadata,
    headers: { 'Cache-Control': discoveryCacheControl },
    isFixed: true,
  },
});
