/**
 * Strict parsers of Basic credentials (RFC 7617): an email address and a password, the id and the text of an API key as client
 * id and client secret (RFC 6749 section 2.3.1), or an API key alone. Callers reject a malformed credential like a wrong one.
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

/** A user name without control characters, and a password in the characters of a Bearer credential. */
const keyPattern = /^([\x20-\x39\x3B-\x7E\x80-\xFF]*):([\x21-\x2B\x2D-\x7E]*)$/;
const userAsKeyPattern = /^[\x21-\x2B\x2D-\x7E]+$/;

/**
 * Bytes that are not UTF-8 are ISO-8859-1, in which several HTTP clients encode by default. Only one of the two readings is
 * verified, so a request costs one hash and counts as one attempt.
 * @param header the value of the request's only Authorization header
 * @returns undefined if it is malformed
 */
export function parseBasic(header: string): BasicCredential | undefined {
  const bytes = decodeBase64(header, limits.basicCharsMax);
  if (!bytes) return undefined;
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

/**
 * The API key of a client that has no other form for it: the password with any user name, or the user name with an empty
 * password. The user name beside a password has no effect.
 * @param header as in {@link parseBasic}
 * @returns undefined in any other form
 */
export function keyOfBasic(header: string): string | undefined {
  const text = decodeBase64(header, limits.authorizationCharsMax)?.toString('latin1') ?? '';
  const [, user = '', password = ''] = keyPattern.exec(text) ?? [];
  if (password !== '') return password;
  return userAsKeyPattern.test(user) ? user : undefined;
}

/**
 * The client of a token endpoint or of introspection. Clients form-encode both parts, or neither: an id and a key of our own are
 * the same in both forms. A percent sign with two hexadecimal digits is always an escape, and a plus sign never a space, which no
 * key contains.
 */
export function parseClient(header: string): { readonly id: string; readonly secret: string } | undefined {
  const basic = parseBasic(header);
  return basic && { id: formDecoded(basic.user), secret: formDecoded(basic.password.reveal()) };
}

function formDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function decodeBase64(header: string, charsMax: number): Buffer | undefined {
  if (header.length > limits.authorizationCharsMax) return undefined;
  const scheme = schemePattern.exec(header)?.[0];
  if (scheme === undefined) return undefined;
  const encoded = header.slice(scheme.length);
  if (encoded.length > charsMax || !base64Pattern.test(encoded)) return undefined;
  const bytes = Buffer.from(encoded, 'base64');
  // Non-zero padding bits would give one credential several encodings.
  return bytes.toString('base64') === encoded ? bytes : undefined;
}

function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
