/** Identifies the program of the verifiers, so that one that starts after an upgrade in place notices that its main process is older. */
import { fileURLToPath } from 'node:url';
import { hashOfScript, ownScript } from '../../foundation/own-files.ts';
import { version } from '../version.ts';

export const verifierScript = 'app/processes/verifier';
export const verifierProgram = fileURLToPath(ownScript(verifierScript));

/** @returns the version and the hash of the program, for example `1.4.0 (5d41402abc4b)` */
export function readVerifierBuild(): string {
  return `${version} (${hashOfScript(verifierScript).slice(0, 12)})`;
}
