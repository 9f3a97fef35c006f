/** A root key that equals its master key, so tests can derive the keys of an installation. */
import { RootKeys, wrapRootKey } from '../src/foundation/crypto/root-key.ts';

/** @param createdAt milliseconds since 1970 */
export function fixedRootKeys(masterKey: Uint8Array, createdAt: number): RootKeys {
  const rows = [wrapRootKey(masterKey, masterKey, { version: 1, generation: 1, createdAt })];
  const opened = RootKeys.open(masterKey, rows);
  if (!opened) throw new Error('the master key does not open its own wrapping');
  return opened;
}
