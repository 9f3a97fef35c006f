/**
 * Assertions: JWTs that a client signs with the private key of its API key (RFC 7523 section 3). The API key determines the
 * algorithm, and each assertion has exactly one accepted encoding (RFC 8725).
 */
import type { KeyObject } from 'node:crypto';
import { limits } from '@keyreeve/contract';
import { isSignedBy, parseJwt, type CompactJwt } from '../../foundation/crypto/compact-jwt.ts';
import { publicKeyOf, toPublicKey } from '../api-keys/public-key.ts';

export interface Assertion extends Pick<CompactJwt, 'signed' | 'signature'> {
  readonly keyId: number;
  /** The claim `jti`. */
  readonly id: string;
  readonly keyType: KeyType;
  readonly audience: unknown;
  /** Seconds since 1970. */
  readonly issuedAt: number;
  readonly expiresAt: number;
  readonly notBefore: number;
}

/** The member `kty` of a public key. */
type KeyType = 'OKP' | 'EC';

/** RFC 8037 and RFC 9864 name Ed25519 differently. */
const keyTypes: ReadonlyMap<unknown, KeyType> = new Map([
  ['EdDSA', 'OKP'],
  ['Ed25519', 'OKP'],
  ['ES256', 'EC'],
]);
const types = new Set<unknown>([undefined, 'JWT', 'jwt', 'authorization-grant+jwt']);
const keyIdPattern = /^[1-9]\d{0,15}$/;
const idPattern = new RegExp(`^[\\x21-\\x7E]{${limits.assertionIdCharsMin},${limits.assertionIdCharsMax}}$`);
/** Both algorithms have signatures of this length. */
const signatureBytes = 64;

/**
 * Reads an assertion without verifying its signature, audience and times.
 * @returns undefined unless its format is that of an assertion
 */
export function parseAssertion(text: string): Assertion | undefined {
  const jwt = parseJwt(text);
  if (jwt?.signature.length !== signatureBytes) return undefined;
  const { header, claims, signed, signature } = jwt;
  // Other headers select a key or change the encoding (jku, jwk, x5c, crit, b64, zip).
  const { alg, kid, typ, ...others } = header;
  const { iss, sub, aud, exp, iat, nbf = iat, jti } = claims;
  const keyType = keyTypes.get(alg);
  if (keyType === undefined || !types.has(typ) || Object.keys(others).length > 0) return undefined;
  if (typeof kid !== 'string' || !keyIdPattern.test(kid) || iss !== kid || sub !== kid) return undefined;
  if (typeof jti !== 'string' || !idPattern.test(jti)) return undefined;
  if (!isNumericDate(iat) || !isNumericDate(exp) || !isNumericDate(nbf)) return undefined;
  const times = { issuedAt: iat, expiresAt: exp, notBefore: nbf };
  return { keyId: Number(kid), id: jti, keyType, audience: aud, ...times, signed, signature };
}

/** Whether a text has the form of an assertion, which no identity token of an issuer has: its `iss` would be no URL. */
export const isAssertion = (text: string): boolean => parseAssertion(text) !== undefined;

/** @param audience the public URL of this server */
export const isFor = ({ audience: claimed }: Assertion, audience: string): boolean =>
  claimed === audience || (Array.isArray(claimed) && claimed.length === 1 && claimed[0] === audience);

/** Whether an assertion is valid now and not for longer than allowed. @param now milliseconds since 1970 */
export function isTimely({ issuedAt, expiresAt, notBefore }: Assertion, now: number): boolean {
  const skewSeconds = limits.assertionSkewSeconds;
  const seconds = now / 1_000;
  return (
    expiresAt > seconds &&
    expiresAt > issuedAt &&
    expiresAt - issuedAt <= limits.assertionSecondsMax &&
    Math.abs(issuedAt - seconds) <= skewSeconds &&
    notBefore <= seconds + skewSeconds
  );
}

/** The stored public keys of an API key; null: none. */
export interface StoredPublicKeys {
  readonly current: string | null;
  readonly previous: string | null;
}

/**
 * The public key that signed an assertion; undefined if none did. Always verifies two signatures with the algorithm of the
 * assertion, and makes their keys anew: the time shows neither whether a key exists, nor its type, nor a rotation.
 */
export function signerOf(
  assertion: Assertion,
  { current, previous }: StoredPublicKeys,
  hasSignature: (assertion: Assertion, key: KeyObject) => boolean = isSignedBy,
): keyof StoredPublicKeys | undefined {
  const isBy = (stored: string | null): boolean => {
    const isCandidate = stored !== null && toPublicKey(stored).kty === assertion.keyType;
    const isValid = hasSignature(assertion, publicKeyOf(isCandidate ? stored : publishedKeys[assertion.keyType]));
    // The private keys of the published ones are published too.
    return isValid && isCandidate;
  };
  const isByCurrent = isBy(current);
  const isByPrevious = isBy(previous);
  if (isByCurrent) return 'current';
  return isByPrevious ? 'previous' : undefined;
}

/** RFC 8037 appendix A.2, RFC 7517 appendix A.1. */
const publishedKeys: Readonly<Record<KeyType, string>> = {
  OKP: '{"crv":"Ed25519","kty":"OKP","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}',
  EC: '{"crv":"P-256","kty":"EC","x":"MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4","y":"4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM"}',
};

/** RFC 7519 allows fractions of seconds. */
const isNumericDate = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value);
