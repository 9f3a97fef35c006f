/** The edits of the broken builds for the runs with limits fit the sources. `mutants.extended.test.ts` runs them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertFits } from '../revocation-check/edits-fit.ts';
import { findUndeclaredNames } from '../revocation-check/undeclared-names.ts';
import { limitMutants } from './limit-mutants.ts';

for (const { name, edits } of limitMutants) {
  test(`the edits of a broken build fit the sources: ${name}`, () => assertFits(edits));
}

test('the edits of a broken build use only declared names', () => {
  assert.deepEqual(findUndeclaredNames(limitMutants), []);
});
