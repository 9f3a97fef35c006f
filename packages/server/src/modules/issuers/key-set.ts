/**
 * JWK sets (RFC 7517) of issuers, and the signature algorithms that fit their keys. Only public keys for signatures count; others
 * are ignored, because issuers publish keys for other purposes too.
 */
import { createPublicKey, type KeyObject } from 'node:crypto';
import { limits, type IssuerAlgorithm } from '@keyreeve/contract';
import { privateJwkMembers, pssPadding, type SignatureMethod } from '../../foundation/crypto/compact-jwt.ts';

export interface VerificationKey {
  /** `kid`; null: the key has none. */
  readonly id: string | null;
  readonly key: KeyObject;
  /** Those of its type, or the one that the key states. */
  readonly algorithms: readonly IssuerAlgorithm[];
}

export type KeySet = readonly VerificationKey[];

type Jwk = Readonly<Record<string, unknown>>;

const rsaAlgorithms = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'] as const;
/** By `kty` and, for other keys than those of RSA, `crv` (RFC 7518 section 6, RFC 8037 section 2). */
const algorithmsOfType = new Map<string, readonly IssuerAlgorithm[]>([
  ['RSA', rsaAlgorithms],
  ['EC P-256', ['ES256']],
  ['EC P-384', ['ES384']],
  ['EC P-521', ['ES512']],
  ['OKP Ed25519', ['EdDSA', 'Ed25519']],
]);

/** RFC 7518 section 3.3 requires the lower bound. The upper ones bound the time of a verification to about 1 ms. */
const rsaBitsMin = 2_048;
const rsaBitsMax = 8_192;
const rsaExponentMax = 2n ** 32n;
const keyIdCharsMax = 512;

/**
 * @param value parsed JSON
 * @throws Error that says what is wrong with the set, such as "has no public key for signatures"
 */
export function keySetOf(value: unknown): KeySet {
  const keys = typeof value === 'object' && value !== null ? (value as Jwk)['keys'] : undefined;
  if (!Array.isArray(keys)) throw new Error('has no array keys');
  if (keys.length > limits.issuerKeySetKeysMax) throw new Error(`has more than ${limits.issuerKeySetKeysMax} keys`);
  const usable = keys.flatMap((jwk: unknown) => verificationKeyOf(jwk) ?? []);
  if (usable.length === 0) throw new Error('has no public key for signatures');
  return usable;
}

/** @returns the name of a member of a private or symmetric key in a set, as a JSON pointer */
export function privateMemberIn(keys: readonly object[]): string | undefined {
  for (const [index, jwk] of keys.entries())
    for (const name of privateJwkMembers) if (Object.hasOwn(jwk, name)) return `/keys/${index}/${name}`;
  return undefined;
}

/** @returns undefined for a key that is not for verifying signatures, or that is too weak */
function verificationKeyOf(value: unknown): VerificationKey | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const jwk = value as Jwk;
  const { kty, crv, use, key_ops: operations, alg, kid } = jwk;
  if (use !== undefined && use !== 'sig') return undefined;
  if (operations !== undefined && !(Array.isArray(operations) && operations.includes('verify'))) return undefined;
  if (kid !== undefined && !(typeof kid === 'string' && kid.length <= keyIdCharsMax)) return undefined;
  // An issuer that publishes a private key has lost it.
  if (privateJwkMembers.some((name) => Object.hasOwn(jwk, name))) return undefined;
  const ofType = algorithmsOfType.get(kty === 'RSA' ? kty : `${String(kty)} ${String(crv)}`);
  const algorithms = alg === undefined ? ofType : ofType?.filter((algorithm) => algorithm === alg);
  const key = algorithms && algorithms.length > 0 ? publicKeyOf(jwk) : undefined;
  return algorithms && key && isStrong(key) ? { id: kid ?? null, key, algorithms } : undefined;
}

/** OpenSSL rejects points outside the curve. */
function publicKeyOf({ kty, crv, n, e, x, y }: Jwk): KeyObject | undefined {
  const members = Object.fromEntries(
    Object.entries({ kty, crv, n, e, x, y }).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
  try {
    return createPublicKey({ key: members, format: 'jwk' });
  } catch {
    return undefined;
  }
}

function isStrong({ asymmetricKeyType: type, asymmetricKeyDetails: details }: KeyObject): boolean {
  if (type !== 'rsa') return true;
  const { modulusLength: bits = 0, publicExponent: exponent = 0n } = details ?? {};
  return bits >= rsaBitsMin && bits <= rsaBitsMax && exponent > 1n && exponent <= rsaExponentMax;
}

const digestOf = (algorithm: string): string => `sha${algorithm.slice(2)}`;

/** RFC 7518 section 3.1. */
export function methodOf(algorithm: IssuerAlgorithm): SignatureMethod {
  if (algorithm === 'EdDSA' || algorithm === 'Ed25519') return { digest: null };
  return algorithm.startsWith('PS')
    ? { digest: digestOf(algorithm), padding: pssPadding }
    : { digest: digestOf(algorithm) };
}
