/** The one place where an error becomes an answer: RFC 9457, with the challenge that RFC 9110 asks of every 401. */
import { errors, scopePattern, type ErrorCode, type Problem } from '@keyreeve/contract';
import { DomainError } from '../foundation/errors.ts';

export interface ProblemAnswer {
  readonly status: number;
  readonly headers: readonly string[];
  readonly body: Problem;
}

const bearer = 'Bearer realm="keyreeve"';

/** Every code with status 401, and 403 for a scope (RFC 6750 section 3; RFC 7617 section 2). */
const challenges: Partial<Record<ErrorCode, string>> = {
  // The password was right: the same challenge, so that a client knows where the code goes.
  second_factor_required: 'Basic realm="keyreeve", charset="UTF-8"',
  second_factor_invalid: 'Basic realm="keyreeve", charset="UTF-8"',
  invalid_credentials: 'Basic realm="keyreeve", charset="UTF-8"',
  missing_access_token: bearer,
  invalid_access_token: `${bearer}, error="invalid_token"`,
  // Without error="invalid_token": the token is good, and a client that refreshes and tries again would never stop.
  not_key_owner: bearer,
  invalid_refresh_token: bearer,
  refresh_token_reused: bearer,
  missing_credential: bearer,
  invalid_credential: `${bearer}, error="invalid_token"`,
  ambiguous_credentials: `${bearer}, error="invalid_request"`,
  // RFC 7662 clients authenticate with Basic as well (RFC 6749 section 5.2).
  invalid_service_key: `${bearer}, Basic realm="keyreeve", charset="UTF-8"`,
};

export function toProblem(error: unknown, requestId: string): ProblemAnswer {
  const known = error instanceof DomainError ? error : new DomainError('internal_error', { cause: error });
  const { code, options } = known;
  const { status, title } = errors[code];
  return {
    status,
    headers: headersOf(known),
    body: {
      type: `/problems/${code}`,
      title,
      status,
      detail: detailOf(known),
      code,
      requestId,
      ...(options.errors ? { errors: [...options.errors] } : {}),
    },
  };
}

function headersOf({ code, options }: DomainError): string[] {
  const { retryAfterSeconds, rate, scopes, allowed } = options;
  const headers: string[] = [];
  const challenge = code === 'insufficient_scope' ? scopeChallenge(scopes ?? []) : challenges[code];
  if (challenge !== undefined) headers.push('WWW-Authenticate', challenge);
  // RFC 9110 section 15.5.6: a 405 always has it.
  if (allowed) headers.push('Allow', allowed.join(', '));
  if (retryAfterSeconds !== undefined) headers.push('Retry-After', String(retryAfterSeconds));
  if (rate) {
    // draft-ietf-httpapi-ratelimit-headers: what is left, and seconds until there is more.
    headers.push('RateLimit-Policy', `"${rate.policy}";q=${rate.quota};w=${rate.windowSeconds}`);
    headers.push('RateLimit', `"${rate.policy}";r=0;t=${retryAfterSeconds ?? rate.windowSeconds}`);
  }
  return headers;
}

/** In words what a header says for programs: the methods of a 405, and the scopes that a 403 is about. */
function detailOf({ code, message, options: { detail, missing = [], allowed } }: DomainError): string {
  if (detail !== undefined) return message;
  if (code === 'method_not_allowed' && allowed) return `This URL accepts ${listed(allowed)}.`;
  const named = safeOnes(missing);
  if (code !== 'insufficient_scope' || named.length === 0) return message;
  return `The credential is valid but lacks the scope${named.length === 1 ? '' : 's'} ${named.map((scope) => `\`${scope}\``).join(', ')}.`;
}

const listed = (names: readonly string[]): string => new Intl.ListFormat('en').format(names);

/** Scopes come from a query, so only what the grammar allows is echoed. */
const safeOnes = (scopes: readonly string[]): string[] => scopes.filter((scope) => scopePattern.test(scope));

/** All that are needed (RFC 6750 section 3). */
const scopeChallenge = (scopes: readonly string[]): string =>
  `${bearer}, error="insufficient_scope", scope="${safeOnes(scopes).join(' ')}"`;
