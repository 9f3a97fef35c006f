/** The revocation check passes on the Go library, and detects builds of it that accept deleted keys. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runRevocationCheckOn } from '../../conformance/revocation-run.ts';
import { newTempFolder } from '../../server/test-kit/temp-folder.ts';
import { buildProgram, skip } from './go.ts';
import { goMutants, makeMutant } from './mutants.ts';

const deletions = 20;
/** The run ends after them, also without a violation. */
const deletionsOfMutants = 60;

test('a key that was deleted before a verification is refused', { skip }, async () => {
  using folder = newTempFolder();
  const command = { command: await buildProgram(folder.path), args: [] };
  const { result, verifications } = await runRevocationCheckOn(command, deletions);
  assert.deepEqual([result.reason, result.report?.examples], [null, []]);
  assert.ok(verifications > 100, `${verifications}`);
});

for (const mutant of goMutants.filter(({ isUnsafe }) => isUnsafe))
  test(`the revocation check detects: ${mutant.name}`, { skip }, async () => {
    using folder = newTempFolder();
    const command = { command: await buildProgram(folder.path, makeMutant(mutant, folder.path)), args: [] };
    const { result } = await runRevocationCheckOn(command, deletionsOfMutants);
    assert.ok(result.report && result.report.violations > 0, JSON.stringify(result));
  });
