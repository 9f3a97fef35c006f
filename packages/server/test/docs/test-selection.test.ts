/** `npm test -- <path or name>` runs the tests that it names, and the slow lane has files that exist. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { selectTests, slowFiles } from '../../../../scripts/test-selection.ts';

const texts: Readonly<Record<string, string>> = {
  'src/a/test/one.test.ts': "test('a key works once', () => {})",
  'src/b/test/two.test.ts': 'test(`a key works ${times}`, () => {})',
};
const select = (...args: readonly string[]) => selectTests(Object.keys(texts), args, (file) => texts[file] ?? '');

test('an argument selects files by their paths, else tests by their names', () => {
  assert.deepEqual(select('src/a'), { files: ['src/a/test/one.test.ts'], names: [] });
  assert.deepEqual(select('./src/a', 'two.test'), { files: Object.keys(texts), names: [] });
  const names = (name: string): string[] => [RegExp.escape(name)];
  assert.deepEqual(select('works once'), { files: ['src/a/test/one.test.ts'], names: names('works once') });
  assert.deepEqual(select('a key works twice'), { files: Object.keys(texts), names: names('a key works twice') });
  assert.deepEqual(select('works never'), { files: [], names: names('works never') });
});

test('every file of the slow lane exists', () => {
  for (const file of slowFiles) assert.ok(existsSync(new URL(`../../../../${file}`, import.meta.url)), file);
});
