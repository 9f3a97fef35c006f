/**
 * The list of passwords that attackers try first, asked without any network (ASVS 6.2.4, 6.2.12). It is a file of
 * sorted digests beside this one: where it comes from is in `common-passwords/README.md`, how it is made in
 * `scripts/write-common-passwords.ts`.
 */
import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';

const file = new URL('common-passwords/digests.bin', import.meta.url);
/** 48 bits: a password that isn't on a list of half a million is taken for one of it once in 600 million times. */
export const digestBytes = 6;

/** What the list holds of a password: the first bytes of SHA-256, of its lower-case form, as a number. */
export const digestOf = (password: string): number =>
  hash('sha256', password.normalize('NFC').toLowerCase(), 'buffer').readUIntBE(0, digestBytes);

export class CommonPasswords {
  #digests: Buffer | undefined;

  /** Whether it is on the list, in any case of its letters. The first question reads the file: 3 MB, 4 ms. */
  has(password: string): boolean {
    const digests = (this.#digests ??= readDigests());
    const wanted = digestOf(password);
    let from = 0;
    let to = digests.length / digestBytes;
    while (from < to) {
      const middle = (from + to) >>> 1;
      const found = digests.readUIntBE(middle * digestBytes, digestBytes);
      if (found === wanted) return true;
      if (found < wanted) from = middle + 1;
      else to = middle;
    }
    return false;
  }
}

/** A list that is missing or cut stops whoever sets a password; none is accepted unchecked. */
function readDigests(): Buffer {
  const digests = readFileSync(file);
  if (digests.length === 0 || digests.length % digestBytes !== 0) throw new Error(`${file.pathname} is damaged`);
  return digests;
}
