/** The edits of the broken builds fit the sources. The files `mutants.extended.test.ts` and `npm run prove -- --mutants` run the builds. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertFits } from './edits-fit.ts';
import { limitMutants } from '../limits/limit-mutants.ts';
import { earlierPrimaryMutants } from './earlier-primary-mutants.ts';
import { mutants } from './mutants.ts';
import { findUndeclaredNames } from './undeclared-names.ts';
import { signingKeyMutant } from './verifier-mutants.ts';

const builds = [...mutants, signingKeyMutant, ...limitMutants, ...earlierPrimaryMutants];
for (const { name, edits } of builds) {
  test(`the edits of a broken build fit the sources: ${name}`, () => assertFits(edits));
}

test('the edits of a broken build use only declared names', () => {
  assert.deepEqual(findUndeclaredNames(builds), []);
  const replace = 'results[undeclared] = result;';
  const broken = { file: 'modules/verification/verify.ts', find: 'results[index] = result;', replace };
  assert.equal(findUndeclaredNames([{ edits: [broken] }]).length, 1);
});
