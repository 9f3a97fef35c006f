/** A command of the real program that is killed in the midst of its work. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { environmentFor, keyreeveBin, Program, type Environment } from './program.ts';

const lookEveryMs = 5;
const midwayMsMax = 60_000;

export interface KilledCommand {
  readonly folder: string;
  readonly environment: Environment;
  /** Asked again and again, until it says yes. */
  readonly isMidway: () => boolean | Promise<boolean>;
}

/** @throws Error when it ends by itself before it was midway */
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
      throw new Error(`it was never midway; it printed:\n${program.stdout}${program.stderr}`);
    }
    await sleep(lookEveryMs);
  }
  program.signal('SIGKILL');
  await program.exited();
  assert.equal(child.signalCode, 'SIGKILL', program.stdout);
}
