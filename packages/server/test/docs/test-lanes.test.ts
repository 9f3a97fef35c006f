/** The lanes of the tests, the part that `npm test -- <path or name>` runs, and the table at the end. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { extendedLane, productLane, selectTests } from '../../../../scripts/test-lanes.ts';
import { timesTable } from '../../../../scripts/test-times.ts';

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
