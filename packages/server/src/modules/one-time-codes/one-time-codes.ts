/** One-time codes: made for a purpose, sent by mail or told once, and taken once (ASVS 5.0 6.5.1–6.5.5). */
import type { KeyedHash } from '../../foundation/crypto/keyed-hash.ts';
import type { Secret } from '../../foundation/crypto/secret.ts';
import { isOneTimeCode, makeOneTimeCode } from './code-format.ts';
export type { CodePurpose, CodeRow, NewCode } from './store.ts';

export interface Code {
  /** For the mail or the screen; never stored. */
  readonly text: Secret;
  /** For the row. */
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

  /** What a presented code is found by; undefined for what can't be one. */
  hashOf(text: string): Buffer | undefined {
    return isOneTimeCode(text) ? this.#hash.stored(text) : undefined;
  }
}
