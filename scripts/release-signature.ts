/** Signs the checksums of a release with minisign, https://jedisct1.github.io/minisign/. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

/**
 * Writes `SHA256SUMS.minisig`. minisign asks on the terminal for the password of an encrypted key.
 * @param key the path of the secret key @param comment is signed too
 * @throws Error if minisign is not installed or fails
 */
export function signChecksums(folder: string, key: string, comment: string): void {
  const sums = join(folder, 'SHA256SUMS');
  const { status, stderr, error } = spawnSync('minisign', ['-S', '-s', key, '-m', sums, '-t', comment], {
    encoding: 'utf8',
    stdio: ['inherit', 'ignore', 'pipe'],
  });
  if (status !== 0)
    throw new Error(`The release in ${folder} is not signed: minisign: ${error?.message ?? stderr.trim()}`);
}
