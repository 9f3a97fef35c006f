/** Converts errors into problem documents (RFC 9457), with the challenge that RFC 9110 requires of every 401 response. */
import { errors, refusalHeader, scopePattern, type ErrorCode, type Problem } from '@keyreeve/contract';
import { DomainError } from '../foundation/errors.ts';
import { rateLimitFields } from './rate-limit-fields.ts';

export interface ProblemResponse {
  readonly status: number;
  readonly headers: readonly string[];
  readonly body: Problem;
}

const bearer = 'Bearer realm="keyreeve"';
const basic = 'Basic realm="keyreeve", charset="UTF-8"';

/** Challenges of the codes with status 401 (RFC 6750 section 3; RFC 7617 section 2). */
const challenges: Partial<Record<ErrorCode, string>> = {
  // The password was right. The challenge tells the client to send it again together with the one-time code.
  second_factor_required: basic,
  second_factor_invalid: basic,
  invalid_credentials: basic,
  // No scheme is registered for WebAuthn.
  passkey_rejected: 'WebAuthn realm="keyreeve"',
  invalid_signature: 'Github-Public-Key-Signature realm="keyreeve"',
  missing_access_token: bearer,
  invalid_access_token: `${bearer}, error="invalid_token"`,
  // Without error="invalid_token": the token is valid, and a client that refreshes it would retry forever.
  not_key_owner: bearer,
  invalid_refresh_token: bearer,
  refresh_token_reused: bearer,
  missing_credential: bearer,
  invalid_credential: `${bearer}, error="invalid_token"`,
  portal_token_invalid: bearer,
  portal_session_ended: `${bearer}, error="invalid_token"`,
  ambiguous_credentials: `${bearer}, error="invalid_request"`,
  invalid_management_key: `${bearer}, error="invalid_token"`,
  // RFC 6749 section 5.2.
  invalid_client: basic,
  // RFC 7662 clients authenticate with Basic as well.
  invalid_service_key: `${bearer}, ${basic}`,
};

export function toProblem(error: unknown, requestId: string, traceId?: string): ProblemResponse {
  const domainError = error instanceof DomainError ? error : new DomainError('internal_error', { cause: error });
  const { code, options } = domainError;
  const { title } = errors[code];
  const status = options.isForbidden ? 403 : errors[code].status;
  return {
    status,
    headers: headersOf(domainError),
    body: {
      type: `/problems/${code}`,
      title,
      status,
      detail: detailOf(domainError),
      code,
      requestId,
      ...(traceId === undefined ? {} : { traceId }),
      ...(options.errors ? { errors: options.errors.map((field) => ({ code: 'invalid', ...field }) as const) } : {}),
      ...(options.methods ? { methods: [...options.methods] } : {}),
      ...(options.passkey ? { passkey: options.passkey } : {}),
      ...(options.oauthError ? { error: options.oauthError } : {}),
    },
  };
}

/**
 * Without the challenge, for a request of the console: a browser would show its own dialog for Basic. Such a request cannot
 * use the scheme of a challenge, because only the cookie is its credential.
 */
export const withoutChallenge = ({ headers, ...problem }: ProblemResponse): ProblemResponse => ({
  ...problem,
  headers: headers.flatMap((text, index) => (headers[index - (index % 2)] === 'WWW-Authenticate' ? [] : [text])),
});

function headersOf({ code, options }: DomainError): string[] {
  const { retryAfterSeconds, rate, rateLimits, isForbidden, offersBasic, scopes, allowed } = options;
  const headers: string[] = [];
  const challenge = code === 'insufficient_scope' ? scopeChallenge(scopes ?? []) : challenges[code];
  // One line, and Basic first: skopeo and Maven read only the first challenge of a line, and some proxies only the first line.
  if (challenge !== undefined) headers.push('WWW-Authenticate', offersBasic ? `${basic}, ${challenge}` : challenge);
  // RFC 9110 section 15.5.6 requires it of a 405 response.
  if (allowed) headers.push('Allow', allowed.join(', '));
  if (retryAfterSeconds !== undefined) headers.push('Retry-After', String(retryAfterSeconds));
  if (rate)
    headers.push(
      ...rateLimitFields([{ ...rate, remaining: 0, resetSeconds: retryAfterSeconds ?? rate.windowSeconds }]),
    );
  if (rateLimits) headers.push(...rateLimitFields(rateLimits));
  if (isForbidden) headers.push(refusalHeader, code);
  return headers;
}

/** Adds the allowed methods of a 405 response and the missing scopes of a 403 response to the text. */
function detailOf({ code, message, options: { detail, missing = [], allowed } }: DomainError): string {
  if (detail !== undefined) return message;
  if (code === 'method_not_allowed' && allowed) return `This URL accepts ${listed(allowed)}.`;
  const named = wellFormed(missing);
  if (code !== 'insufficient_scope' || named.length === 0) return message;
  return `The credential is valid but lacks the scope${named.length === 1 ? '' : 's'} ${named.map((scope) => `\`${scope}\``).join(', ')}.`;
}

const listed = (names: readonly string[]): string => new Intl.ListFormat('en').format(names);

/** Scopes come from a query, so the response repeats only those that the grammar allows. */
const wellFormed = (scopes: readonly string[]): string[] => scopes.filter((scope) => scopePattern.test(scope));

/** Names all required scopes (RFC 6750 section 3). */
const scopeChallenge = (scopes: readonly string[]): string =>
  `${bearer}, error="insufficient_scope", scope="${wellFormed(scopes).join(' ')}"`;
