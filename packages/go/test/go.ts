/** The Go of the tests: the command `go` of the machine, 1.22 or newer. */
import { execFile, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Command } from '../../conformance/library-program.ts';
import { programMsMax } from '../../server/test-kit/time-limits.ts';

export const packageFolder = fileURLToPath(new URL('..', import.meta.url));

/** The module has no dependencies, so the tests download nothing. */
export const goEnvironment: NodeJS.ProcessEnv = {
  ...process.env,
  GOPROXY: 'off',
  GOTOOLCHAIN: 'local',
  GOWORK: 'off',
  GOFLAGS: '',
};

const hasGo = (): boolean => {
  const { stdout } = spawnSync('go', ['env', 'GOVERSION'], { encoding: 'utf8', env: goEnvironment });
  const [, minor = '0'] = /^go1\.(\d+)/.exec(stdout ?? '') ?? [];
  return Number(minor) >= 22;
};

/** Why a test that needs Go is skipped. Under CI it runs, and fails without Go. */
export const skip: string | false = process.env['CI'] !== 'true' && !hasGo() && 'Go 1.22 is not installed: not tried';

export interface Ended {
  readonly status: number | null;
  /** Of both streams. */
  readonly output: string;
}

/** Runs a command. @param more environment variables */
export const run = (
  command: string,
  args: readonly string[],
  cwd = packageFolder,
  more: Readonly<Record<string, string>> = {},
): Promise<Ended> =>
  new Promise((resolve) => {
    const options = { cwd, env: { ...goEnvironment, ...more }, timeout: programMsMax, maxBuffer: 2 ** 24 };
    const child = execFile(command, args, options, (_, stdout, stderr) =>
      resolve({ status: child.exitCode, output: stdout + stderr }),
    );
  });

export const runGo = (args: readonly string[], cwd?: string, more?: Readonly<Record<string, string>>): Promise<Ended> =>
  run('go', args, cwd, more);

/** Why the test with the race detector is skipped. It needs a C compiler. */
export const noRaceDetector: string | false =
  process.env['CI'] !== 'true' && spawnSync('gcc', ['--version']).status !== 0 && 'gcc is not installed: not tried';

/**
 * Builds the program of the conformance tests, which is in the binary of the tests of the library.
 * @param overlay of `go test`, with the file of a broken build
 */
export async function buildProgram(folder: string, overlay?: string): Promise<Command> {
  const program = join(folder, 'program');
  const args = overlay === undefined ? [] : ['-overlay', overlay];
  const { status, output } = await runGo(['test', '-c', '-vet=off', ...args, '-o', program, '.']);
  if (status !== 0) throw new Error(output);
  return { command: program, args: [], env: { KEYREEVE_TEST_PROGRAM: '1' } };
}
