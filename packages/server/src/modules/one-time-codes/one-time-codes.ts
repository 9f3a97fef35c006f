/** One-time codes: each works once, for one purpose (ASVS 5.0 6.5.1–6.5.5). They are sent by mail or shown once. */
import type { KeyedHash } from '../../foundation/crypto/keyed-hash.ts';
import type { Secret } from '../../foundation/crypto/secret.ts';
import { isOneTimeCode, makeOneTimeCode } from './code-format.ts';
export type { CodePurpose, CodeRow, NewCode } from './store.ts';

export interface Code {
  /** Goes into the mail or onto the screen; never stored. */
  readonly text: Secret;
  /** Goes into the row. */
  readonly hash: Buffer;
}

export class OneTimeCodes {
  readonly #hash: KeyedHash;

  constructor(hash: KeyedHash) {
    this.#hash = hash;
  }

  make(): Code {
    const text = makeOneTimeCode();
    return { text, hash: this.#hash.stored(text.reveal()) };
  }

  /** @returns the hash to look up a code from a request by; undefined if the text is no one-time code */
  hashOf(text: string): Buffer | undefined {
    return isOneTimeCode(text) ? this.#hash.stored(text) : undefined;
  }
}
