/** A warning about a scope catalogue that verification does not apply. */
import type { Db } from '../../foundation/database/db.ts';
import { countLimitingScopes } from './store.ts';

/** One sentence for the log of `serve` and for `doctor`, or none. */
export async function catalogueWarnings(
  db: Db,
  { scopes }: { readonly scopes: 'open' | 'catalogue' },
): Promise<readonly string[]> {
  const count = scopes === 'open' ? await countLimitingScopes(db) : 0;
  if (count === 0) return [];
  return [
    `KEYREEVE_SCOPES is open, so deleted scopes and scopes that need an entitlement (${count}) are in force on every key that has them; set it to catalogue`,
  ];
}
