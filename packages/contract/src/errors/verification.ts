/** Errors of verifications of credentials. Part of the registry in ../errors.ts. */
import type { ErrorDefinition } from './definition.ts';

export const verificationErrors = {
  missing_credential: {
    status: 401,
    title: 'A credential is required',
    meaning: 'Send an API key or an access token as `Authorization: Bearer …`, or an API key as `X-API-Key: …`.',
    cause: 'The request, or the request that the proxy forwarded, has no credential.',
    fix: 'Send an API key or an access token as `Authorization: Bearer …`, or an API key as `X-API-Key: …`.',
  },
  invalid_credential: {
    status: 401,
    title: 'The credential is not valid',
    meaning: 'The API key or access token is malformed, unknown, deleted, expired or disabled.',
    cause:
      'The API key or access token is malformed, unknown, deleted, disabled or expired, or its account is disabled. A previous secret of a rotated key is invalid from the end of the overlap.',
    fix: 'Check that the credential is complete and, after a rotation, that it is the newest secret. The owner reads the state of a key with `GET /auth/api-keys/{id}`. If the key was deleted, create another one.',
  },
  invalid_service_key: {
    status: 401,
    title: 'The calling service is not authenticated',
    meaning:
      'Send an API key of the calling service that is valid (not disabled, expired or used from outside its IP ranges) and has the scope `keyreeve:verify`, as Bearer or X-API-Key; for introspection also as Basic, with the id of the key as user.',
    cause:
      'The caller of a verification endpoint presented no API key of its own, or one that is not valid: it is unknown, deleted, disabled or expired, or the caller is outside its IP ranges. The routes of canary keys accept only a credential of `keyreeve prove-revocation credential`.',
    fix: 'Send an API key that is valid and has the scope `keyreeve:verify` in the Authorization header (for introspection with Basic, with the id of the key as user); send the credential to verify in the body. If the key is limited to IP ranges, send the request from one of them; behind a proxy, set `KEYREEVE_TRUSTED_PROXIES`.',
  },
  insufficient_scope: {
    status: 403,
    title: 'The credential lacks a scope',
    meaning:
      'The credential is valid, but it lacks a scope that this request needs. Add the scope to the key with PATCH /auth/api-keys/{id}, or use another key.',
    cause: 'The credential is valid but lacks a scope that this request needs.',
    fix: 'Use a key that has the scope named in the `WWW-Authenticate` header, or add the scope to the key with `PATCH /auth/api-keys/{id}`. An administrator or an operator grants `keyreeve:verify`.',
  },
  wrong_environment: {
    status: 403,
    title: 'The key belongs to another environment',
    meaning: 'The key is valid, but not in this environment: for example a test key in production.',
    cause: 'The key belongs to an environment that this URL does not accept, such as `test`.',
    fix: 'Use a key of the right environment. Its prefix shows the environment.',
  },
  address_unknown: {
    status: 403,
    title: 'The client IP is not known',
    meaning:
      'The key is limited to IP ranges, and the request contains no client IP from a trusted proxy, or it is malformed. An operator sets KEYREEVE_TRUSTED_PROXIES.',
    cause:
      'The key is limited to IP ranges, but the proxy is not trusted, or `X-Forwarded-For` is missing or has an entry that is not a bare IP address, for example with a port or brackets.',
    fix: 'Set `KEYREEVE_TRUSTED_PROXIES` to the IP address of the proxy, and use the proxy file of the documentation, which forwards the client IP.',
  },
  address_not_allowed: {
    status: 403,
    title: 'The key is not valid from this IP address',
    meaning: 'The key is limited to IP ranges, and the client IP is outside them.',
    cause: 'The key is limited to IP ranges, and the client IP is outside them.',
    fix: 'Send the request from an allowed IP address, or change `addresses` with `PATCH /auth/api-keys/{id}`.',
  },
  rate_limited: {
    status: 429,
    title: 'The rate limit is exceeded',
    meaning:
      'A rate limit of the key or its account has too few tokens left. Wait for the seconds in Retry-After. Without Retry-After, the cost exceeds the burst.',
    cause: 'The verifications of the key, or of all keys of its account together, exceeded a rate limit.',
    fix: 'Wait for the seconds in `Retry-After`. The owner changes the rate limit of a key with `PATCH /auth/api-keys/{id}`; an administrator changes that of an account. Without `Retry-After`, the cost of the request exceeds the burst.',
  },
  quota_exceeded: {
    status: 429,
    title: 'The quota is used up',
    meaning:
      'A quota of the key or its account has too few tokens left. It starts again after the seconds in Retry-After. Without Retry-After, waiting does not help.',
    cause:
      'The verifications of the key, or of all keys of its account together, used up a quota per day, per month or in total.',
    fix: 'Wait for the seconds in `Retry-After`: then the next period starts. Without the header, waiting does not help. The owner changes the quota of a key with `PATCH /auth/api-keys/{id}`; an administrator changes that of an account.',
  },
} as const satisfies Record<string, ErrorDefinition>;
