/** The revocation check passes on the Python library, and detects builds of it that accept deleted keys. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Command } from '../../conformance/library-program.ts';
import { findViolation, runRevocationCheckOn } from '../../conformance/revocation-run.ts';
import { newTempFolder } from '../../server/test-kit/temp-folder.ts';
import { makeMutant, pythonMutants } from './mutants.ts';
import { packageFolder, python, pythonEnvironment, skip } from './python.ts';

const commandOf = (source?: string): Command => ({
  command: python,
  args: [`${packageFolder}test/program.py`],
  env: pythonEnvironment(source),
});

test('a key that was deleted before a verification is refused', { skip }, async () => {
  const { result, verifications } = await runRevocationCheckOn(commandOf());
  assert.deepEqual([result.reason, result.report?.examples], [null, []]);
  assert.ok(verifications > 100, `${verifications}`);
});

for (const mutant of pythonMutants.filter(({ isUnsafe }) => isUnsafe))
  test(`the revocation check detects: ${mutant.name}`, { skip }, async () => {
    using folder = newTempFolder();
    const { violations } = await findViolation(commandOf(makeMutant(mutant, folder.path)));
    assert.ok(violations > 0);
  });
