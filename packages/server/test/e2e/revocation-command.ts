/** Runs `keyreeve prove-revocation`. */
import assert from 'node:assert/strict';
import type { RunResult } from '../../revocation-check/run.ts';
import type { Program } from './program.ts';

export interface CommandResult {
  readonly status: number | null;
  readonly result: RunResult;
}

export async function prove(
  program: Program,
  instances: readonly string[],
  ...more: readonly string[]
): Promise<CommandResult> {
  const args = ['prove-revocation', '--json', '--instances', instances.join(','), ...more];
  const { status, stdout, stderr } = await program.command(args);
  assert.equal(stderr, '');
  return { status, result: JSON.parse(stdout) as RunResult };
}

export async function assertNoCanaries(program: Program, result: RunResult): Promise<void> {
  assert.deepEqual(result.leftBehind, []);
  assert.equal((await program.command(['account', 'list', '--json'])).stdout, '[]\n');
}
