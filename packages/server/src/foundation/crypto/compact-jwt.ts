/**
 * JWTs in the compact serialization of a signature (RFC 7515 section 7.1, RFC 7519). Each has exactly one accepted encoding:
 * deny lists and caches treat several encodings of one token as different tokens. The key alone determines the algorithm
 * (RFC 8725 section 3.1).
 */
import { constants, verify, type KeyObject } from 'node:crypto';
import { DomainError } from '../errors.ts';
import { parseJson } from '../json.ts';

/** Members of private and symmetric keys (RFC 7518 sections 6.2.2, 6.3.2 and 6.4). */
export const privateJwkMembers = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'] as const;

export type JwtMembers = Readonly<Record<string, unknown>>;

export interface CompactJwt {
  readonly header: JwtMembers;
  readonly claims: JwtMembers;
  /** Header and payload as they were signed. */
  readonly signed: Buffer;
  readonly signature: Buffer;
}

/**
 * Reads a JWT without verifying anything that it states.
 * @returns undefined unless it has three parts in canonical base64url, and the first two are unambiguous JSON objects
 */
export function parseJwt(text: string): CompactJwt | undefined {
  const [first, second, signature, ...rest] = text.split('.', 4).map(fromCanonicalBase64url);
  if (!first || !second || !signature || rest.length > 0) return undefined;
  const header = objectOf(first);
  const claims = header && objectOf(second);
  if (!claims) return undefined;
  return { header, claims, signed: Buffer.from(text.slice(0, text.lastIndexOf('.'))), signature };
}

type Signed = Pick<CompactJwt, 'signed' | 'signature'>;

/**
 * Takes about 100 µs.
 * @param key for ECDSA or RSA with SHA-256, or for Ed25519
 */
export const isSignedBy = ({ signed, signature }: Signed, key: KeyObject): boolean =>
  verify(digestOf(key), signed, { key, dsaEncoding }, signature);

/**
 * {@link isSignedBy} in a thread of libuv, which takes longer, but does not occupy the caller's thread.
 * @param method default: that of `isSignedBy`
 */
export const isSignedByInThread = (
  { signed, signature }: Signed,
  key: KeyObject,
  { digest, padding }: SignatureMethod = { digest: digestOf(key) },
): Promise<boolean> =>
  new Promise((resolve, reject) =>
    verify(digest, signed, { key, dsaEncoding, ...padding }, signature, (error, isValid) =>
      error ? reject(error) : resolve(isValid),
    ),
  );

export interface SignatureMethod {
  /** Null for Ed25519, which has its own. */
  readonly digest: string | null;
  /** Of RSA; default: PKCS #1 v1.5. */
  readonly padding?: { readonly padding: number; readonly saltLength: number };
}

/** RSASSA-PSS with a salt of the length of the digest (RFC 7518 section 3.5). */
export const pssPadding = {
  padding: constants.RSA_PKCS1_PSS_PADDING,
  saltLength: constants.RSA_PSS_SALTLEN_DIGEST,
} as const;

/** Both integers of a signature with the length of the curve (RFC 7518 section 3.4); Node rejects every other length. */
const dsaEncoding = 'ieee-p1363';
/** Ed25519 has its own digest. */
const digestOf = (key: KeyObject): string | null => (key.asymmetricKeyType === 'ed25519' ? null : 'sha256');

/** The unused bits of the last character would otherwise give one text several encodings (RFC 4648 section 3.5). */
function fromCanonicalBase64url(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64url');
  return bytes.toString('base64url') === text ? bytes : undefined;
}

/** @returns undefined also for repeated members, which two parsers may read differently */
function objectOf(bytes: Buffer): JwtMembers | undefined {
  try {
    const value = parseJson(bytes);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JwtMembers) : undefined;
  } catch (error) {
    if (error instanceof DomainError && error.code === 'malformed_json') return undefined;
    throw error;
  }
}
