/**
 * `npm test`: the checks, then every test beside one PostgreSQL server. The last lines are those of node:test, unless no test
 * passed that shows a requirement in `docs/asvs.md`.
 *
 * `npm test -- <path or name>…` runs a part: the files whose paths contain an argument; where there are none, the tests whose
 * names contain it. `npm run test:slow` runs the slow lane only, `npm run test:fast` all other tests.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { startWithTemplate } from '../packages/server/test-kit/postgres/running.ts';
import { newTempFolder } from '../packages/server/test-kit/temp-folder.ts';
import { readTaggedFiles, unshownRows } from './asvs.ts';
import { selectTests, slowFiles, type Selection } from './test-selection.ts';

/** More than the number of processors, because most tests wait for processes and sockets. */
const filesAtOnce = 4;

/** Forwards signals to the command, and ends after it. */
async function run(command: string, args: readonly string[], environment: NodeJS.ProcessEnv = {}): Promise<number> {
  const child = spawn(command, args, { stdio: 'inherit', env: { ...process.env, ...environment } });
  const forward = (signal: NodeJS.Signals): void => void child.kill(signal);
  process.on('SIGINT', forward).on('SIGTERM', forward);
  try {
    const [status] = (await once(child, 'exit')) as [number | null];
    return status ?? 1;
  } finally {
    process.off('SIGINT', forward).off('SIGTERM', forward);
  }
}

async function runTests({ files, names }: Selection, reporterArgs: readonly string[] = []): Promise<number> {
  if (files.length === 0) throw new Error('no test has such a path or name');
  await using server = await startWithTemplate();
  const args = [
    // The tags of node:test are experimental.
    '--disable-warning=ExperimentalWarning',
    '--test',
    `--test-concurrency=${filesAtOnce}`,
    ...names.map((name) => `--test-name-pattern=${name}`),
    ...reporterArgs,
    ...files,
  ];
  // Reading and compiling the program takes more than half of the time of most files.
  const compileCache = join(import.meta.dirname, '../node_modules/.cache/keyreeve');
  // Awaited here: the server ends when this function returns.
  return await run(process.execPath, args, { TEST_POSTGRES_URL: server.url(), NODE_COMPILE_CACHE: compileCache });
}

async function runAll(files: readonly string[]): Promise<number> {
  using folder = newTempFolder();
  const passed = join(folder.path, 'passed');
  const reporters = [
    ['spec', 'stdout'],
    [import.meta.resolve('./passed-tests.ts'), passed],
  ].flatMap(([name, target]) => [`--test-reporter=${name}`, `--test-reporter-destination=${target}`]);
  const status = await runTests({ files, names: [] }, reporters);
  const unshown = unshownRows(readTaggedFiles('.'), readFileSync(passed, 'utf8'));
  for (const line of unshown) process.stderr.write(`docs/asvs.md: ${line}\n`);
  return status === 0 && unshown.length > 0 ? 1 : status;
}

async function main(args: readonly string[]): Promise<number> {
  const files = globSync('{packages,bench}/**/*.test.ts', { exclude: ['**/node_modules/**'] }).toSorted();
  const others = files.filter((file) => !slowFiles.includes(file));
  if (args[0] === '--slow') return runTests({ files: slowFiles, names: [] });
  if (args[0] === '--fast') return runTests({ files: others, names: [] });
  if (args.length > 0) return runTests(selectTests(files, args));
  // The slow lane first, so that no long file is left for the end.
  return (await run('npm', ['run', '--silent', 'check'])) || (await runAll([...slowFiles, ...others]));
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
