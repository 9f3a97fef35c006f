/**
 * The peppers of password hashes: one for each version of the root key. A stored hash names its pepper. New hashes get the
 * newest one; a hash with another one is outdated, so the next sign-in replaces it.
 */
import type { KeyedHash } from './keyed-hash.ts';

/** Base64 of `p1`, `p2` and so on, without padding: the value of `keyid` in a stored hash. */
export const pepperIdOf = (version: number): string =>
  Buffer.from(`p${version}`).toString('base64').replaceAll('=', '');

export class Peppers {
  readonly newestId: string;
  /** By version of the root key, in ascending order. */
  readonly all: readonly (readonly [version: number, pepper: KeyedHash])[];
  readonly #newest: KeyedHash;
  readonly #byId: ReadonlyMap<string, KeyedHash>;

  /** @param peppers by version of the root key, in ascending order; at least one */
  constructor(peppers: readonly (readonly [version: number, pepper: KeyedHash])[]) {
    const last = peppers.at(-1);
    if (!last) throw new RangeError('there is no pepper');
    this.all = peppers;
    this.newestId = pepperIdOf(last[0]);
    this.#newest = last[1];
    this.#byId = new Map(peppers.map(([version, pepper]) => [pepperIdOf(version), pepper]));
  }

  get newest(): KeyedHash {
    return this.#newest;
  }

  /** @throws Error for the pepper of a version that the database does not have */
  byId(id: string): KeyedHash {
    const pepper = this.#byId.get(id);
    if (!pepper) throw new Error('a stored password hash has an unknown pepper');
    return pepper;
  }
}
