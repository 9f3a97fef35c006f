/** The rules detect builds of the library that break one. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { loadLibrary } from './library.ts';
import { rules } from './rules.ts';
import { editedFiles, ruleMutants } from './source-edits.ts';

suite('the rules detect', () => {
  for (const { name, edits, rule } of ruleMutants)
    test(name, async () => {
      const library = await loadLibrary(editedFiles(edits));
      const detecting = rules.filter((one) => one.name.startsWith(rule));
      const outcomes = await Promise.allSettled(detecting.map(async ({ check }) => check(library)));
      const found = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as unknown] : []));
      assert.ok(found.length > 0, 'no rule detects the broken build');
      // Another error would show that the build does not work at all.
      for (const error of found) assert.ok(error instanceof assert.AssertionError, String(error));
    });
});
