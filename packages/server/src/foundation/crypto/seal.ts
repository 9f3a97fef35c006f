/**
 * Encryption of secrets at rest: AES-256-GCM (NIST SP 800-38D) with a random nonce. The row's id is additional
 * authenticated data, so a sealed value cannot be moved to another row. Sealed form: version byte, nonce (12 bytes),
 * ciphertext, tag (16 bytes).
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

const version = 1;
const nonceBytes = 12;
const tagBytes = 16;

export class Sealer {
  readonly #key: Uint8Array;

  /** @param key 32 bytes */
  constructor(key: Uint8Array) {
    this.#key = key;
  }

  seal(rowId: string, plain: string): Buffer {
    const nonce = randomBytes(nonceBytes);
    const cipher = createCipheriv('aes-256-gcm', this.#key, nonce).setAAD(Buffer.from(rowId));
    return Buffer.concat([
      Buffer.of(version),
      nonce,
      cipher.update(plain, 'utf8'),
      cipher.final(),
      cipher.getAuthTag(),
    ]);
  }

  /** @throws Error if the value was changed, or was sealed for another row or with another key */
  open(rowId: string, sealed: Uint8Array): string {
    if (sealed[0] !== version) throw new Error('the sealed value has an unknown version');
    const nonce = sealed.subarray(1, 1 + nonceBytes);
    const ciphertext = sealed.subarray(1 + nonceBytes, sealed.length - tagBytes);
    const decipher = createDecipheriv('aes-256-gcm', this.#key, nonce, { authTagLength: tagBytes })
      .setAAD(Buffer.from(rowId))
      .setAuthTag(sealed.subarray(sealed.length - tagBytes));
    return Buffer.concat([decipher.update(ciphertext), decipher.final()]).toString('utf8');
  }
}
