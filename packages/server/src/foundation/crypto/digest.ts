/** Computes the digest of a password. Blocks its thread for milliseconds to seconds, so only a hashing thread calls it. */
import { createCipheriv, createHmac, hash, pbkdf2Sync, scryptSync } from 'node:crypto';
import { hashRawSync } from '@node-rs/argon2';
import { hashSync as hashBcrypt } from '@node-rs/bcrypt';
import { md5Crypt, phpass, shaCrypt } from './crypt-digests.ts';
import { bcryptSaltText } from './foreign-encodings.ts';
import {
  wrapDigestBytes,
  wrappedSchemeOf,
  wrapSaltBytes,
  type FastScheme,
  type ForeignRecipe,
  type PlainScheme,
} from './foreign-hash.ts';

/** The digest of bcrypt is stored in its text form. */
const bcryptDigestChars = 31;
const bcryptSaltBytes = 16;
/** A bound for OpenSSL; `assertBounds` limits scrypt to half of it. */
const scryptMemoryBytesMax = 2 ** 29;
const argon2Versions = { old: 16, current: 19 } as const;

/**
 * @param recipe of this service, or of another system and within the bounds of `assertBounds`
 * @param password bytes if only a part of it counts
 */
export function computeDigest(recipe: ForeignRecipe, password: string | Uint8Array): Uint8Array {
  const fast = wrappedSchemeOf(recipe.scheme);
  if (fast !== undefined) return computeWrapped(recipe, fast, password);
  const scheme = recipe.scheme as PlainScheme;
  const { parameters, salt, digestBytes } = recipe;
  const { i = 0, o = 0 } = parameters;
  const bytes = Buffer.from(password);
  switch (scheme) {
    case 'argon2d':
    case 'argon2i':
    case 'argon2id':
      return computeArgon2(recipe, scheme, password);
    case 'bcrypt':
    case 'bcrypt-sha256-hex':
    case 'bcrypt-sha256-base64':
    case 'bcrypt-hmac-sha256':
    case 'bcrypt-wordpress':
    case 'bcrypt-suffix': {
      // bcrypt uses only the first 72 bytes, as the other system did.
      const input = bcryptInput(scheme, bytes, salt);
      return Buffer.from(
        hashBcrypt(input, parameters['c'], salt.subarray(0, bcryptSaltBytes)).slice(-bcryptDigestChars),
      );
    }
    case 'scrypt':
      return computeScrypt(recipe, bytes, digestBytes);
    case 'scrypt-nfkc':
      return computeScrypt(recipe, Buffer.from(bytes.toString().normalize('NFKC')), digestBytes);
    case 'scrypt-firebase': {
      const cipher = createCipheriv('aes-256-ctr', computeScrypt(recipe, bytes, 32), Buffer.alloc(16));
      return cipher.update(Buffer.alloc(digestBytes));
    }
    case 'pbkdf2-sha1':
    case 'pbkdf2-sha256':
    case 'pbkdf2-sha512':
      return pbkdf2Sync(bytes, salt, i, digestBytes, scheme.slice('pbkdf2-'.length));
    case 'sha256-crypt':
      return shaCrypt('sha256', bytes, salt, i);
    case 'sha512-crypt':
      return shaCrypt('sha512', bytes, salt, i);
    case 'phpass':
    case 'phpass-phpbb':
      return phpass('md5', bytes, salt, i);
    case 'drupal7':
      return phpass('sha512', bytes, salt, i).subarray(0, digestBytes);
    case 'md5-crypt':
      return md5Crypt('$1$', bytes, salt, i);
    case 'apr1':
      return md5Crypt('$apr1$', bytes, salt, i);
    case 'sha1':
    case 'sha256':
    case 'sha384':
    case 'sha512':
      return repeated(scheme, o === 0 ? [bytes, salt] : [salt, bytes], i);
  }
}

function computeArgon2(
  { parameters, salt, digestBytes }: Omit<ForeignRecipe, 'scheme'>,
  scheme: 'argon2d' | 'argon2i' | 'argon2id',
  password: string | Uint8Array,
): Uint8Array {
  const { v = argon2Versions.current, m = 0, t = 0, p = 0 } = parameters;
  return hashRawSync(password, {
    // The numbers of the library's enumeration.
    algorithm: ['argon2d', 'argon2i', 'argon2id'].indexOf(scheme),
    version: v === argon2Versions.current ? 1 : 0,
    memoryCost: m,
    timeCost: t,
    parallelism: p,
    outputLen: digestBytes,
    salt,
  });
}

/** @param recipe its salt begins with that of Argon2id */
function computeWrapped(recipe: ForeignRecipe, fast: FastScheme, password: string | Uint8Array): Uint8Array {
  const { parameters, salt, digestBytes } = recipe;
  const inner = computeDigest({ scheme: fast, parameters, salt: salt.subarray(wrapSaltBytes), digestBytes }, password);
  const outer = { parameters, salt: salt.subarray(0, wrapSaltBytes), digestBytes: wrapDigestBytes };
  return computeArgon2(outer, 'argon2id', inner);
}

type BcryptScheme = Extract<PlainScheme, `bcrypt${string}`>;

/** @param salt of `bcrypt-suffix`: 16 bytes, then the suffix */
function bcryptInput(scheme: BcryptScheme, password: Buffer, salt: Uint8Array): string | Buffer {
  switch (scheme) {
    case 'bcrypt':
      return password;
    case 'bcrypt-sha256-hex':
      return hash('sha256', password, 'hex');
    case 'bcrypt-sha256-base64':
      return hash('sha256', password, 'base64');
    case 'bcrypt-hmac-sha256':
      return createHmac('sha256', bcryptSaltText(salt)).update(password).digest('base64');
    case 'bcrypt-wordpress':
      return createHmac('sha384', 'wp-sha384').update(password).digest('base64');
    case 'bcrypt-suffix':
      return Buffer.concat([password, salt.subarray(bcryptSaltBytes)]);
  }
}

function computeScrypt({ parameters, salt }: ForeignRecipe, password: Buffer, digestBytes: number): Buffer {
  const { n = 0, r = 0, p = 0 } = parameters;
  return scryptSync(password, salt, digestBytes, { N: n, r, p, maxmem: scryptMemoryBytesMax });
}

function repeated(name: string, parts: readonly Uint8Array[], rounds: number): Buffer {
  let digest = hash(name, Buffer.concat(parts), 'buffer');
  for (let round = 1; round < rounds; round++) digest = hash(name, digest, 'buffer');
  return digest;
}
