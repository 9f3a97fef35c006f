/** A keyed hash of one version of the root key. */
import { KeyedHash } from './keyed-hash.ts';

export class VersionedHash extends KeyedHash {
  /** Of the root key that the key derives from. */
  readonly rootKeyVersion: number;

  /** @param key 32 bytes @throws RangeError for another length */
  constructor(key: Uint8Array, rootKeyVersion: number) {
    super(key);
    this.rootKeyVersion = rootKeyVersion;
  }
}
