/** The revocation check passes on this library over `fetch`, and detects builds of it that accept deleted keys. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { findViolation, runRevocationCheckOn } from '../../conformance/revocation-run.ts';
import { newTempFolder } from '../../server/test-kit/temp-folder.ts';
import { makeCopy, unsafeMutants } from './source-edits.ts';

const commandIn = (folder: string) => ({ command: process.execPath, args: [join(folder, 'test/program.ts')] });

test('a key that was deleted before a verification is refused (fetch)', async () => {
  const command = { ...commandIn(join(import.meta.dirname, '..')), env: { KEYREEVE_TRANSPORT: 'fetch' } };
  const { result, verifications } = await runRevocationCheckOn(command);
  assert.deepEqual([result.reason, result.report?.examples], [null, []]);
  assert.ok(verifications > 100, `${verifications}`);
});

for (const { name, edits } of unsafeMutants)
  test(`the revocation check detects: ${name}`, async () => {
    using folder = newTempFolder();
    const { violations } = await findViolation(commandIn(makeCopy(folder.path, edits)));
    assert.ok(violations > 0);
  });
