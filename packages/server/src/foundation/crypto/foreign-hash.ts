/**
 * Password hashes of other systems: their parameters, bounds and cost. `foreign-hash-formats.ts` parses them,
 * `digest.ts` computes them. `password.ts` stores them under the pepper until the first sign-in replaces them.
 */
import { limits } from '@keyreeve/contract';

/** The names of each scheme's parameters. */
const parametersOf = {
  argon2d: ['v', 'm', 't', 'p'],
  argon2i: ['v', 'm', 't', 'p'],
  argon2id: ['v', 'm', 't', 'p'],
  bcrypt: ['c'],
  scrypt: ['n', 'r', 'p'],
  /** better-auth normalises the password to NFKC. */
  'scrypt-nfkc': ['n', 'r', 'p'],
  'pbkdf2-sha1': ['i'],
  'pbkdf2-sha256': ['i'],
  'pbkdf2-sha512': ['i'],
} as const;

export type ForeignScheme = keyof typeof parametersOf;

/** The computation of a digest from a password. */
export interface ForeignRecipe {
  readonly scheme: ForeignScheme;
  readonly parameters: Readonly<Record<string, number>>;
  readonly salt: Uint8Array;
  readonly digestBytes: number;
}

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

/** @throws ForeignHashError if a sign-in with the hash would cost too much, or the parameters are invalid */
export function assertBounds({ scheme, parameters, salt, digestBytes }: ForeignRecipe): void {
  const { v = 0, m = 0, t = 0, p = 0, c = 0, n = 0, r = 0, i = 0 } = parameters;
  if (digestBytes < digestBytesMin || digestBytes > digestBytesMax)
    throw new ForeignHashError(`its digest has ${digestBytes} bytes, not ${digestBytesMin} to ${digestBytesMax}`);
  if (salt.length === 0 || salt.length > saltBytesMax)
    throw new ForeignHashError(`its salt has ${salt.length} bytes, not 1 to ${saltBytesMax}`);
  switch (scheme) {
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
      if (c < 4) throw new ForeignHashError('its parameters are not valid for bcrypt');
      return assertAtMost('its cost', c, limits.importedBcryptCostMax);
    case 'scrypt':
    case 'scrypt-nfkc':
      if (n < 2 || !Number.isInteger(Math.log2(n)) || r < 1 || p < 1 || Math.log2(n) >= 16 * r)
        throw new ForeignHashError('its parameters are not valid for scrypt');
      // With larger values, OpenSSL needs more time and memory than the product of the three indicates.
      assertAtMost('r', r, scryptBlockSizeMax);
      assertAtMost('p', p, lanesMax);
      return assertAtMost('N·r·p', n * r * p, limits.importedScryptBlocksMax);
    case 'pbkdf2-sha1':
    case 'pbkdf2-sha256':
    case 'pbkdf2-sha512': {
      if (i < 1) throw new ForeignHashError('its parameters are not valid for PBKDF2');
      const blocks = Math.ceil(digestBytes / digestBlockBytes(scheme));
      return assertAtMost('its rounds', i * blocks, limits.importedPbkdf2RoundsMax);
    }
  }
}

function assertAtMost(name: string, value: number, max: number): void {
  if (!(value <= max)) throw new ForeignHashError(`it costs too much: ${name} is ${value}, at most ${max}`);
}

/** The cost of a sign-in with the hash, as a share of the maximum that an import accepts: 1 is one to two seconds. */
export function costOf({ scheme, parameters, digestBytes }: Omit<ForeignRecipe, 'salt'>): number {
  const { m = 0, t = 0, c = 0, n = 0, r = 0, p = 0, i = 0 } = parameters;
  switch (scheme) {
    case 'argon2d':
    case 'argon2i':
    case 'argon2id':
      return (m * t) / limits.importedArgon2KibPassesMax;
    case 'bcrypt':
      return 2 ** (c - limits.importedBcryptCostMax);
    case 'scrypt':
    case 'scrypt-nfkc':
      return (n * r * p) / limits.importedScryptBlocksMax;
    case 'pbkdf2-sha1':
    case 'pbkdf2-sha256':
    case 'pbkdf2-sha512':
      return (i * Math.ceil(digestBytes / digestBlockBytes(scheme))) / limits.importedPbkdf2RoundsMax;
  }
}

const digestBlockBytes = (scheme: ForeignScheme): number =>
  scheme === 'pbkdf2-sha1' ? sha1Bytes : Number(scheme.slice(-3)) / 8;

/** `m=65536,t=3,p=4,l=32` */
export const encodeParameters = ({ scheme, parameters, digestBytes }: ForeignRecipe): string =>
  [...parametersOf[scheme].map((name) => `${name}=${parameters[name]}`), `l=${digestBytes}`].join(',');

/** The inverse of {@link encodeParameters}. @throws Error for another text */
export function decodeParameters(scheme: string, text: string): Omit<ForeignRecipe, 'salt'> {
  const { l: digestBytes = 0, ...parameters } = Object.fromEntries(
    text.split(',').map((part) => [part.slice(0, 1), Number(part.slice(2))]),
  );
  const recipe = { scheme: scheme as ForeignScheme, parameters, digestBytes };
  if (!Object.hasOwn(parametersOf, scheme) || encodeParameters({ ...recipe, salt: Buffer.of() }) !== text)
    throw new Error('a stored password hash has an unknown format');
  return recipe;
}
