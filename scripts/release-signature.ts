/** Signs the checksums of a release with minisign, https://jedisct1.github.io/minisign/. */
import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';

/** In the repository. */
export const publicKeyName = 'keyreeve.pub';

/** A comment, and in base64 the name of the algorithm, 8 bytes of a key id and 32 of the key. */
export function isPublicKey(text: string): boolean {
  const [comment = '', key = '', ...rest] = text.trimEnd().split('\n');
  const bytes = Buffer.from(key, 'base64');
  const isEncoded = bytes.toString('base64') === key && bytes.length === 42 && bytes.toString('latin1', 0, 2) === 'Ed';
  return comment.startsWith('untrusted comment: ') && isEncoded && rest.length === 0;
}

/**
 * Writes `SHA256SUMS.minisig`, and verifies it as a user does. minisign asks on the terminal for the password of an encrypted key.
 * @param key the path of the secret key @param publicKey the path of the public key @param comment is signed too
 * @throws Error if minisign is not installed or fails, or the keys do not belong together: the release then has no signature
 */
export function signChecksums(folder: string, key: string, publicKey: string, comment: string): void {
  const sums = join(folder, 'SHA256SUMS');
  try {
    minisign(folder, ['-S', '-s', key, '-m', sums, '-t', comment]);
    minisign(folder, ['-V', '-q', '-p', publicKey, '-m', sums]);
  } catch (error) {
    rmSync(`${sums}.minisig`, { force: true });
    throw error;
  }
}

function minisign(folder: string, args: readonly string[]): void {
  const { status, stdout, stderr, error } = spawnSync('minisign', args, {
    encoding: 'utf8',
    stdio: ['inherit', 'pipe', 'pipe'],
  });
  if (status === 0) return;
  const reason = error?.message ?? `${stderr}${stdout}`.trim();
  throw new Error(`The release in ${folder} is not signed: minisign ${args[0]}: ${reason}`);
}
