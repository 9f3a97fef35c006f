/** Identifies the program of the verifiers, so that one that starts after an upgrade in place notices that its main process is older. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { ownScript } from '../../foundation/own-files.ts';
import { version } from '../version.ts';

export const verifierProgram = fileURLToPath(ownScript('app/processes/verifier'));

/**
 * Reads the version, and the hash of the program: a build imports its other parts under names with the hashes of their contents.
 * @returns for example `1.4.0 (5d41402abc4b)`
 */
export function readVerifierBuild(): string {
  const hash = createHash('sha256').update(readFileSync(verifierProgram)).digest('hex');
  return `${version} (${hash.slice(0, 12)})`;
}
