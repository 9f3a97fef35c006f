/**
 * HMAC-SHA-256 (RFC 2104) under a fixed key, and the stored form of a credential:
 * a version byte and HMAC-SHA-256(key, SHA-256(text)).
 *
 * The two halves of HMAC are written as one-shot hashes over prepared blocks, because a `createHmac` object costs
 * several times as much as the hashing itself and this stands in the path of every verification
 * (docs/decisions/0003-hot-path.md). `keyed-hash.test.ts` holds it against `createHmac`.
 */
import { hash } from 'node:crypto';

const blockBytes = 64;
const digestBytes = 32;
/** Tells stored hashes apart when the derivation changes one day. */
const version = '\x01';

export class KeyedHash {
  // Both are reused by every call: safe, because everything between filling and hashing is synchronous.
  readonly #inner = Buffer.alloc(blockBytes + digestBytes);
  readonly #outer = Buffer.alloc(blockBytes + digestBytes);

  /** @param key 32 bytes */
  constructor(key: Uint8Array) {
    if (key.length !== digestBytes) throw new RangeError('a key has 32 bytes');
    for (let i = 0; i < blockBytes; i++) {
      const byte = key[i] ?? 0;
      this.#inner[i] = byte ^ 0x36;
      this.#outer[i] = byte ^ 0x5c;
    }
  }

  /** HMAC-SHA-256(key, SHA-256(text)): 32 bytes. */
  mac(text: string | Uint8Array): Buffer {
    return Buffer.from(this.#digest(text), 'latin1');
  }

  /** What is stored of a credential: 33 bytes, the first the version. */
  stored(text: string): Buffer {
    return Buffer.from(version + this.#digest(text), 'latin1');
  }

  /** What is stored of a credential of which only its SHA-256 is known: 32 bytes. */
  storedOfDigest(sha256: Uint8Array): Buffer {
    if (sha256.length !== digestBytes) throw new RangeError('a SHA-256 has 32 bytes');
    return Buffer.from(version + this.#keyed(Buffer.from(sha256).toString('latin1')), 'latin1');
  }

  /** One character per byte: Node makes a digest as such a string in a third of the time that a Buffer takes. */
  #digest(text: string | Uint8Array): string {
    return this.#keyed(hash('sha256', text, 'latin1'));
  }

  #keyed(digest: string): string {
    this.#inner.write(digest, blockBytes, 'latin1');
    this.#outer.write(hash('sha256', this.#inner, 'latin1'), blockBytes, 'latin1');
    return hash('sha256', this.#outer, 'latin1');
  }
}

/** The first 53 bits after the version: what a stored hash is found by. */
export const lookupOf = (stored: Buffer): number => stored.readUIntBE(1, 6) * 32 + ((stored[7] ?? 0) >> 3);
