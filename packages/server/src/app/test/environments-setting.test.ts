/** The bound of the setting KEYREEVE_ENVIRONMENTS. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { limits } from '@keyreeve/contract';
import { environments } from '../configuration/config-values.ts';

test('an installation has at most the maximum number of environments', () => {
  const list = (count: number): string => Array.from({ length: count }, (_, n) => `e${n}:prefix_${n}`).join();
  assert.equal(environments(list(limits.environmentsMax)).length, limits.environmentsMax);
  assert.throws(() => environments(list(limits.environmentsMax + 1)), {
    message: `must have at most ${limits.environmentsMax} environments`,
  });
});
