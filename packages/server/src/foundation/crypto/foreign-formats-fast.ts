/** Formats of SHA-1 and SHA-2 with few rounds or none. An import accepts them only on request. */
import { base64, hex } from './foreign-encodings.ts';
import type { ForeignFormat, ParsedHash } from './foreign-format.ts';
import { ForeignHashError } from './foreign-hash.ts';

const digestBytesOf = { sha1: 20, sha256: 32, sha384: 48, sha512: 64 } as const;
type Sha = keyof typeof digestBytesOf;

const saltLast = 0;
const saltFirst = 1;
/** Of Spring's StandardPasswordEncoder. */
const springSaltBytes = 8;
const springRounds = 1_024;

/** @param number as in the name of an LDAP scheme: none is SHA-1 */
const shaOf = (number: string | undefined): Sha => `sha${number ?? '1'}` as Sha;

function sha(scheme: Sha, digest: Buffer, salt: Buffer, order: number): ParsedHash {
  const bytes = digestBytesOf[scheme];
  if (digest.length !== bytes) throw new ForeignHashError(`its digest has ${digest.length} bytes, not ${bytes}`);
  return { scheme, parameters: { i: 1, o: order }, salt, digest };
}

/** Templates of Ory Kratos. */
const orders: Readonly<Record<string, number>> = { '{PASSWORD}{SALT}': saltLast, '{SALT}{PASSWORD}': saltFirst };

export const fastFormats: readonly ForeignFormat[] = [
  {
    // Spring's StandardPasswordEncoder.
    pattern: /^\{sha256\}([0-9a-f]{80})$/,
    read: ([text = '']) => {
      const bytes = hex(text);
      const salt = bytes.subarray(0, springSaltBytes);
      const parsed = sha('sha256', bytes.subarray(springSaltBytes), salt, saltFirst);
      return { ...parsed, parameters: { ...parsed.parameters, i: springRounds } };
    },
  },
  {
    // Spring's MessageDigestPasswordEncoder: the braces are a part of the salt.
    pattern: /^\{SHA-?(1|256|384|512)\}(\{[^{}]{0,128}\})?((?:[0-9a-f]{2}){20,64})$/i,
    read: ([number, salt = '', digest = '']) => sha(shaOf(number), hex(digest), Buffer.from(salt), saltLast),
  },
  {
    // RFC 2307 and web servers, without a salt.
    pattern: /^\{SHA-?(1|256|384|512)?\}([A-Za-z0-9+/]+={0,2})$/i,
    read: ([number, digest = '']) => sha(shaOf(number), base64(digest), Buffer.of(), saltLast),
  },
  {
    // LDAP directories: the salt follows the digest.
    pattern: /^\{SSHA-?(1|256|384|512)?\}([A-Za-z0-9+/]+={0,2})$/i,
    read: ([number, text = '']) => {
      const scheme = shaOf(number);
      const bytes = base64(text);
      const length = digestBytesOf[scheme];
      return sha(scheme, bytes.subarray(0, length), bytes.subarray(length), saltLast);
    },
  },
  {
    // Django before 1.4.
    pattern: /^sha1\$([^$]{0,128})\$([0-9a-f]{40})$/,
    read: ([salt = '', digest = '']) => sha('sha1', hex(digest), Buffer.from(salt), saltFirst),
  },
  {
    // Magento 2, version 1.
    pattern: /^([0-9a-f]{64}):([^:]{1,128}):1$/,
    read: ([digest = '', salt = '']) => sha('sha256', hex(digest), Buffer.from(salt), saltFirst),
  },
  {
    // Ory Kratos.
    pattern: /^\$sha(1|256|512)\$pf=([A-Za-z0-9+/]+={0,2})\$([A-Za-z0-9+/]+={0,2})\$([A-Za-z0-9+/]+={0,2})$/,
    read: ([number, template = '', salt = '', digest = '']) => {
      const order = orders[base64(template).toString()];
      if (order === undefined) throw new ForeignHashError('its template is not {PASSWORD}{SALT} or {SALT}{PASSWORD}');
      return sha(shaOf(number), base64(digest), base64(salt), order);
    },
  },
  {
    // Hexadecimal without a salt.
    pattern: /^([0-9a-f]{40}|[0-9a-f]{64}|[0-9a-f]{96}|[0-9a-f]{128})$/i,
    read: ([text = '']) => {
      const digest = hex(text);
      const [scheme = 'sha1'] = Object.entries(digestBytesOf).find(([, bytes]) => bytes === digest.length) ?? [];
      return sha(scheme as Sha, digest, Buffer.of(), saltLast);
    },
  },
];
