/**
 * `npm test`: the checks, then every test beside one PostgreSQL server. The last lines are those of node:test, unless no test
 * passed that shows a requirement in `docs/asvs.md`.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PostgresServer } from '../packages/server/test-kit/postgres/server.ts';
import { newTempFolder } from '../packages/server/test-kit/temp-folder.ts';
import { readTaggedFiles, unshownRows } from './asvs.ts';

/** Most tests wait for processes and sockets, so more of them than processors run at once. */
const filesAtOnce = 4;

/** A signal is passed on, so that what was started ends first. */
async function run(command: string, args: readonly string[], environment: NodeJS.ProcessEnv = {}): Promise<number> {
  const child = spawn(command, args, { stdio: 'inherit', env: { ...process.env, ...environment } });
  const passOn = (signal: NodeJS.Signals): void => void child.kill(signal);
  process.on('SIGINT', passOn).on('SIGTERM', passOn);
  try {
    const [status] = (await once(child, 'exit')) as [number | null];
    return status ?? 1;
  } finally {
    process.off('SIGINT', passOn).off('SIGTERM', passOn);
  }
}

async function runTests(): Promise<number> {
  await using server = await PostgresServer.start();
  using folder = newTempFolder();
  const passed = join(folder.path, 'passed');
  const reporters = [
    ['spec', 'stdout'],
    [import.meta.resolve('./passed-tests.ts'), passed],
  ].flatMap(([name, target]) => [`--test-reporter=${name}`, `--test-reporter-destination=${target}`]);
  const files = globSync('packages/**/*.test.ts', { exclude: ['**/node_modules/**'] });
  const args = ['--test', `--test-concurrency=${filesAtOnce}`, ...reporters, ...files];
  const status = await run(process.execPath, args, { TEST_POSTGRES_URL: server.url() });
  const unshown = unshownRows(readTaggedFiles('.'), readFileSync(passed, 'utf8'));
  for (const line of unshown) process.stderr.write(`docs/asvs.md: ${line}\n`);
  return status === 0 && unshown.length > 0 ? 1 : status;
}

try {
  process.exitCode = (await run('npm', ['run', '--silent', 'check'])) || (await runTests());
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
