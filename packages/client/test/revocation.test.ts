/** The revocation check passes on this library, and detects builds of it that accept deleted keys. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { runRevocationCheckOn } from '../../conformance/revocation-run.ts';
import { newTempFolder } from '../../server/test-kit/temp-folder.ts';
import { makeCopy, unsafeMutants } from './source-edits.ts';

const deletions = 20;
/** The run ends after them, also without a violation. */
const deletionsOfMutants = 60;

const commandIn = (folder: string) => ({ command: process.execPath, args: [join(folder, 'test/program.ts')] });

for (const transport of ['node', 'fetch'])
  test(`a key that was deleted before a verification is refused (${transport})`, async () => {
    const command = { ...commandIn(join(import.meta.dirname, '..')), env: { KEYREEVE_TRANSPORT: transport } };
    const { result, verifications } = await runRevocationCheckOn(command, deletions);
    assert.deepEqual([result.reason, result.report?.examples], [null, []]);
    assert.ok(verifications > 100, `${verifications}`);
  });

for (const { name, edits } of unsafeMutants)
  test(`the revocation check detects: ${name}`, async () => {
    using folder = newTempFolder();
    const { result } = await runRevocationCheckOn(commandIn(makeCopy(folder.path, edits)), deletionsOfMutants);
    assert.ok(result.report && result.report.violations > 0, JSON.stringify(result));
  });
