/** The Python library keeps the rules, and has the right types; the edits of its broken builds fit its sources. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testEdits } from '../../conformance/library-mutants.ts';
import { pythonMutants, sources } from './mutants.ts';
import { pythonEnvironment, runPython, runRules, skip } from './python.ts';

test('the Python library keeps the rules', { skip }, async () => {
  const { status, output } = await runRules('*');
  assert.equal(status, 0, output);
  assert.match(output, /^Ran [45]\d tests/m);
});

test('the Python library and its tests have the right types', { skip }, async () => {
  const { status, output } = await runPython(['-m', 'mypy', '--cache-dir', '/dev/null'], pythonEnvironment());
  assert.equal(status, 0, output);
});

testEdits('Python', pythonMutants, sources);
