/** A textual format of password hashes of other systems. */
import { bcryptSalt, cryptBytes, cryptNumber } from './foreign-encodings.ts';
import type { ForeignRecipe, ForeignScheme } from './foreign-hash.ts';

export interface ForeignHash {
  readonly recipe: ForeignRecipe;
  readonly digest: Buffer;
}

export interface ParsedHash {
  readonly scheme: ForeignScheme;
  readonly parameters: Readonly<Record<string, number>>;
  readonly salt: Buffer;
  readonly digest: Buffer;
}

export interface ForeignFormat {
  readonly pattern: RegExp;
  /** @param parts the groups of the pattern @throws ForeignHashError */
  readonly read: (parts: readonly string[]) => ParsedHash;
}

/** For a pattern whose groups are the cost, the salt and the digest. */
export const bcryptAs =
  (scheme: ForeignScheme): ForeignFormat['read'] =>
  ([cost, salt = '', digest = '']) => ({
    scheme,
    parameters: { c: Number(cost) },
    salt: bcryptSalt(salt),
    digest: Buffer.from(digest),
  });

export const scrypt = (
  [n, r, p]: readonly [n: number, r: number, p: number],
  salt: Buffer,
  digest: Buffer,
): ParsedHash => ({
  scheme: 'scrypt',
  parameters: { n, r, p },
  salt,
  digest,
});

/** @param name of the hash function */
export const pbkdf2 = (
  name: string,
  rounds: string | number | undefined,
  salt: Buffer,
  digest: Buffer,
): ParsedHash => ({
  scheme: `pbkdf2-${name}` as ForeignScheme,
  parameters: { i: Number(rounds) },
  salt,
  digest,
});

/** Digests that repeat a hash function. @param log the binary logarithm of the rounds, in crypt's digits */
export const repeatedAs = (scheme: ForeignScheme, log: string, salt: string, digest: string): ParsedHash => ({
  scheme,
  parameters: { i: 2 ** cryptNumber(log) },
  salt: Buffer.from(salt),
  digest: cryptBytes(digest),
});
