/**
 * Password hashes of other systems: their parameters, bounds, computation and cost. `foreign-hash-formats.ts` parses
 * them. `password.ts` stores them under the pepper until the first sign-in replaces them.
 */
import { pbkdf2, scrypt } from 'node:crypto';
import { promisify } from 'node:util';
import { hashRaw } from '@node-rs/argon2';
import { hash as hashBcrypt } from '@node-rs/bcrypt';
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
  readonly salt: Buffer;
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
/** The digest of bcrypt is stored in its text form. */
const bcryptDigestChars = 31;

const scryptAsync = promisify<Buffer, Buffer, number, { N: number; r: number; p: number; maxmem: number }, Buffer>(
  scrypt,
);
const pbkdf2Async = promisify(pbkdf2);
/** A bound for OpenSSL; `assertBounds` limits scrypt to half of it. */
const scryptMemoryBytesMax = 2 ** 29;

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

/** Computes the digest of a password in a thread pool. @param recipe within the bounds of {@link assertBounds} */
export async function deriveForeign(recipe: ForeignRecipe, password: string): Promise<Buffer> {
  const { scheme, parameters, salt, digestBytes } = recipe;
  const { v = 0, m = 0, t = 0, p = 0, c = 0, n = 0, r = 0, i = 0 } = parameters;
  switch (scheme) {
    case 'argon2d':
    case 'argon2i':
    case 'argon2id':
      return hashRaw(password, {
        // The numbers of the library's enumeration.
        algorithm: ['argon2d', 'argon2i', 'argon2id'].indexOf(scheme),
        version: v === 19 ? 1 : 0,
        memoryCost: m,
        timeCost: t,
        parallelism: p,
        outputLen: digestBytes,
        salt,
      });
    case 'bcrypt':
      // bcrypt uses only the first 72 bytes, as the other system did.
      return Buffer.from((await hashBcrypt(password, c, salt)).slice(-bcryptDigestChars));
    case 'scrypt':
    case 'scrypt-nfkc': {
      const text = scheme === 'scrypt' ? password : password.normalize('NFKC');
      return scryptAsync(Buffer.from(text), salt, digestBytes, { N: n, r, p, maxmem: scryptMemoryBytesMax });
    }
    case 'pbkdf2-sha1':
    case 'pbkdf2-sha256':
    case 'pbkdf2-sha512':
      return pbkdf2Async(password, salt, i, digestBytes, scheme.slice('pbkdf2-'.length));
  }
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
