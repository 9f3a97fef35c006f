/** The problem documents (RFC 9457) of guards: those of the service, without the id of its request. */
import type { RefusalCode, RefusedCredential, RemainingLimit, VerificationResult } from './verification-result.ts';

const problems = {
  missing_credential: {
    status: 401,
    title: 'A credential is required',
    detail: 'Send an API key or an access token as `Authorization: Bearer …`, or an API key as `X-API-Key: …`.',
  },
  invalid_credential: {
    status: 401,
    title: 'The credential is not valid',
    detail: 'The API key or access token is malformed, unknown, deleted, expired or disabled.',
  },
  ambiguous_credentials: {
    status: 401,
    title: 'The request carries more than one credential',
    detail: 'Send exactly one: one Authorization header or one X-API-Key header, with one value.',
  },
  insufficient_scope: {
    status: 403,
    title: 'The credential lacks a scope',
    detail:
      'The credential is valid, but it lacks a scope that this request needs. Add the scope to the key with PATCH /auth/api-keys/{id}, or use another key.',
  },
  address_unknown: {
    status: 403,
    title: 'The client IP is not known',
    detail:
      'The key is limited to IP ranges, and the request contains no client IP from a trusted proxy, or it is malformed. An operator sets KEYREEVE_TRUSTED_PROXIES.',
  },
  address_not_allowed: {
    status: 403,
    title: 'The key is not valid from this IP address',
    detail: 'The key is limited to IP ranges, and the client IP is outside them.',
  },
  wrong_environment: {
    status: 403,
    title: 'The key belongs to another environment',
    detail: 'The key is valid, but not in this environment: for example a test key in production.',
  },
  rate_limited: {
    status: 429,
    title: 'The rate limit is exceeded',
    detail:
      'A rate limit of the key or its account has too few tokens left. Wait for the seconds in Retry-After. Without Retry-After, the cost exceeds the burst.',
  },
  quota_exceeded: {
    status: 429,
    title: 'The quota is used up',
    detail:
      'A quota of the key or its account has too few tokens left. It starts again after the seconds in Retry-After. Without Retry-After, waiting does not help.',
  },
  unavailable: {
    status: 503,
    title: 'Keyreeve is unavailable',
    detail:
      'The database cannot be reached, or the instance is stopping. Keyreeve has no cache to answer from. Wait for the seconds in Retry-After.',
  },
} as const;

export type ProblemCode = keyof typeof problems;

/** The response to a request that is not let through. */
export interface Refusal {
  /** 401, 403, 429 or 503. */
  readonly status: number;
  /** Of the problem document, such as `missing_credential`. */
  readonly code: ProblemCode;
  /** All except Content-Length: of each refusal Content-Type and Cache-Control, of some WWW-Authenticate, Retry-After or the limits. */
  readonly headers: Readonly<Record<string, string>>;
  /** The problem document (RFC 9457) in JSON, for each method except HEAD. */
  readonly body: string;
}

const bearer = 'Bearer realm="keyreeve"';

/** RFC 6750 section 3. The challenge of a missing scope names all required scopes. */
const challenges: Partial<Record<ProblemCode, (scopes: readonly string[]) => string>> = {
  missing_credential: () => bearer,
  invalid_credential: () => `${bearer}, error="invalid_token"`,
  ambiguous_credentials: () => `${bearer}, error="invalid_request"`,
  insufficient_scope: (scopes) => `${bearer}, error="insufficient_scope", scope="${scopes.join(' ')}"`,
};

/** @param scopes that the guard requires */
export function problemResponse(
  code: ProblemCode,
  scopes: readonly string[] = [],
  more: Readonly<Record<string, string>> = {},
): Refusal {
  const challenge = challenges[code]?.(scopes);
  const { status, title, detail } = problems[code];
  return {
    status,
    code,
    headers: {
      'Content-Type': 'application/problem+json; charset=utf-8',
      'Cache-Control': 'no-store',
      ...(challenge === undefined ? {} : { 'WWW-Authenticate': challenge }),
      ...more,
    },
    body: JSON.stringify({ type: `/problems/${code}`, title, status, detail, code }),
  };
}

/** With a Basic challenge in a 401, the first one of the line: skopeo and Maven read no other. */
export function withBasic(refusal: Refusal): Refusal {
  const challenge = refusal.headers['WWW-Authenticate'];
  if (refusal.status !== 401 || challenge === undefined) return refusal;
  const both = `Basic realm="keyreeve", charset="UTF-8", ${challenge}`;
  return { ...refusal, headers: { ...refusal.headers, 'WWW-Authenticate': both } };
}

/** The service's answer is not known. */
export const unavailableResponse = (): Refusal => problemResponse('unavailable', [], { 'Retry-After': '1' });

/** 403 and 429 show that the credential is valid under other conditions; every other refused credential gets the same 401. */
export function refusalResponse(result: RefusedCredential, scopes: readonly string[]): Refusal {
  const code = result.code as RefusalCode;
  switch (code) {
    case 'insufficient_scope':
    case 'address_not_allowed':
    case 'wrong_environment':
      return problemResponse(code, scopes);
    case 'address_required':
      return problemResponse('address_unknown');
    case 'rate_limited':
    case 'quota_exceeded':
      return problemResponse(code, [], { ...retryAfter(result), ...limitFields(result) });
    default:
      return problemResponse('invalid_credential');
  }
}

const retryAfter = ({ retryAfterSeconds }: RefusedCredential): Record<string, string> =>
  retryAfterSeconds === undefined ? {} : { 'Retry-After': String(retryAfterSeconds) };

/** draft-ietf-httpapi-ratelimit-headers-11. Empty if neither the key nor its account has limits. */
export const limitFields = ({ limits }: VerificationResult): Record<string, string> =>
  limits === undefined ? {} : { 'RateLimit-Policy': policiesOf(limits), RateLimit: remainingOf(limits) };

const policiesOf = (limits: readonly RemainingLimit[]): string =>
  limits.map(({ policy, limit, windowSeconds }) => `"${policy}";q=${limit}${seconds('w', windowSeconds)}`).join(', ');

const remainingOf = (limits: readonly RemainingLimit[]): string =>
  limits
    .map(({ policy, remaining, resetSeconds }) => `"${policy}";r=${remaining}${seconds('t', resetSeconds)}`)
    .join(', ');

const seconds = (name: string, value: number | undefined): string => (value === undefined ? '' : `;${name}=${value}`);
