/** HMAC-SHA-256 (RFC 2104) under a fixed key, and the stored form of a credential. */
import { createHmac, hash } from 'node:crypto';

export const digestBytes = 32;
/** First byte of each stored hash. A different derivation gets a different version. */
export const storedVersion = 1;

export class KeyedHash {
  readonly #key: Uint8Array;

  /** @param key 32 bytes @throws RangeError for another length */
  constructor(key: Uint8Array) {
    if (key.length !== digestBytes) throw new RangeError('a key has 32 bytes');
    this.#key = key;
  }

  /** The key, for a thread that computes the same. */
  reveal(): Uint8Array {
    return this.#key;
  }

  /** HMAC-SHA-256(key, SHA-256(text)): 32 bytes. */
  mac(text: string | Uint8Array): Buffer {
    return this.#hmac(hash('sha256', text, 'buffer'));
  }

  /** The stored form of a credential: the version byte and {@link mac}, 33 bytes. */
  stored(text: string): Buffer {
    return this.storedOfDigest(hash('sha256', text, 'buffer'));
  }

  /** {@link stored} for a credential of which only the SHA-256 is known. @throws RangeError unless it has 32 bytes */
  storedOfDigest(sha256: Uint8Array): Buffer {
    if (sha256.length !== digestBytes) throw new RangeError('a SHA-256 has 32 bytes');
    // With memory of its own: a message to a thread contains the whole memory that the bytes are a view of.
    const stored = Buffer.alloc(1 + digestBytes, storedVersion);
    stored.set(this.#hmac(sha256), 1);
    return stored;
  }

  #hmac(digest: Uint8Array): Buffer {
    return createHmac('sha256', this.#key).update(digest).digest();
  }
}

/** The first 53 bits after the version byte, as a safe integer: the column by which a stored hash is found. */
export const lookupOf = (stored: Buffer): number => stored.readUIntBE(1, 6) * 32 + ((stored[7] ?? 0) >> 3);
