/** The Go library keeps the rules, and is formatted; the edits of its broken builds fit its sources. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testEdits } from '../../conformance/library-mutants.ts';
import { packageFolder, run, runGo, skip } from './go.ts';
import { goMutants } from './mutants.ts';

test('the Go library keeps the rules', { skip }, async () => {
  const { status, output } = await runGo(['test', '-count=1', '-timeout=0', '-v', '.']);
  assert.equal(status, 0, output);
  assert.ok([...output.matchAll(/^--- PASS: Test/gm)].length > 20, output);
  assert.doesNotMatch(output, /^--- SKIP/m);
});

test('the Go library is formatted, and go vet finds nothing', { skip }, async () => {
  assert.deepEqual(await run('gofmt', ['-l', '.']), { status: 0, output: '' });
  assert.deepEqual(await runGo(['vet', './...']), { status: 0, output: '' });
});

testEdits('Go', goMutants, packageFolder);
