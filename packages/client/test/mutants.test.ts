/** The tests of the rules detect builds of the library that break one. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { newTempFolder } from '../../server/test-kit/temp-folder.ts';
import { makeCopy, ruleMutants } from './source-edits.ts';

/** The longest test takes 3 s. */
const testMsMax = 20_000;
const atOnce = 4;

/** @returns the exit status and the report */
function runTests(copy: string): Promise<{ status: unknown; report: string }> {
  const args = ['--test', '--test-force-exit', `--test-timeout=${testMsMax}`, join(copy, 'test/rules.test.ts')];
  // Otherwise the program takes part in this run of tests, and reports in another format.
  const env = { ...process.env, NODE_TEST_CONTEXT: undefined };
  return new Promise((resolve) => {
    execFile(process.execPath, args, { env }, (error, report) => resolve({ status: error?.code ?? 0, report }));
  });
}

// Alone: beside three other runs on a busy machine, it would exceed the deadline of the library.
test('the tests of the rules pass with the library itself', async () => {
  using folder = newTempFolder();
  const { status, report } = await runTests(makeCopy(folder.path, []));
  assert.equal(status, 0, report);
});

suite('the tests of the rules', { concurrency: atOnce }, () => {
  for (const { name, edits } of ruleMutants)
    test(`detect: ${name}`, async () => {
      using folder = newTempFolder();
      const { status, report } = await runTests(makeCopy(folder.path, edits));
      assert.equal(status, 1, report);
      assert.match(report, /^ℹ pass [1-9]/m);
    });
});
