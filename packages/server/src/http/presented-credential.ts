/**
 * The one credential that a request carries in `Authorization: Bearer` or `X-API-Key`. Read from the raw headers,
 * because Node keeps only the first of two Authorization lines and a proxy in front may have used the other.
 */
import { limits } from '@keyreeve/contract';

export type PresentedCredential =
  | { readonly kind: 'none' | 'ambiguous' | 'malformed' }
  | { readonly kind: 'bearer' | 'api_key_header'; readonly text: string }
  /** Basic is accepted by introspection only. */
  | { readonly kind: 'basic'; readonly header: string };

const bearerPattern = /^bearer +([\x21-\x2B\x2D-\x7E]+) *$/i;
const basicPattern = /^basic +/i;

const none: PresentedCredential = { kind: 'none' };
const ambiguous: PresentedCredential = { kind: 'ambiguous' };
const malformed: PresentedCredential = { kind: 'malformed' };

/** @param rawHeaders names and values in turn, as `IncomingMessage.rawHeaders` has them */
export function presentedCredential(rawHeaders: readonly string[]): PresentedCredential {
  let authorization: string | undefined;
  let apiKey: string | undefined;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? '';
    // The lengths of "authorization" and "x-api-key": most headers are passed over without being copied.
    if (name.length === 13 && name.toLowerCase() === 'authorization') {
      if (authorization !== undefined) return ambiguous;
      authorization = rawHeaders[i + 1] ?? '';
    } else if (name.length === 9 && name.toLowerCase() === 'x-api-key') {
      if (apiKey !== undefined) return ambiguous;
      apiKey = rawHeaders[i + 1] ?? '';
    }
  }
  if (authorization !== undefined) return apiKey === undefined ? readAuthorization(authorization) : ambiguous;
  return apiKey === undefined ? none : readApiKey(apiKey);
}

function readAuthorization(value: string): PresentedCredential {
  if (value.length > limits.authorizationCharsMax) return malformed;
  if (value.includes(',')) return ambiguous;
  const text = bearerPattern.exec(value)?.[1];
  if (text !== undefined) return { kind: 'bearer', text };
  return basicPattern.test(value) ? { kind: 'basic', header: value } : malformed;
}

function readApiKey(value: string): PresentedCredential {
  if (value.length > limits.authorizationCharsMax) return malformed;
  if (value.includes(',')) return ambiguous;
  return value === '' || value.includes(' ') ? malformed : { kind: 'api_key_header', text: value };
}
