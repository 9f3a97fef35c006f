/**
 * The lines of a file of the deletion journal. The MAC of each line also covers the MAC of the line before it, so an
 * edited, removed or inserted line is detected. Lines that were cut off at the end of a file are not detected.
 */
import type { KeyedHash } from '../../foundation/crypto/keyed-hash.ts';
import { openLine, sealLine } from '../../foundation/sealed-line.ts';

/** Seals or opens the lines of one file, in order. */
export class Chain {
  readonly #key: KeyedHash;
  #previous = '';

  /** @param key derives from the master key */
  constructor(key: KeyedHash) {
    this.#key = key;
  }

  /** @param value an object with at least one member. @returns its line, with a line feed */
  seal(value: object): string {
    return sealLine(value, this.#macOf);
  }

  /** @returns undefined for a line that was not sealed at this place; no line after it can be opened then */
  open(line: string): unknown {
    return openLine(line, this.#macOf);
  }

  readonly #macOf = (body: string): Buffer => {
    const mac = this.#key.mac(`${this.#previous}\n${body}`);
    this.#previous = mac.toString('hex');
    return mac;
  };
}
