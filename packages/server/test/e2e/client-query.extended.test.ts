/** A client's query and the cost that the operator requires: the proxies that client-query.test.ts does not run, and a broken build. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { newTempFolder } from '../../test-kit/temp-folder.ts';
import type { Edit } from '../revocation-check/mutant-edits.ts';
import { makeCopy } from '../revocation-check/mutant-run.ts';
import { assertNothingIsFree, checkCostOf } from './client-costs.ts';
import { startKeyreeve } from './forward-auth-server.ts';
import { extendedProxies } from './proxy-programs.ts';
import { startedOnce } from './shared-keyreeve.ts';

const start = startedOnce(() => startKeyreeve());

for (const proxy of extendedProxies) checkCostOf(proxy, start);

/** `test/limits/limit-mutants.ts` has the other broken build: the last cost of a query applies. */
const costCanBe0: readonly Edit[] = [
  [String.raw`/^[1-9]\d{0,4}$/`, String.raw`/^\d{1,5}$/`] as const,
  ['return Math.max(1, ...costs);', 'return costs.length > 0 ? Math.max(...costs) : 1;'] as const,
].map(([find, replace]) => ({ file: 'modules/verification/forward.ts', find, replace }));

test('the check detects a broken build in which a cost can be 0', async () => {
  using folder = newTempFolder();
  makeCopy(folder.path, costCanBe0);
  const broken = await startKeyreeve(join(folder.path, 'packages/server/src/cli/main.ts'));
  try {
    await assert.rejects(assertNothingIsFree(broken), { code: 'ERR_ASSERTION' });
  } finally {
    await broken.stop();
  }
});
