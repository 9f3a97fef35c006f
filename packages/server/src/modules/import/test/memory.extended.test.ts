/** A large import uses bounded memory. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { limits } from '@keyreeve/contract';
import { databases } from '../../../../test-kit/new-db.ts';
import { importFrom, linesOf } from './many-lines.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Memory in use after a garbage collection. */
function usedMib(): number {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / 2 ** 20;
}

test('an import of 200,000 lines uses bounded memory and reports its progress', async () => {
  await using opened = (await databases['sqlite']?.()) ?? assert.fail();
  const lines = 200_000;
  const progress: number[] = [];
  const used: number[] = [];
  const { counts, reasons } = await importFrom(opened.db, linesOf(lines), true, (at) => {
    progress.push(at);
    if (at % (lines / 10) === 0) used.push(usedMib());
  });
  assert.deepEqual(counts, {
    lines,
    imported: lines * 0.998,
    updated: 0,
    existing: 0,
    changed: 0,
    refused: lines * 0.002,
    traits: counts.traits,
    warnings: [],
  });
  assert.deepEqual([...reasons], ['email is not an email address', 'line n has the same email']);
  assert.ok(progress.length >= lines / limits.importLinesPerCommitMax);
  assert.ok(progress.every((at, index) => index === 0 || at >= (progress[index - 1] ?? 0)));
  // The email addresses take about 100 bytes each: 20 MiB. The parsed lines would take several times as much.
  assert.ok(used.length >= 10);
  const [first = 0] = used;
  assert.ok(Math.max(...used) - first < 24, `MiB in use: ${used.map(Math.round).join(' ')}`);
});
