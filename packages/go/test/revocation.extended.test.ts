/** The revocation check passes on the Go library, and detects builds of it that accept deleted keys. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findViolation, runRevocationCheckOn } from '../../conformance/revocation-run.ts';
import { newTempFolder } from '../../server/test-kit/temp-folder.ts';
import { buildProgram, skip } from './go.ts';
import { goMutants, makeMutant } from './mutants.ts';

test('a key that was deleted before a verification is refused', { skip }, async () => {
  using folder = newTempFolder();
  const { result, verifications } = await runRevocationCheckOn(await buildProgram(folder.path));
  assert.deepEqual([result.reason, result.report?.examples], [null, []]);
  assert.ok(verifications > 100, `${verifications}`);
});

for (const mutant of goMutants.filter(({ isUnsafe }) => isUnsafe))
  test(`the revocation check detects: ${mutant.name}`, { skip }, async () => {
    using folder = newTempFolder();
    const program = await buildProgram(folder.path, makeMutant(mutant, folder.path));
    const { violations } = await findViolation(program);
    assert.ok(violations > 0);
  });
