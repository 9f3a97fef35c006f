/**
 * The list of passwords that attackers try first, searched without network access (ASVS 6.2.4, 6.2.12). It is a file of
 * sorted digests. `common-passwords/README.md` names its source; `scripts/write-common-passwords.ts` creates it.
 */
import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { lazily } from '../../foundation/lazy-modules.ts';
import { ownFile } from '../../foundation/own-files.ts';

const file = ownFile('modules/accounts/common-passwords/digests.bin');
/** 48 bits: with half a million entries, 1 in 600 million other passwords is rejected by mistake. */
export const digestBytes = 6;

/** The first bytes of the SHA-256 of the lower-case password, as a number. */
export const digestOf = (password: string): number =>
  hash('sha256', password.normalize('NFC').toLowerCase(), 'buffer').readUIntBE(0, digestBytes);

export class CommonPasswords {
  /** Ignores case. */
  has(password: string): boolean {
    const digests = readDigests();
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

/** 3 MB, 4 ms. Throws if the file is missing or truncated: no password is accepted unchecked. */
const readDigests = lazily((): Buffer => {
  const digests = readFileSync(file);
  if (digests.length === 0 || digests.length % digestBytes !== 0) throw new Error(`${file.pathname} is damaged`);
  return digests;
});
