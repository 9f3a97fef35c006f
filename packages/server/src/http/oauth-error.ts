/** The error responses of OAuth endpoints (RFC 6749 section 5.2). */
import { OAuthError } from '@keyreeve/contract';
import type { ProblemResponse } from './problem.ts';
import type { RouteResponse } from './response.ts';

const codes: readonly string[] = OAuthError.properties.error.enum;
/** RFC 6749 excludes other characters from `error_description`. */
const excluded = /[^\x20-\x21\x23-\x5B\x5D-\x7E]/g;

export function toOAuthError({ status, headers, body: { code, detail, errors = [] } }: ProblemResponse): RouteResponse {
  const places = errors.map((error) => `${error.pointer.slice(1)}: ${error.detail}`);
  const error_description = (places.length > 0 ? places : [detail]).join(' ').replaceAll(excluded, "'");
  const body = { error: codes.includes(code) ? code : 'invalid_request', error_description };
  return { status, headers, body };
}

/**
 * A problem document for clients that read only `error`. Section 5.2 has no code for a service that cannot respond; those of section
 * 4.1.2.1 mean the same.
 */
export function withOAuthError({ body, ...problem }: ProblemResponse): ProblemResponse {
  const { status } = problem;
  const ofFailure = status === 503 || status === 429 ? 'temporarily_unavailable' : 'server_error';
  return { ...problem, body: { error: status === 429 || status >= 500 ? ofFailure : 'invalid_request', ...body } };
}
