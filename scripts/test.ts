/**
 * `npm test`: the checks, then the tests of the product. `npm run test:extended`: the tests of the tests, and of the world around
 * the product (CONTRIBUTING.md). A lane fails if no test passed that shows a requirement which `docs/asvs.md` names for its
 * files. Its last lines are those of node:test, and a table of the slowest files.
 *
 * `npm test -- <path or name>…` runs a part: the files of both lanes whose paths contain an argument; where there are none, the
 * tests whose names contain it.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { treeProcessorMs } from '../packages/server/test-kit/processor-time.ts';
import { newTempFolder } from '../packages/server/test-kit/temp-folder.ts';
import { readTaggedFiles, unshownRows } from './asvs.ts';
import { extendedLane, productLane, selectTests, type Lane, type Selection } from './test-lanes.ts';
import { writeProcesses } from './test-processes.ts';
import { startTestResources } from './test-resources.ts';
import { timesTable } from './test-times.ts';

const root = join(import.meta.dirname, '..');
/** One more than processors, because tests also wait: for programs, disks and sockets. */
const processesAtOnce = availableParallelism() + 1;

type Environment = Readonly<Record<string, string | undefined>>;

/** Forwards signals to the command, and ends after it. */
async function run(command: string, args: readonly string[], environment: Environment = {}): Promise<number> {
  const child = spawn(command, args, { cwd: root, stdio: 'inherit', env: { ...process.env, ...environment } });
  const forward = (signal: NodeJS.Signals): void => void child.kill(signal);
  process.on('SIGINT', forward).on('SIGTERM', forward);
  try {
    const [status] = (await once(child, 'exit')) as [number | null];
    return status ?? 1;
  } finally {
    process.off('SIGINT', forward).off('SIGTERM', forward);
  }
}

async function runTests(
  { files, names = [], databases }: Selection,
  environment: Environment,
  reporterArgs: readonly string[] = [],
): Promise<number> {
  using folder = newTempFolder();
  const args = [
    // The tags of node:test are experimental.
    '--disable-warning=ExperimentalWarning',
    '--test',
    `--test-concurrency=${processesAtOnce}`,
    `--import=${import.meta.resolve('../packages/server/test-kit/watchdog.ts')}`,
    ...names.map((name) => `--test-name-pattern=${name}`),
    ...reporterArgs,
    ...writeProcesses(root, folder.path, files, processesAtOnce),
  ];
  // Reading and compiling the program takes more than half of the time of most files.
  const compileCache = join(root, 'node_modules/.cache/keyreeve');
  return await run(process.execPath, args, {
    NODE_COMPILE_CACHE: compileCache,
    TEST_DATABASES: databases,
    ...environment,
  });
}

async function runPart(selection: Selection): Promise<number> {
  if (selection.files.length === 0) throw new Error('no test has such a path or name');
  await using resources = await startTestResources();
  // Awaited here: the resources end when this function returns.
  return await runTests(selection, resources.environment);
}

/** @returns the highest status of its runs */
async function runLane({ runs, taggedFiles }: Lane): Promise<number> {
  await using resources = await startTestResources();
  using folder = newTempFolder();
  const [passed, times] = [join(folder.path, 'passed'), join(folder.path, 'times')];
  let status = 0;
  for (const [index, selection] of runs.entries()) {
    const reporters = [
      ['spec', 'stdout'],
      [import.meta.resolve('./passed-tests.ts'), `${passed}-${index}`],
    ].flatMap(([name, target]) => [`--test-reporter=${name}`, `--test-reporter-destination=${target}`]);
    const environment = { ...resources.environment, TEST_TIMES: times };
    status = Math.max(status, await runTests(selection, environment, reporters));
  }
  const tests = runs.map((_, index) => readFileSync(`${passed}-${index}`, 'utf8')).join('');
  const unshown = unshownRows(readTaggedFiles(root, taggedFiles), tests);
  for (const line of unshown) process.stderr.write(`docs/asvs.md: ${line}\n`);
  const time = { seconds: performance.now() / 1000, processorSeconds: treeProcessorMs(process.pid) / 1000 };
  process.stdout.write(`\n${timesTable(root, existsSync(times) ? readFileSync(times, 'utf8') : '', time)}`);
  return unshown.length > 0 ? 1 : status;
}

async function main(args: readonly string[]): Promise<number> {
  const files = globSync('{packages,bench}/**/*.test.ts', { cwd: root, exclude: ['**/node_modules/**'] }).toSorted();
  if (args[0] === '--extended' && args.length > 1) throw new Error('--extended runs the whole lane: name no path');
  if (args[0] === '--extended') return runLane(extendedLane(files));
  if (args.length > 0) return runPart(selectTests(files, args));
  return (await run('npm', ['run', '--silent', 'check'])) || (await runLane(productLane(files)));
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
