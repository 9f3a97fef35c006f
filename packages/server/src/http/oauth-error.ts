/** The format of error responses of an OAuth token endpoint (RFC 6749 section 5.2). */
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
