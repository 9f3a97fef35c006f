/**
 * The codes of a request: the user code, which a person reads on one screen and types on another, and the device code, which only the
 * program has. Only keyed hashes are stored: without the key of the installation, nobody can search for the short one.
 */
import { randomInt } from 'node:crypto';
import { deviceCodePrefix, userCodeLength, userCodeLetters } from '@keyreeve/contract';
import type { KeyedHash } from '../../foundation/crypto/keyed-hash.ts';
import { checksum, hasChecksum, randomBase62, Secret } from '../../foundation/crypto/secret.ts';

const bodyChars = 43;
const devicePattern = new RegExp(`^${deviceCodePrefix}_[0-9A-Za-z]{${bodyChars + 6}}$`);
const userPattern = new RegExp(`^[${userCodeLetters}]{${userCodeLength}}$`);
/** Separators that people type, and those that a copied text has. */
const separators = /[\s\p{Pd}._]/gu;

export interface DeviceCodes {
  readonly userCode: string;
  readonly deviceCode: Secret;
  readonly userCodeHash: Buffer;
  readonly deviceCodeHash: Buffer;
}

export class ApprovalCodes {
  readonly #hash: KeyedHash;

  constructor(hash: KeyedHash) {
    this.#hash = hash;
  }

  make(): DeviceCodes {
    const letters = Array.from({ length: userCodeLength }, () => userCodeLetters[randomInt(userCodeLetters.length)]);
    const userCode = letters.join('');
    const unchecked = `${deviceCodePrefix}_${randomBase62(bodyChars)}`;
    const deviceCode = new Secret(unchecked + checksum(unchecked));
    return {
      userCode: `${userCode.slice(0, 4)}-${userCode.slice(4)}`,
      deviceCode,
      userCodeHash: this.#userCodeHash(userCode),
      deviceCodeHash: this.#hash.stored(deviceCode.reveal()),
    };
  }

  /** @returns undefined if the text is no device code */
  hashOfDeviceCode(text: string): Buffer | undefined {
    if (!devicePattern.test(text) || !hasChecksum(text, deviceCodePrefix.length + 1)) return undefined;
    return this.#hash.stored(text);
  }

  /** @param text case and separators do not matter @returns undefined if it is no user code */
  hashOfUserCode(text: string): Buffer | undefined {
    const letters = text.replaceAll(separators, '').toUpperCase();
    return userPattern.test(letters) ? this.#userCodeHash(letters) : undefined;
  }

  /** One-time codes have another form. */
  #userCodeHash(letters: string): Buffer {
    return this.#hash.stored(`user code ${letters}`);
  }
}
