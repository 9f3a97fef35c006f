/**
 * The session cookie of the console. Its text contains the session and a secret:
 *
 *     krvs_ base62( session (16 bytes) | secret (32) ) checksum
 *
 * The database contains only its keyed hash. The name has the prefix `__Host-` (RFC 6265bis section 4.1.3.2) if the
 * console's origin is https: no sibling subdomain can then set it. Over http, only a cookie without `Secure` is stored.
 */
import { randomBytes } from 'node:crypto';
import { checksumChars, consoleSessionBodyChars, consoleSessionPrefix } from '@keyreeve/contract';
import type { KeyedHash } from '../../foundation/crypto/keyed-hash.ts';
import { checksum, fromBase62, Secret, toBase62 } from '../../foundation/crypto/secret.ts';
import { sessionBytes, sessionBytesOf, sessionId } from '../tokens/refresh-token.ts';

const secretBytes = 32;
const bodyBytes = sessionBytes + secretBytes;
const prefixChars = consoleSessionPrefix.length + 1;
const bodyEnd = prefixChars + consoleSessionBodyChars;

export interface ConsoleSecret {
  readonly sessionId: string;
  /** Stored instead of the text: 33 bytes. */
  readonly hash: Buffer;
}

export interface NewConsoleSecret extends ConsoleSecret {
  readonly text: Secret;
}

export class SessionCookie {
  readonly name: string;
  readonly #hash: KeyedHash;
  readonly #attributes: string;

  /** @param origin of the console */
  constructor(hash: KeyedHash, origin: string) {
    const isHttps = origin.startsWith('https:');
    this.#hash = hash;
    this.name = isHttps ? '__Host-kr_s' : 'kr_s';
    this.#attributes = `Path=/;${isHttps ? ' Secure;' : ''} HttpOnly; SameSite=Strict`;
  }

  /** For a new session. */
  make(): NewConsoleSecret {
    return this.#make(randomBytes(sessionBytes));
  }

  /** Replaces the secret of a session. */
  makeFor(id: string): NewConsoleSecret {
    const session = sessionBytesOf(id);
    if (!session) throw new Error('an authenticated session has an id');
    return this.#make(session);
  }

  #make(session: Buffer): NewConsoleSecret {
    const body = toBase62(Buffer.concat([session, randomBytes(secretBytes)]), consoleSessionBodyChars);
    const unchecked = `${consoleSessionPrefix}_${body}`;
    const text = unchecked + checksum(unchecked);
    return { text: new Secret(text), sessionId: sessionId(session), hash: this.#hash.stored(text) };
  }

  /** @returns undefined for text of another format */
  parse(text: string): ConsoleSecret | undefined {
    const body = bodyOf(text);
    return body && { sessionId: sessionId(body.subarray(0, sessionBytes)), hash: this.#hash.stored(text) };
  }

  /**
   * A value of Set-Cookie. Without an expiry: the browser deletes the cookie when it is closed, and the server ends the
   * session in any case.
   */
  set(text: Secret): string {
    return `${this.name}=${text.reveal()}; ${this.#attributes}`;
  }

  /** A value of Set-Cookie that deletes the cookie. */
  get expired(): string {
    return `${this.name}=; ${this.#attributes}; Max-Age=0`;
  }

  /** All values of the cookie. @param rawHeaders alternating names and values, as in `IncomingMessage.rawHeaders` */
  valuesIn(rawHeaders: readonly string[]): string[] {
    const fields = rawHeaders.filter(
      (_, index) => index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === 'cookie',
    );
    return fields.flatMap((field) => cookieValues(field, this.name));
  }
}

/** All values of a cookie. @param field of the header Cookie */
export const cookieValues = (field: string, name: string): string[] =>
  field
    .split(';')
    .map(withoutWhitespace)
    .filter((pair) => pair.startsWith(`${name}=`))
    .map((pair) => pair.slice(name.length + 1));

/**
 * Removes spaces and tabs at both ends, as browsers do. `trim` would also remove U+00A0, which browsers accept in names: a
 * sibling subdomain could then set a cookie for all subdomains whose name becomes one with the prefix `__Host-`.
 */
function withoutWhitespace(text: string): string {
  const isWhitespace = (index: number): boolean => text[index] === ' ' || text[index] === '\t';
  let [start, end] = [0, text.length];
  while (start < end && isWhitespace(start)) start++;
  while (end > start && isWhitespace(end - 1)) end--;
  return text.slice(start, end);
}

/** @returns undefined for text of another format */
function bodyOf(text: string): Buffer | undefined {
  if (text.length !== bodyEnd + checksumChars || !text.startsWith(`${consoleSessionPrefix}_`)) return undefined;
  if (text.slice(bodyEnd) !== checksum(text.slice(0, bodyEnd))) return undefined;
  return fromBase62(text.slice(prefixChars, bodyEnd), bodyBytes);
}
