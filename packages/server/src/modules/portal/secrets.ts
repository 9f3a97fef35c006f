/**
 * The token in the URL of a portal session, which works once, and the secret that the key page gets for it. Each has 256 random
 * bits. The database contains only their keyed hashes.
 */
import { checksumChars, keyRandomChars, portalSecretPrefix, portalTokenPrefix } from '@keyreeve/contract';
import type { KeyedHash } from '../../foundation/crypto/keyed-hash.ts';
import { checksum, hasChecksum, randomBase62, Secret } from '../../foundation/crypto/secret.ts';

export interface NewPortalSecret {
  readonly text: Secret;
  /** Stored instead of the text: 33 bytes. */
  readonly hash: Buffer;
}

export class PortalSecrets {
  readonly #hash: KeyedHash;

  constructor(hash: KeyedHash) {
    this.#hash = hash;
  }

  makeToken(): NewPortalSecret {
    return this.#make(portalTokenPrefix);
  }

  makeSecret(): NewPortalSecret {
    return this.#make(portalSecretPrefix);
  }

  /** @returns undefined for a text of another format */
  hashOfToken(text: string): Buffer | undefined {
    return this.#hashOf(text, portalTokenPrefix);
  }

  /** @returns undefined for a text of another format */
  hashOfSecret(text: string): Buffer | undefined {
    return this.#hashOf(text, portalSecretPrefix);
  }

  #make(prefix: string): NewPortalSecret {
    const unchecked = `${prefix}_${randomBase62(keyRandomChars)}`;
    const text = unchecked + checksum(unchecked);
    return { text: new Secret(text), hash: this.#hash.stored(text) };
  }

  #hashOf(text: string, prefix: string): Buffer | undefined {
    const start = prefix.length + 1;
    const hasForm = text.length === start + keyRandomChars + checksumChars && text.startsWith(`${prefix}_`);
    return hasForm && hasChecksum(text, start) ? this.#hash.stored(text) : undefined;
  }
}
