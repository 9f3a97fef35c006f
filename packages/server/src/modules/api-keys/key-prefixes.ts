/** Warnings about earlier key prefixes that the configuration no longer accepts. */
import type { Db } from '../../foundation/database/db.ts';
import { listKeyPrefixes } from './store.ts';

/** The settings that decide which prefixes are accepted. */
export interface PrefixSettings {
  readonly keyPrefix: string;
  readonly keyPrefixesAccepted: readonly string[];
}

/** One sentence per prefix, for the log of `serve` and for `doctor`. */
export async function keyPrefixWarnings(db: Db, settings: PrefixSettings): Promise<readonly string[]> {
  const accepted = [settings.keyPrefix, ...settings.keyPrefixesAccepted];
  return (await listKeyPrefixes(db))
    .filter((prefix) => !accepted.includes(prefix))
    .map(
      (prefix) =>
        `KEYREEVE_KEY_PREFIXES_ACCEPTED does not list ${prefix}, which was KEYREEVE_KEY_PREFIX earlier: keys that begin with ${prefix}_ are rejected; add ${prefix} to it`,
    );
}
