/** Stored hashes: that of a key without a secret, and the id that an imported key derives from its own. */
import { randomBytes } from 'node:crypto';
import { digestBytes, storedVersion, type KeyedHash } from '../../foundation/crypto/keyed-hash.ts';

/** Of a public key, or of a key whose secret has leaked: it belongs to no text, so no credential has it. */
export const randomHash = (): Buffer => Buffer.concat([Buffer.of(storedVersion), randomBytes(digestBytes)]);

/**
 * Derives the id of an imported key from its hash. A key that is imported again gets the same id, so the audit log
 * shows whether it was deleted here. Ids are unpredictable without the installation's key. The NUL keeps the MAC's
 * input apart from the text of any key, because a presented key never contains NUL.
 * @returns 1 to 2^53 - 1
 */
export function importedIdOf(keyHash: KeyedHash, stored: Buffer): number {
  const mac = keyHash.mac(Buffer.concat([Buffer.from('id of an imported key\0'), stored]));
  return Math.max(1, mac.readUIntBE(0, 6) * 32 + ((mac[6] ?? 0) >> 3));
}
