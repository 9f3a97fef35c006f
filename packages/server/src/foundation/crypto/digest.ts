/** Computes the digest of a password. Blocks its thread for milliseconds to seconds, so only a hashing thread calls it. */
import { pbkdf2Sync, scryptSync } from 'node:crypto';
import { hashRawSync } from '@node-rs/argon2';
import { hashSync as hashBcrypt } from '@node-rs/bcrypt';
import type { ForeignRecipe } from './foreign-hash.ts';

/** The digest of bcrypt is stored in its text form. */
const bcryptDigestChars = 31;
/** A bound for OpenSSL; `assertBounds` limits scrypt to half of it. */
const scryptMemoryBytesMax = 2 ** 29;

/** @param recipe of this service, or of another system and within the bounds of `assertBounds` */
export function computeDigest(recipe: ForeignRecipe, password: string): Uint8Array {
  const { scheme, parameters, salt, digestBytes } = recipe;
  const { v = 0, m = 0, t = 0, p = 0, c = 0, n = 0, r = 0, i = 0 } = parameters;
  switch (scheme) {
    case 'argon2d':
    case 'argon2i':
    case 'argon2id':
      return hashRawSync(password, {
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
      return Buffer.from(hashBcrypt(password, c, salt).slice(-bcryptDigestChars));
    case 'scrypt':
    case 'scrypt-nfkc': {
      const text = scheme === 'scrypt' ? password : password.normalize('NFKC');
      return scryptSync(text, salt, digestBytes, { N: n, r, p, maxmem: scryptMemoryBytesMax });
    }
    case 'pbkdf2-sha1':
    case 'pbkdf2-sha256':
    case 'pbkdf2-sha512':
      return pbkdf2Sync(password, salt, i, digestBytes, scheme.slice('pbkdf2-'.length));
  }
}
