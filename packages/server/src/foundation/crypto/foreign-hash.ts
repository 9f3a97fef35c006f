/**
 * Password hashes of other systems: their parameters, bounds and cost. `foreign-hash-formats.ts` parses them,
 * `digest.ts` computes them. `password.ts` stores them under the pepper until the first sign-in replaces them.
 */
import { limits } from '@keyreeve/contract/limits';

/** The names of each scheme's parameters. */
const parametersOf = {
  argon2d: ['v', 'm', 't', 'p'],
  argon2i: ['v', 'm', 't', 'p'],
  argon2id: ['v', 'm', 't', 'p'],
  bcrypt: ['c'],
  /** Django: bcrypt of the password's SHA-256 in hexadecimal. */
  'bcrypt-sha256-hex': ['c'],
  /** passlib, version 1: bcrypt of the password's SHA-256 in base64. */
  'bcrypt-sha256-base64': ['c'],
  /** passlib, version 2: bcrypt of HMAC-SHA-256 under the text of the salt, in base64. */
  'bcrypt-hmac-sha256': ['c'],
  /** WordPress from 6.8 on: bcrypt of HMAC-SHA-384 under `wp-sha384`, in base64. */
  'bcrypt-wordpress': ['c'],
  /** Devise with a pepper, which follows the password. It follows the 16 bytes of the salt here. */
  'bcrypt-suffix': ['c'],
  scrypt: ['n', 'r', 'p'],
  /** better-auth normalises the password to NFKC. */
  'scrypt-nfkc': ['n', 'r', 'p'],
  /** Firebase: AES-256-CTR under the scrypt hash. Its digest here is the key stream, without the signer key. */
  'scrypt-firebase': ['n', 'r', 'p'],
  'pbkdf2-sha1': ['i'],
  'pbkdf2-sha256': ['i'],
  'pbkdf2-sha512': ['i'],
  'sha256-crypt': ['i'],
  'sha512-crypt': ['i'],
  /** MD5 with rounds: WordPress before 6.8, and other applications in PHP. */
  phpass: ['i'],
  'phpass-phpbb': ['i'],
  drupal7: ['i'],
  'md5-crypt': ['i'],
  /** `md5-crypt` of Apache. */
  apr1: ['i'],
  // `o`: whether the salt follows (0) or precedes (1) the password. `i`: rounds, usually 1.
  sha1: ['i', 'o'],
  sha256: ['i', 'o'],
  sha384: ['i', 'o'],
  sha512: ['i', 'o'],
} as const;

const fastSchemes = ['md5-crypt', 'apr1', 'sha1', 'sha256', 'sha384', 'sha512'] as const;
export type FastScheme = (typeof fastSchemes)[number];
export type PlainScheme = keyof typeof parametersOf;
/** Wrapped: Argon2id of the digest of a fast scheme. Its salt precedes that of the fast scheme. */
export type ForeignScheme = PlainScheme | `wrapped-${FastScheme}`;

/** Of Argon2id in a wrapped hash. */
export const wrapSaltBytes = 16;
export const wrapDigestBytes = 32;

/** The computation of a digest from a password. */
export interface ForeignRecipe {
  readonly scheme: ForeignScheme;
  readonly parameters: Readonly<Record<string, number>>;
  readonly salt: Uint8Array;
  readonly digestBytes: number;
}

/** A recipe of hashes with different salts: the scheme with its parameters. */
export type ForeignKind = Omit<ForeignRecipe, 'salt'>;

/** The hash cannot be used. The message states the reason and contains no part of the salt or digest. */
export class ForeignHashError extends Error {}

const digestBytesMin = 16;
const digestBytesMax = 128;
const saltBytesMax = 128;
/** RFC 9106 section 3.1. The other schemes accept any number. */
const argon2SaltBytesMin = 8;
const lanesMax = 16;
const scryptBlockSizeMax = 32;
const sha1Bytes = 20;
/** glibc raises smaller numbers to this. */
const shaCryptRoundsMin = 1_000;
/** Of these, hashes without a salt exist. */
const saltlessSchemes: readonly string[] = [...fastSchemes, 'sha256-crypt', 'sha512-crypt'];

/** Whether an attacker who has the hashes tests millions of passwords a second or more. */
export const isFast = (scheme: ForeignScheme): scheme is FastScheme =>
  (fastSchemes as readonly string[]).includes(scheme);

/** @returns the fast scheme inside a wrapped one; undefined for the others */
export const wrappedSchemeOf = (scheme: ForeignScheme): FastScheme | undefined =>
  fastSchemes.find((fast) => scheme === `wrapped-${fast}`);

/** The scheme whose cost counts. The fast scheme inside costs microseconds. */
const costlySchemeOf = (scheme: ForeignScheme): PlainScheme =>
  wrappedSchemeOf(scheme) === undefined ? (scheme as PlainScheme) : 'argon2id';

/** @throws ForeignHashError if a sign-in with the hash would cost too much, or the parameters are invalid */
export function assertBounds({ scheme, parameters, salt, digestBytes }: ForeignRecipe): void {
  const { v = 0, m = 0, t = 0, p = 0, c = 0, n = 0, r = 0, i = 0 } = parameters;
  if (digestBytes < digestBytesMin || digestBytes > digestBytesMax)
    throw new ForeignHashError(`its digest has ${digestBytes} bytes, not ${digestBytesMin} to ${digestBytesMax}`);
  const saltBytesMin = saltlessSchemes.includes(scheme) ? 0 : 1;
  if (salt.length < saltBytesMin || salt.length > saltBytesMax)
    throw new ForeignHashError(`its salt has ${salt.length} bytes, not ${saltBytesMin} to ${saltBytesMax}`);
  if (!Object.values(parameters).every((value) => value === undefined || Number.isSafeInteger(value)))
    throw new ForeignHashError('its parameters are not whole numbers');
  switch (algorithmOf(scheme)) {
    case 'argon2d':
    case 'argon2i':
    case 'argon2id':
      if (v !== 16 && v !== 19) throw new ForeignHashError(`version ${v} of Argon2 is not supported`);
      if (salt.length < argon2SaltBytesMin || t < 1 || p < 1 || m < 8 * p)
        throw new ForeignHashError('its parameters are not valid for Argon2');
      assertAtMost('m', m, limits.importedArgon2KibMax);
      assertAtMost('m·t', m * t, limits.importedArgon2KibPassesMax);
      return assertAtMost('p', p, lanesMax);
    case 'bcrypt':
    case 'bcrypt-wordpress':
      if (c < 4) throw new ForeignHashError('its parameters are not valid for bcrypt');
      return assertAtMost('its cost', c, limits.importedBcryptCostMax);
    case 'scrypt':
      if (n < 2 || !Number.isInteger(Math.log2(n)) || r < 1 || p < 1 || Math.log2(n) >= 16 * r)
        throw new ForeignHashError('its parameters are not valid for scrypt');
      // With larger values, OpenSSL needs more time and memory than the product of the three indicates.
      assertAtMost('r', r, scryptBlockSizeMax);
      assertAtMost('p', p, lanesMax);
      return assertAtMost('N·r·p', n * r * p, limits.importedScryptBlocksMax);
    case 'pbkdf2-sha1':
    case 'pbkdf2-sha256':
    case 'pbkdf2-sha512':
      if (i < 1) throw new ForeignHashError('its parameters are not valid for PBKDF2');
      return assertAtMost('its rounds', unitsOf({ scheme, parameters, digestBytes }), limits.importedPbkdf2RoundsMax);
    case 'sha256-crypt':
    case 'sha512-crypt':
      if (i < shaCryptRoundsMin) throw new ForeignHashError(`it has ${i} rounds, fewer than ${shaCryptRoundsMin}`);
      return assertAtMost('its rounds', i, limits.importedRoundsMax);
    default:
      if (i < 1) throw new ForeignHashError('it has no rounds');
      return assertAtMost('its rounds', i, limits.importedRoundsMax);
  }
}

function assertAtMost(name: string, value: number, max: number): void {
  if (!(value <= max)) throw new ForeignHashError(`it costs too much: ${name} is ${value}, at most ${max}`);
}

/**
 * The algorithm whose work a sign-in with the scheme does. Work of one algorithm can be added up, so kinds of one algorithm
 * are made equal. `bcrypt-wordpress` is one of its own, because it can hash a password in several readings.
 */
export function algorithmOf(scheme: ForeignScheme): PlainScheme {
  const costly = costlySchemeOf(scheme);
  switch (costly) {
    case 'bcrypt-sha256-hex':
    case 'bcrypt-sha256-base64':
    case 'bcrypt-hmac-sha256':
    case 'bcrypt-suffix':
      return 'bcrypt';
    case 'scrypt-nfkc':
    case 'scrypt-firebase':
      return 'scrypt';
    case 'apr1':
      return 'md5-crypt';
    default:
      return costly;
  }
}

/** The work of a hash in units of its algorithm, and the most that an import accepts for one hash: one to two seconds. */
function workOf({ scheme, parameters, digestBytes }: ForeignKind): {
  readonly units: number;
  readonly unitsMax: number;
} {
  const { m = 0, t = 0, c = 0, n = 0, r = 0, p = 0, i = 0 } = parameters;
  switch (algorithmOf(scheme)) {
    case 'argon2d':
    case 'argon2i':
    case 'argon2id':
      return { units: m * t, unitsMax: limits.importedArgon2KibPassesMax };
    case 'bcrypt':
    case 'bcrypt-wordpress':
      return { units: 2 ** c, unitsMax: 2 ** limits.importedBcryptCostMax };
    case 'scrypt':
      return { units: n * r * p, unitsMax: limits.importedScryptBlocksMax };
    case 'pbkdf2-sha1':
    case 'pbkdf2-sha256':
    case 'pbkdf2-sha512':
      return {
        units: i * Math.ceil(digestBytes / digestBlockBytes(scheme)),
        unitsMax: limits.importedPbkdf2RoundsMax,
      };
    default:
      return { units: i, unitsMax: limits.importedRoundsMax };
  }
}

export const unitsOf = (kind: ForeignKind): number => workOf(kind).units;

/** The cost of a sign-in with the hash, as a share of the maximum that an import accepts: 1 is one to two seconds. */
export function costOf(kind: ForeignKind): number {
  const { units, unitsMax } = workOf(kind);
  return units / unitsMax;
}

/** Of PBKDF2: bytes of a block, which costs all rounds. Only the first one is kept and compared: its 160 to 512 bits decide. */
export const digestBlockBytes = (scheme: ForeignScheme): number =>
  scheme === 'pbkdf2-sha1' ? sha1Bytes : Number(scheme.slice(-3)) / 8;

function parameterNamesOf(scheme: ForeignScheme): readonly string[] {
  const fast = wrappedSchemeOf(scheme);
  return fast === undefined ? parametersOf[scheme as PlainScheme] : [...parametersOf[fast], 'm', 't', 'p'];
}

/** `m=65536,t=3,p=4,l=32` */
export const encodeParameters = ({ scheme, parameters, digestBytes }: ForeignKind): string =>
  [...parameterNamesOf(scheme).map((name) => `${name}=${parameters[name]}`), `l=${digestBytes}`].join(',');

/** The inverse of {@link encodeParameters}. @throws Error for another text */
export function decodeParameters(scheme: string, text: string): ForeignKind {
  const { l: digestBytes = 0, ...parameters } = Object.fromEntries(
    text.split(',').map((part) => [part.slice(0, 1), Number(part.slice(2))]),
  );
  const kind = { scheme: scheme as ForeignScheme, parameters, digestBytes };
  const isKnown = Object.hasOwn(parametersOf, scheme) || wrappedSchemeOf(kind.scheme) !== undefined;
  if (!isKnown || encodeParameters(kind) !== text) throw new Error('a stored password hash has an unknown format');
  return kind;
}
