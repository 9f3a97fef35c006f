/** The lanes of the tests, the files that share a process, the part that `npm test -- <path or name>` runs, and the table at the end. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { extendedLane, productLane, selectTests } from '../../../../scripts/test-lanes.ts';
import { groupsOf, writeProcesses } from '../../../../scripts/test-processes.ts';
import { timesTable } from '../../../../scripts/test-times.ts';
import { newTempFolder } from '../../test-kit/temp-folder.ts';
import { programMsMax } from '../../test-kit/time-limits.ts';

const texts: Readonly<Record<string, string>> = {
  'src/a/test/one.test.ts': "test('a key works once', () => {})",
  'src/b/test/two.test.ts':
    "import { test } from '../../test-kit/app-on-each-database.ts';\ntest(`a key works ${times}`)",
  'src/b/test/long.extended.test.ts': "import { test } from '../../test-kit/app-on-each-database.ts';",
};
const files = Object.keys(texts);
const [one = '', two = '', long = ''] = files;
const read = (file: string): string => texts[file] ?? '';
const select = (...args: readonly string[]) => selectTests(files, args, read);

test('a file runs in the lane of its name, and the service is tested on PostgreSQL in the extended lane', () => {
  assert.deepEqual(productLane(files), {
    runs: [{ files: [one, two], databases: 'sqlite' }],
    taggedFiles: [one, two],
  });
  assert.deepEqual(extendedLane(files, read), {
    runs: [{ files: [long] }, { files: [two], databases: 'postgres', names: [String.raw`\(postgres\)$`] }],
    taggedFiles: [long],
  });
});

test('an argument selects files by their paths, else tests by their names', () => {
  assert.deepEqual(select('src/a'), { files: [one] });
  assert.deepEqual(select('./src/a', 'two.test'), { files: [one, two] });
  const names = (name: string): string[] => [RegExp.escape(name)];
  assert.deepEqual(select('works once'), { files: [one], names: names('works once') });
  assert.deepEqual(select('a key works twice'), { files: [one, two], names: names('a key works twice') });
  assert.deepEqual(select('works never'), { files: [], names: names('works never') });
});

test('12 files share a process, fewer if processes would have no file', () => {
  const many = Array.from({ length: 25 }, (_, index) => `${index}.test.ts`);
  assert.deepEqual(
    groupsOf(many, 3).map(({ length }) => length),
    [9, 9, 7],
  );
  assert.deepEqual(
    groupsOf([...many, ...many], 3).map(({ length }) => length),
    [12, 12, 12, 12, 2],
  );
  assert.deepEqual(groupsOf(['a'], 3), [['a']]);
  assert.deepEqual(groupsOf([], 3), []);
});

test('files that share a process keep their hooks, fail alone, and are reported by their paths', () => {
  using folder = newTempFolder();
  const [failing = '', passing = ''] = ['a', 'b'].map((name) => `packages/server/src/${name}.test.mjs`);
  mkdirSync(join(folder.path, 'packages/server/src'), { recursive: true });
  const write = (file: string, code: string): void =>
    writeFileSync(join(folder.path, file), `import { beforeEach, test } from 'node:test';\n${code}`);
  // The hook applies to the first file only, so the count is 1 in the second, too.
  write(
    failing,
    `globalThis.count = 0; beforeEach(() => void (count += 1)); test('first', () => { throw new Error(String(count)); });`,
  );
  write(passing, `test('second', { tags: ['shows'] }, () => { if (count !== 1) throw new Error(String(count)); });`);
  const run = writeProcesses(folder.path, folder.path, [failing, passing], 1);
  assert.equal(run.length, 1);
  const passed = join(folder.path, 'passed');
  const reporters = [
    ['spec', 'stdout'],
    [import.meta.resolve('../../../../scripts/passed-tests.ts'), passed],
  ].flatMap(([name, target]) => [`--test-reporter=${name}`, `--test-reporter-destination=${target}`]);
  const { NODE_TEST_CONTEXT: _, ...environment } = process.env;
  const { status, stdout } = spawnSync(process.execPath, ['--test', ...reporters, ...run], {
    encoding: 'utf8',
    env: environment,
    timeout: programMsMax,
  });
  assert.equal(status, 1, stdout);
  assert.match(stdout, /ℹ tests 2\n.*\nℹ pass 1\nℹ fail 1\n/);
  assert.match(stdout, new RegExp(`▶ ${failing}\\n  ✖ first`));
  assert.match(stdout, /Error: 1\n/);
  assert.deepEqual(JSON.parse(readFileSync(passed, 'utf8')), {
    file: passing,
    tags: [`file:${passing}`, 'shows'],
  });
});

test('a run ends with its slowest files, and the processor time of what they share', () => {
  const time = (file: string, seconds: number) =>
    JSON.stringify({ file: `/repo/${file}`, seconds, processorSeconds: 1 });
  const lines = [time('a.test.ts', 2), time('b.test.ts', 9.25), time('a.test.ts', 10)].join('\n');
  assert.equal(
    timesTable('/repo', `${lines}\n`, { seconds: 30, processorSeconds: 7.5 }),
    [
      'The slowest test files:',
      ' seconds  processor',
      '    12.0        2.0  a.test.ts',
      '     9.3        1.0  b.test.ts',
      '                3.0  all 2 files',
      '                4.5  checks, PostgreSQL, Chromium and the runner',
      '    30.0        7.5  in total',
      '',
    ].join('\n'),
  );
});
