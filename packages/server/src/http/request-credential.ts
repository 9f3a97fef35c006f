/**
 * The credential of a request in `Authorization` or `X-API-Key`. It is read from the raw headers: Node keeps only the first
 * of two Authorization fields, and a proxy may have used the other. An empty or blank field is no credential: some clients
 * send the header of a credential that they do not have.
 */
import { limits } from '@keyreeve/contract';

export type RequestCredential =
  | { readonly kind: 'none' | 'ambiguous' | 'malformed' }
  | { readonly kind: 'bearer' | 'api_key_header'; readonly text: string }
  /** For sign-ins, clients of the token endpoint and of introspection, and, if the operator permits it, `/auth/forward`. */
  | { readonly kind: 'basic'; readonly header: string };

const bearerPattern = /^bearer +([\x21-\x2B\x2D-\x7E]+) *$/i;
const basicPattern = /^basic +/i;

/** Whether the value of a field has only optional whitespace (RFC 9110 section 5.6.3). */
export const isBlank = (value: string): boolean => /^[\t ]*$/.test(value);

const none: RequestCredential = { kind: 'none' };
const ambiguous: RequestCredential = { kind: 'ambiguous' };
const malformed: RequestCredential = { kind: 'malformed' };

/** @param rawHeaders alternating names and values, as in `IncomingMessage.rawHeaders` */
export function credentialOf(rawHeaders: readonly string[]): RequestCredential {
  let authorization: string | undefined;
  let apiKey: string | undefined;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? '';
    // The lengths of "authorization" and "x-api-key": most other names are skipped without a copy.
    if (name.length === 13 && name.toLowerCase() === 'authorization') {
      const value = rawHeaders[i + 1] ?? '';
      if (isBlank(value)) continue;
      if (authorization !== undefined) return ambiguous;
      authorization = value;
    } else if (name.length === 9 && name.toLowerCase() === 'x-api-key') {
      const value = rawHeaders[i + 1] ?? '';
      if (isBlank(value)) continue;
      if (apiKey !== undefined) return ambiguous;
      apiKey = value;
    }
  }
  if (authorization !== undefined) return apiKey === undefined ? readAuthorization(authorization) : ambiguous;
  return apiKey === undefined ? none : readApiKey(apiKey);
}

function readAuthorization(value: string): RequestCredential {
  if (value.length > limits.authorizationCharsMax) return malformed;
  if (value.includes(',')) return ambiguous;
  const text = bearerPattern.exec(value)?.[1];
  if (text !== undefined) return { kind: 'bearer', text };
  return basicPattern.test(value) ? { kind: 'basic', header: value } : malformed;
}

function readApiKey(value: string): RequestCredential {
  if (value.length > limits.authorizationCharsMax) return malformed;
  if (value.includes(',')) return ambiguous;
  return value.includes(' ') ? malformed : { kind: 'api_key_header', text: value };
}
