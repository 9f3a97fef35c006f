/**
 * A strict parser of the Basic credential of `POST /auth/token` and of introspection (RFC 7617). Callers reject a malformed
 * credential like a wrong password.
 *
 * Bytes that are not UTF-8 are ISO-8859-1, in which several HTTP clients encode by default. Only one of the two readings is
 * verified, so a request costs one hash and counts as one attempt.
 */
import { limits } from '@keyreeve/contract';
import { Secret } from '../foundation/crypto/secret.ts';

export interface BasicCredential {
  readonly user: string;
  readonly password: Secret;
}

const schemePattern = /^basic +/i;
/** RFC 4648 base64 with its padding. */
const base64Pattern = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** @param header the value of the request's only Authorization header @returns undefined if it is malformed */
export function parseBasic(header: string): BasicCredential | undefined {
  if (header.length > limits.authorizationCharsMax) return undefined;
  const scheme = schemePattern.exec(header)?.[0];
  if (scheme === undefined) return undefined;
  const encoded = header.slice(scheme.length);
  if (encoded.length > limits.basicCharsMax || !base64Pattern.test(encoded)) return undefined;
  const bytes = Buffer.from(encoded, 'base64');
  // Non-zero padding bits would give one password several encodings.
  if (bytes.toString('base64') !== encoded) return undefined;
  const text = decodeUtf8(bytes) ?? bytes.toString('latin1');
  // RFC 7617 section 2 excludes control characters. In ISO-8859-1, they include the bytes 0x80 to 0x9F.
  if (/\p{Cc}/u.test(text)) return undefined;
  const colon = text.indexOf(':');
  const user = text.slice(0, colon);
  const password = text.slice(colon + 1);
  if (colon < 1 || password === '') return undefined;
  if (user.length > limits.emailCharsMax || Buffer.byteLength(password) > limits.passwordBytesMax) return undefined;
  return { user, password: new Secret(password) };
}

function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
