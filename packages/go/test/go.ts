/** The Go of the tests: the command `go` of the machine, 1.22 or newer. */
import { execFile, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

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

/** Runs a command, at most 10 minutes. @param more environment variables */
export const run = (
  command: string,
  args: readonly string[],
  cwd = packageFolder,
  more: Readonly<Record<string, string>> = {},
): Promise<Ended> =>
  new Promise((resolve) => {
    const options = { cwd, env: { ...goEnvironment, ...more }, timeout: 600_000, maxBuffer: 2 ** 24 };
    const child = execFile(command, args, options, (_, stdout, stderr) =>
      resolve({ status: child.exitCode, output: stdout + stderr }),
    );
  });

export const runGo = (args: readonly string[], cwd?: string, more?: Readonly<Record<string, string>>): Promise<Ended> =>
  run('go', args, cwd, more);

/** The race detector needs a C compiler. */
export const hasRaceDetector = (): boolean =>
  spawnSync('go', ['env', 'CGO_ENABLED'], { encoding: 'utf8', env: goEnvironment }).stdout.trim() === '1' &&
  spawnSync('gcc', ['--version']).status === 0;

/**
 * Builds the program of the conformance tests.
 * @param overlay of `go build`, with the file of a broken build
 * @returns the path of the executable
 */
export async function buildProgram(folder: string, overlay?: string): Promise<string> {
  const program = join(folder, 'program');
  const args = overlay === undefined ? [] : ['-overlay', overlay];
  const { status, output } = await runGo(['build', ...args, '-o', program, './test/program']);
  if (status !== 0) throw new Error(output);
  return program;
}
