/** The Python library keeps the rules, and has the right types; the edits of its broken builds fit its sources. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { edited, pythonMutants } from './mutants.ts';
import { packageFolder, pythonEnvironment, runPython, runRules, skip } from './python.ts';

test('the Python library keeps the rules', { skip }, async () => {
  const { status, output } = await runRules('*');
  assert.equal(status, 0, output);
  assert.match(output, /^Ran 3\d tests/m);
});

test('the Python library and its tests have the right types', { skip }, async () => {
  const { status, output } = await runPython(['-m', 'mypy', '--cache-dir', '/dev/null'], pythonEnvironment());
  assert.equal(status, 0, output);
});

for (const mutant of pythonMutants) {
  test(`the edit of a broken build fits the Python sources: ${mutant.name}`, () => {
    edited(mutant, readFileSync(join(packageFolder, 'src/keyreeve', mutant.file), 'utf8'));
  });
}
