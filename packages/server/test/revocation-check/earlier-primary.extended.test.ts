/** An earlier PostgreSQL primary that still answers: broken builds accept deleted keys, and the program does not. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { earlierPrimaryMutants } from './earlier-primary-mutants.ts';
import { runEarlierPrimary } from './earlier-primary.ts';

for (const { name, edits, isCutOff } of earlierPrimaryMutants) {
  test(`a promotion reveals ${name}`, async () => {
    const { accepted } = await runEarlierPrimary(edits, isCutOff);
    assert.ok(accepted > 0);
  });
}

for (const isCutOff of [true, false])
  test(`the program accepts no deleted key from an earlier primary, ${isCutOff ? 'which alone it reaches' : 'to which it stays connected'}`, async () => {
    assert.deepEqual(await runEarlierPrimary([], isCutOff), { after: 90, accepted: 0, hasMoved: true });
  });
