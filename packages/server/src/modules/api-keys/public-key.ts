/**
 * Public keys of API keys: JWKs (RFC 7517) of Ed25519 (RFC 8037) and P-256 (RFC 7518), and their stored form, which has
 * only the required members in the order of RFC 7638.
 */
import { createPublicKey, hash, type KeyObject } from 'node:crypto';
import { createRequire } from 'node:module';
import type { PublicKey } from '@keyreeve/contract';
import type * as Curves from '@noble/curves/ed25519.js';
import { privateJwkMembers } from '../../foundation/crypto/compact-jwt.ts';
import { DomainError, type FieldError } from '../../foundation/errors.ts';
import { lazily } from '../../foundation/lazy-modules.ts';

/** The algorithm of the signatures that a key verifies (RFC 7518 section 3.1, RFC 8037 section 3.1). */
export type SignatureAlgorithm = 'EdDSA' | 'ES256';

interface Kind {
  readonly crv: string;
  /** Each has 32 bytes. */
  readonly coordinates: readonly ('x' | 'y')[];
  readonly algorithm: SignatureAlgorithm;
  /** Values of `alg`. `Ed25519` is the name in RFC 9864. */
  readonly algorithms: readonly string[];
}

/** By `kty`. */
const kinds: Readonly<Record<string, Kind>> = {
  OKP: { crv: 'Ed25519', coordinates: ['x'], algorithm: 'EdDSA', algorithms: ['EdDSA', 'Ed25519'] },
  EC: { crv: 'P-256', coordinates: ['x', 'y'], algorithm: 'ES256', algorithms: ['ES256'] },
};

/** Accepted and not stored. `ext` is from the Web Cryptography API. */
const ignoredMembers: ReadonlySet<string> = new Set(['kid', 'ext']);
const coordinateBytes = 32;

/** It takes 25 ms, and few processes need it. */
const loadCurves = lazily(() => createRequire(import.meta.url)('@noble/curves/ed25519.js') as typeof Curves);

type Jwk = Readonly<Record<string, unknown>>;

/**
 * @param value a JWK
 * @returns the stored form
 * @throws DomainError `invalid_request` with a pointer below `/publicKey`, unless the value is a public key of Ed25519 or
 *   P-256, for signatures, without private or unknown members
 */
export function parsePublicKey(value: unknown): string {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw invalid('', 'Expected a JWK (RFC 7517).');
  const jwk = value as Jwk;
  // First: the client may take another error for the only one, and send the private key again.
  for (const name of privateJwkMembers)
    if (Object.hasOwn(jwk, name))
      throw invalid(
        name,
        'This member belongs to a private key, which the client must not send. Replace the key pair, and send only the public key.',
      );
  const kind = typeof jwk['kty'] === 'string' && Object.hasOwn(kinds, jwk['kty']) ? kinds[jwk['kty']] : undefined;
  if (!kind) throw invalid('kty', 'Expected "OKP" (Ed25519) or "EC" (P-256).');
  if (jwk['crv'] !== kind.crv) throw invalid('crv', `Expected "${kind.crv}" for this kty.`);
  for (const name of Object.keys(jwk)) assertMember(jwk, name, kind);
  const coordinates = kind.coordinates.map((name) => [name, coordinateOf(jwk, name)] as const);
  const members = { crv: kind.crv, kty: jwk['kty'], ...Object.fromEntries(coordinates) };
  const stored = JSON.stringify(members);
  assertPoint(stored, kind);
  return stored;
}

/** @throws DomainError `invalid_request` for an unknown member, or one that excludes the verification of signatures */
function assertMember(jwk: Jwk, name: string, { coordinates, algorithms }: Kind): void {
  const value = jwk[name];
  if (name === 'kty' || name === 'crv' || ignoredMembers.has(name)) return;
  if (coordinates.some((coordinate) => coordinate === name)) return;
  if (name === 'use') {
    if (value !== 'sig') throw invalid(name, 'Expected "sig".');
  } else if (name === 'key_ops') {
    if (!Array.isArray(value) || !value.includes('verify')) throw invalid(name, 'Expected an array with "verify".');
  } else if (name === 'alg') {
    if (!algorithms.some((algorithm) => algorithm === value))
      throw invalid(name, `Expected ${algorithms.map((algorithm) => `"${algorithm}"`).join(' or ')} for this kty.`);
  } else {
    const known = ['kty', 'crv', ...coordinates, 'alg', 'use', 'key_ops', 'kid', 'ext'];
    throw invalid(name, `This member is unknown. Known members are: ${known.join(', ')}.`);
  }
}

/** @returns base64url without padding (RFC 7515 section 2) */
function coordinateOf(jwk: Jwk, name: string): string {
  const value = Object.hasOwn(jwk, name) ? jwk[name] : undefined;
  if (typeof value === 'string' && value.length <= 2 * coordinateBytes) {
    const bytes = Buffer.from(value, 'base64url');
    if (bytes.length === coordinateBytes && bytes.toString('base64url') === value) return value;
  }
  const expected = `${coordinateBytes} bytes in base64url without padding.`;
  throw invalid(name, value === undefined ? `This member is required: ${expected}` : `Expected ${expected}`);
}

/** @throws DomainError `invalid_request` for a point outside the curve, or one for which signatures can be forged */
function assertPoint(stored: string, { algorithm }: Kind): void {
  if (algorithm === 'ES256') {
    // OpenSSL rejects points outside the curve. The cofactor of P-256 is 1.
    try {
      publicKeyOf(stored);
    } catch {
      throw invalid('', 'The point is not on the curve P-256.');
    }
    return;
  }
  // OpenSSL does not check points of Ed25519.
  const point = Buffer.from(toPublicKey(stored).x, 'base64url');
  if (decodePoint(point).isSmallOrder())
    throw invalid('x', 'The point has a small order, so signatures for it can be forged.');
}

/** RFC 8032 section 5.1.3. @throws DomainError `invalid_request` unless the encoding is canonical and its point on the curve */
function decodePoint(point: Buffer) {
  const { ed25519 } = loadCurves();
  try {
    return ed25519.Point.fromBytes(point);
  } catch {
    throw invalid('x', 'The point is not on the curve Ed25519.');
  }
}

/** @param stored {@link parsePublicKey} */
export const publicKeyOf = (stored: string): KeyObject =>
  createPublicKey({ key: { ...toPublicKey(stored) }, format: 'jwk' });

/** @param stored {@link parsePublicKey} */
export const toPublicKey = (stored: string): PublicKey => JSON.parse(stored) as PublicKey;

/** @param stored {@link parsePublicKey} */
export const algorithmOf = (stored: string): SignatureAlgorithm =>
  toPublicKey(stored).kty === 'EC' ? 'ES256' : 'EdDSA';

/** SHA-256 in base64url (RFC 7638), which identifies the public key in audit events. @param stored {@link parsePublicKey} */
export const thumbprintOf = (stored: string): string => hash('sha256', stored, 'base64url');

/** Bound of a member name in an error. */
const nameCharsMax = 64;

/** An error of the member `publicKey` of a request. */
export const invalidPublicKey = (detail: string): DomainError => invalid('', detail);

function invalid(name: string, detail: string): DomainError {
  const escaped = name.slice(0, nameCharsMax).replaceAll('~', '~0').replaceAll('/', '~1');
  const error: FieldError = { pointer: name === '' ? '/publicKey' : `/publicKey/${escaped}`, detail };
  return new DomainError('invalid_request', { errors: [error] });
}
