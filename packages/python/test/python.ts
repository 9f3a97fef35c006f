/** The Python of the tests: a virtual environment with the packages of `requirements.txt` (CONTRIBUTING.md). */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { programMsMax } from '../../server/test-kit/time-limits.ts';
import { pythonOf } from '../../../scripts/python-environment.ts';

export const packageFolder = fileURLToPath(new URL('..', import.meta.url));
export const python = pythonOf(fileURLToPath(new URL('../../..', import.meta.url)));

/** Why a test that needs Python is skipped. Under CI it runs, and fails without Python. */
export const skip: string | false =
  process.env['CI'] !== 'true' && !existsSync(python) && 'node_modules/.cache/python does not exist: not tried';

/** Environment variables with which Python imports the library and writes no bytecode beside it. */
export const pythonEnvironment = (source = `${packageFolder}src`): Record<string, string> => ({
  PYTHONPATH: source,
  PYTHONDONTWRITEBYTECODE: '1',
  PYTHONUNBUFFERED: '1',
});

export interface Ended {
  readonly status: number | null;
  /** Of both streams. */
  readonly output: string;
}

/** Runs a command of Python in the folder of the package. */
export const runPython = (args: readonly string[], environment: Readonly<Record<string, string>>): Promise<Ended> =>
  new Promise((resolve) => {
    const options = { cwd: packageFolder, env: { ...process.env, ...environment }, timeout: programMsMax };
    const child = execFile(python, args, options, (_, stdout, stderr) =>
      resolve({ status: child.exitCode, output: stdout + stderr }),
    );
  });

/** Runs the tests of the rules whose names contain a pattern. @param source of a broken build */
export const runRules = (pattern: string, source?: string): Promise<Ended> =>
  runPython(['-m', 'unittest', 'discover', '-s', 'test', '-k', pattern], pythonEnvironment(source));
