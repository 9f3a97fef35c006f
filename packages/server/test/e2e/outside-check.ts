/** Runs the revocation check from outside. */
import assert from 'node:assert/strict';
import type { OutsideResult } from '../../revocation-check/outside-run.ts';
import { newTempFolder } from '../../test-kit/temp-folder.ts';
import { runProgram, type Exit, type Program } from './program.ts';

export interface Credential {
  readonly keyId: number;
  readonly accountId: string;
  readonly credential: string;
}

export const cluster = { KEYREEVE_PUBLIC_URL: 'http://localhost:8787' };

export async function issue(program: Program, expires = '30m'): Promise<Credential> {
  const { status, stdout, stderr } = await program.command([
    'prove-revocation',
    'credential',
    '--expires',
    expires,
    '--json',
  ]);
  assert.deepEqual([status, stderr], [0, '']);
  return JSON.parse(stdout) as Credential;
}

/** Runs the command without the database URL and the master key, in an empty folder. */
export async function proveWith(credential: string, args: readonly string[]): Promise<Exit> {
  using folder = newTempFolder();
  const environment = { KEYREEVE_DATABASE_URL: '', KEYREEVE_CANARY_CREDENTIAL: credential };
  const exit = await runProgram(['prove-revocation', ...args], { folder: folder.path, environment });
  assert.ok(!`${exit.stdout}${exit.stderr}`.includes(credential), 'the output has the credential');
  assert.doesNotMatch(exit.stdout, /krv_[0-9A-Za-z]{20}/);
  return exit;
}

export async function prove(
  { credential }: Credential,
  urls: readonly string[],
  ...more: readonly string[]
): Promise<{ readonly status: number | null; readonly result: OutsideResult }> {
  const exit = await proveWith(credential, [...urls.flatMap((url) => ['--url', url]), '--json', ...more]);
  assert.equal(exit.stderr, '');
  return { status: exit.status, result: JSON.parse(exit.stdout) as OutsideResult };
}
