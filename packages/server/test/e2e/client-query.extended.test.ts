/** The cost that the operator requires: the proxies that client-query.test.ts does not run, and a broken build. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { newTempFolder } from '../../test-kit/temp-folder.ts';
import { makeCopy } from '../revocation-check/mutant-run.ts';
import { assertNothingIsFree, checkCostOf, costCanBe0 } from './client-costs.ts';
import { startKeyreeve } from './forward-auth-server.ts';
import { extendedProxies } from './proxy-programs.ts';
import { startedOnce } from './shared-keyreeve.ts';

const start = startedOnce(() => startKeyreeve());

for (const proxy of extendedProxies) checkCostOf(proxy, start);

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
