/** One-time codes: each works once, for one purpose (ASVS 5.0 6.5.1–6.5.5). They are sent by mail or shown once. */
import { limits } from '@keyreeve/contract';
import type { KeyedHash } from '../../foundation/crypto/keyed-hash.ts';
import { randomId, type Secret } from '../../foundation/crypto/secret.ts';
import { isOneTimeCode, makeOneTimeCode } from './code-format.ts';
import type { NewCode } from './store.ts';
export type { CodePurpose, CodeRow, NewCode } from './store.ts';

export interface Code {
  /** Goes into the mail or onto the screen; never stored. */
  readonly text: Secret;
  /** Goes into the row. */
  readonly hash: Buffer;
}

/**
 * Stands for a code until its mail is handed over, so that no code waits in the database. Its row has the purpose and the account,
 * is deleted when codes of the account are invalidated, and expires: then the mail is not sent any more.
 */
export interface CodeRequest {
  /** Goes into the mail job; no secret. */
  readonly id: string;
  /** A hash that no code has. */
  readonly row: Pick<NewCode, 'hash' | 'now' | 'expiresAt'>;
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

  /**
   * @param requestedAt when the code was requested, in milliseconds
   * @param seconds within which its mail is handed over
   */
  request(requestedAt: number, seconds: number = limits.codeRequestSeconds): CodeRequest {
    const id = randomId('crq');
    const expiresAt = requestedAt + seconds * 1000;
    return { id, row: { hash: this.hashOfRequest(id), now: requestedAt, expiresAt } };
  }

  /** Codes have another form, so the hash is that of no code. */
  hashOfRequest(id: string): Buffer {
    return this.#hash.stored(`request ${id}`);
  }

  /** @returns the hash to look up a code from a request by; undefined if the text is no one-time code */
  hashOf(text: string): Buffer | undefined {
    return isOneTimeCode(text) ? this.#hash.stored(text) : undefined;
  }
}
