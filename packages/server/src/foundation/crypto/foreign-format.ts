/** A textual format of password hashes of other systems. */
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
