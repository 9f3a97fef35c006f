/** Verification of credentials for proxies and backends. */
import Type, { type Static } from 'typebox';
import { refusals, type Refusal } from './refusals.ts';
import { limits } from './limits.ts';
import { Named } from './named.ts';
import { route } from './route.ts';
import { AccountId, Environment, Instant, keyExample, KeyId, orNull, Scope, Text } from './schemas.ts';

const CredentialText = Type.String({
  maxLength: limits.authorizationCharsMax,
  description: 'An API key or an access token',
  examples: [keyExample],
});

const Address = Type.String({
  maxLength: limits.cidrCharsMax,
  description: 'The IP address of the client that presents the credential, for keys that are limited to IP ranges',
  examples: ['203.0.113.7'],
});

const Scopes = Type.Array(Scope, {
  maxItems: limits.scopesPerKeyMax,
  description: 'The credential must have all of these scopes; an access token has none',
});

const AcceptedEnvironments = Type.Array(Environment, {
  minItems: 1,
  maxItems: limits.environmentsMax,
  description:
    'The environments that the request accepts. Default: the first one. An access token counts as the first one',
});

const Cost = Type.Integer({
  minimum: 0,
  maximum: limits.costMax,
  description:
    'Tokens that the verification spends from each limit of the key and its account; 0 only checks the limits. Default: 1',
  examples: [1],
});

export const VerifyBody = Named(
  'VerificationRequest',
  {
    credential: CredentialText,
    scopes: Type.Optional(Scopes),
    environments: Type.Optional(AcceptedEnvironments),
    address: Type.Optional(Address),
    cost: Type.Optional(Cost),
  },
  {
    // Without `environments`: an installation without environments rejects all names.
    examples: [{ credential: keyExample, scopes: ['orders:read'], address: '203.0.113.7', cost: 1 }],
  },
);
export type VerifyBody = Static<typeof VerifyBody>;

const batchOf = { minItems: 1, maxItems: limits.credentialsPerBatchMax };

export const VerifyBatchBody = Named(
  'VerificationBatchRequest',
  {
    credentials: Type.Optional(Type.Array(CredentialText, batchOf)),
    questions: Type.Optional(Type.Array(VerifyBody, batchOf)),
  },
  {
    minProperties: 1,
    maxProperties: 1,
    description: 'Either `credentials`, or `questions` with the members of a single verification',
    examples: [{ credentials: [keyExample] }],
  },
);
export type VerifyBatchBody = Static<typeof VerifyBatchBody>;

export const CredentialType = Type.Enum(['api_key', 'access_token'], { $id: 'CredentialType' });
export const Refusals = Type.Enum(Object.keys(refusals) as Refusal[], { $id: 'VerificationRefusal' });

/** The remaining tokens of a limit. A service can return them in RateLimit and RateLimit-Policy of its own response. */
export const RemainingLimit = Named('RemainingLimit', {
  policy: Text('key-quota', 'The name: `key-rate`, `key-quota`, `account-rate` or `account-quota`'),
  limit: Type.Integer({ format: 'int64', description: 'Tokens in a window or period', examples: [10_000] }),
  windowSeconds: Type.Optional(
    Type.Integer({
      description: 'For a quota per month, 30 days. Absent for a quota without an end',
      examples: [86_400],
    }),
  ),
  remaining: Type.Integer({ format: 'int64', minimum: 0, examples: [9_314] }),
  resetSeconds: Type.Optional(
    Type.Integer({
      description: 'Seconds until the limit is full again. Absent for a quota without an end',
      examples: [3_600],
    }),
  ),
});
export type RemainingLimit = Static<typeof RemainingLimit>;
const remainingLimits = Type.Optional(
  Type.Array(RemainingLimit, {
    description:
      'After this verification and those that were decided together with it. Absent if neither the key nor its account has limits, and in a rejection for another reason',
  }),
);

export const AcceptedCredential = Named(
  'ValidCredential',
  {
    valid: Type.Literal(true),
    type: CredentialType,
    accountId: AccountId,
    keyId: orNull(KeyId),
    nickname: orNull(Text('billing worker')),
    scopes: orNull(Type.Array(Text('orders:read'))),
    expiresAt: orNull(Instant, null),
    environment: Type.Optional(Text('live', 'Absent if the installation has no environments')),
    metadata: Type.Optional(
      Type.Object(
        {},
        {
          additionalProperties: true,
          description: 'Absent if the key has no metadata',
          examples: [{ customer: 'cus_182' }],
        },
      ),
    ),
    limits: remainingLimits,
  },
  { description: 'Fields that do not apply are null: an access token has no key, nickname or scopes' },
);
export const RefusedCredential = Named(
  'InvalidCredential',
  {
    valid: Type.Literal(false),
    code: Refusals,
    retryAfterSeconds: Type.Optional(
      Type.Integer({
        description: 'With `rate_limited` and `quota_exceeded`. Absent if the request can never succeed',
        examples: [30],
      }),
    ),
    resetsAt: Type.Optional(
      Type.String({
        format: 'date-time',
        description:
          'With `quota_exceeded`: when the next period of the quota starts. Absent if the request can never succeed',
        examples: ['2026-12-01T00:00:00.000Z'],
      }),
    ),
    limits: remainingLimits,
  },
  { examples: [{ valid: false, code: 'rate_limited', retryAfterSeconds: 30 }] },
);
export const VerifyResult = Type.Union([AcceptedCredential, RefusedCredential], { $id: 'VerificationResult' });
export type VerifyResult = Static<typeof VerifyResult>;

/** A batch item in the case in which a single verification returns 503. */
export const UnknownCredential = Named(
  'UnknownCredential',
  { valid: Type.Literal(false), code: Type.Literal('unavailable') },
  {
    description:
      'The server cannot determine whether the credential is valid, for example while the outcome of a deletion is unknown. Reject it now, and verify it again after a second',
  },
);
export const BatchResult = Type.Union([AcceptedCredential, RefusedCredential, UnknownCredential], {
  $id: 'VerificationBatchItem',
});
export type BatchResult = Static<typeof BatchResult>;

export const VerifyBatchResult = Named('VerificationBatchResult', { results: Type.Array(BatchResult) });

const byServiceKey = { tag: 'Verification', auth: 'service_key' } as const;

export const verify = route('verify', 'POST /auth/verify', {
  ...byServiceKey,
  summary: 'Verify one credential',
  description: 'For backends.',
  body: { type: 'json', schema: VerifyBody },
  success: { status: 200, description: 'The verification result', schema: VerifyResult },
});

export const verifyBatch = route('verifyBatch', 'POST /auth/verify/batch', {
  ...byServiceKey,
  summary: 'Verify many credentials in one round trip',
  description: `Up to ${limits.credentialsPerBatchMax} credentials; the results come in the same order. With \`questions\`, each entry can also contain required scopes and the client IP. Each credential has a result of its own: a malformed credential, or one that the server cannot verify now (\`unavailable\`), does not affect the others. The response is 503 if every result is \`unavailable\`.`,
  body: { type: 'json', schema: VerifyBatchBody, bytesMax: limits.batchBodyBytesMax },
  success: {
    status: 200,
    description: 'One result per credential, in order',
    schema: VerifyBatchResult,
  },
});

export const IntrospectBody = Type.Object(
  {
    token: Type.String({ minLength: 1, maxLength: limits.authorizationCharsMax, examples: [keyExample] }),
    token_type_hint: Type.Optional(Text('access_token', 'Ignored (RFC 7662 section 2.1)')),
  },
  { $id: 'IntrospectionRequest' },
);

export const Introspection = Named('Introspection', {
  active: Type.Boolean(),
  sub: Type.Optional(AccountId),
  scope: Type.Optional(Text('orders:read')),
  exp: Type.Optional(Type.Integer({ format: 'int64', description: 'Seconds since 1970', examples: [2085436800] })),
  iat: Type.Optional(Type.Integer({ format: 'int64', description: 'Seconds since 1970', examples: [1795253400] })),
  token_type: Type.Optional(CredentialType),
});
export type Introspection = Static<typeof Introspection>;

export const introspect = route('introspect', 'POST /auth/introspect', {
  ...byServiceKey,
  summary: 'Introspect a credential (RFC 7662)',
  description:
    'For RFC 7662 clients. Send the caller’s key as Bearer, X-API-Key, or Basic with the key’s id as user and the key as password. For a credential that is not valid, the response is only `{"active": false}`.',
  body: { type: 'form', schema: IntrospectBody },
  success: { status: 200, description: 'The state of the credential', schema: Introspection },
  errors: ['invalid_request'],
});

/** The code of a rejection by a limit that has the status 403 (`limited=403`). */
export const refusalHeader = 'X-Keyreeve-Refusal';

/**
 * The identity headers of `/auth/forward`. A 200 response has all of them, so a proxy overwrites headers of the client; that of
 * the environment only if the installation has environments.
 */
export const identityHeaders = {
  account: 'X-Keyreeve-Account',
  credential: 'X-Keyreeve-Credential',
  keyId: 'X-Keyreeve-Key-Id',
  nickname: 'X-Keyreeve-Nickname',
  scopes: 'X-Keyreeve-Scopes',
  environment: 'X-Keyreeve-Environment',
} as const;

export const forward = route('forward', 'GET /auth/forward', {
  tag: 'Verification',
  summary: 'Verify the credential of this request',
  description:
    'For proxies: nginx auth_request, Caddy forward_auth, Traefik ForwardAuth, HAProxy, Envoy ext_authz. Accepts any method except TRACE and CONNECT, and any path below /auth/forward/; ignores bodies. `?scope=a` (repeatable, or separated by spaces) requires scopes. `?cost=5` spends 5 tokens from each limit of the key and its account; of several, the largest applies, and the default is 1. `?environment=live` accepts only keys of this environment; of several different ones, none is accepted. With `?limited=403`, a rejection by a limit has the status 403 instead of 429, and its code in `X-Keyreeve-Refusal`, for proxies that do not pass on a 429. For a key that is limited to IP ranges, the client IP is the entry of X-Forwarded-For that `KEYREEVE_TRUSTED_PROXIES` identifies; other headers with a client IP are ignored.',
  auth: 'any_credential',
  query: Type.Object({
    scope: Type.Optional(Type.String({ examples: ['orders:read'] })),
    cost: Type.Optional(Type.Integer({ minimum: 1, maximum: limits.costMax, examples: [1] })),
    environment: Type.Optional(Type.String({ examples: ['live'] })),
    limited: Type.Optional(Type.Literal('403')),
  }),
  success: {
    status: 200,
    description:
      'The credential is valid. The body is empty. For a key with limits, the header `RateLimit` contains the remaining tokens. If the installation has environments, `X-Keyreeve-Environment` contains the name',
    headers: {
      [identityHeaders.account]: 'The account’s id',
      [identityHeaders.credential]: '`api_key` or `access_token`',
      [identityHeaders.keyId]: 'The key’s id; empty for an access token',
      [identityHeaders.nickname]: 'The key’s nickname in UTF-8, percent-encoded; empty for an access token',
      [identityHeaders.scopes]: 'The key’s scopes, separated by spaces; empty for an access token',
    },
  },
  errors: [
    'missing_credential',
    'invalid_credential',
    'ambiguous_credentials',
    'insufficient_scope',
    'wrong_environment',
    'address_unknown',
    'address_not_allowed',
    'rate_limited',
    'quota_exceeded',
    'invalid_request',
    'method_not_allowed',
  ],
});
