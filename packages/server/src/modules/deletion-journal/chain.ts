/**
 * The journal's lines: JSON objects that end with a MAC over themselves and the line before, so that a line that was
 * changed, taken out or put in shows. The MAC's key comes from the master key. A whole end of a file that was cut off
 * doesn't show.
 */
import { timingSafeEqual } from 'node:crypto';
import type { KeyedHash } from '../../foundation/crypto/keyed-hash.ts';

const sealed = /^(\{.+),"mac":"([0-9a-f]{64})"\}$/;

/** The lines of one file, in order. */
export class Chain {
  readonly #key: KeyedHash;
  #last = '';

  constructor(key: KeyedHash) {
    this.#key = key;
  }

  /** @param value an object with at least one member. @returns its line, with a line feed */
  seal(value: object): string {
    const body = JSON.stringify(value).slice(0, -1);
    this.#last = this.#macOf(body).toString('hex');
    return `${body},"mac":"${this.#last}"}\n`;
  }

  /** @returns undefined when the line isn't the one that was written here */
  open(line: string): unknown {
    const [, body = '', mac = ''] = sealed.exec(line) ?? [];
    if (body === '' || !timingSafeEqual(this.#macOf(body), Buffer.from(mac, 'hex'))) return undefined;
    this.#last = mac;
    return JSON.parse(`${body}}`);
  }

  #macOf(body: string): Buffer {
    return this.#key.mac(`${this.#last}\n${body}`);
  }
}
