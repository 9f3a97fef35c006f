/** The suffix that another system, such as Devise, appended to each password before bcrypt. It is stored in the salt. */
import type { ForeignRecipe } from './foreign-hash.ts';
import type { KeyedHash } from './keyed-hash.ts';
import { Sealer } from './seal.ts';
import type { ImportedHash } from './stored-hash.ts';

/** The label from which the key of sealed suffixes derives, and the row of {@link Sealer}: all hashes have one suffix. */
const suffixLabel = 'keyreeve: the suffix of imported passwords';
const bcryptSaltBytes = 16;

/** The suffix is sealed under the pepper, like a hash. */
export function withSuffix(recipe: ForeignRecipe, suffix: string | undefined, pepper: KeyedHash): ForeignRecipe {
  if (suffix === undefined || recipe.scheme !== 'bcrypt') return recipe;
  const sealed = suffixSealer(pepper).seal(suffixLabel, suffix);
  return { ...recipe, scheme: 'bcrypt-suffix', salt: Buffer.concat([recipe.salt, sealed]) };
}

const suffixSealer = (pepper: KeyedHash): Sealer => new Sealer(pepper.mac(suffixLabel));

/** A dummy has no suffix: the work of bcrypt is the same. */
export function openSuffix(imported: ImportedHash, pepper: KeyedHash): ForeignRecipe {
  const { scheme, salt } = imported;
  if (scheme !== 'bcrypt-suffix' || salt.length === bcryptSaltBytes) return imported;
  const suffix = suffixSealer(pepper).open(suffixLabel, salt.subarray(bcryptSaltBytes));
  return { ...imported, salt: Buffer.concat([salt.subarray(0, bcryptSaltBytes), Buffer.from(suffix)]) };
}
