/** Kills a command before its end. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { environmentFor, keyreeveBin, Program, type Environment } from './program.ts';

const pollMs = 5;
const midwayMsMax = 60_000;

export interface KilledCommand {
  readonly folder: string;
  readonly environment: Environment;
  /** Polled until it returns true. */
  readonly isMidway: () => boolean | Promise<boolean>;
}

/** @throws Error if the command ends before `isMidway` is true */
export async function killMidway(args: readonly string[], { folder, environment, isMidway }: KilledCommand) {
  const child = spawn(process.execPath, [keyreeveBin, ...args], {
    cwd: folder,
    env: environmentFor(folder, environment),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  await using program = new Program(child, folder);
  const bound = AbortSignal.timeout(midwayMsMax);
  while (!(await isMidway())) {
    if (child.exitCode !== null || bound.aborted) {
      throw new Error(`isMidway was never true; the output:\n${program.stdout}${program.stderr}`);
    }
    await sleep(pollMs);
  }
  program.signal('SIGKILL');
  await program.exited();
  assert.equal(child.signalCode, 'SIGKILL', program.stdout);
}
