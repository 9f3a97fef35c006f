/** Kills a command before its end. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { until } from '../../test-kit/until.ts';
import { environmentFor, keyreeveBin, Program, type Environment } from './program.ts';

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
  await until('the command is midway', async () => {
    if (child.exitCode !== null) throw new Error(`the command has ended:\n${program.stdout}${program.stderr}`);
    return isMidway();
  });
  program.signal('SIGKILL');
  await program.exited();
  assert.equal(child.signalCode, 'SIGKILL', program.stdout);
}
