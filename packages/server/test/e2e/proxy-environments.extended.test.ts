/** Environments with the proxies that proxy-environments.test.ts does not run, and a broken build. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { newTempFolder } from '../../test-kit/temp-folder.ts';
import { makeCopy } from '../revocation-check/mutant-run.ts';
import { assertNoWidening, checkEnvironmentsOf, lastEnvironmentApplies, startServer } from './environment-checks.ts';
import { extendedProxies } from './proxy-programs.ts';
import { startedOnce } from './shared-keyreeve.ts';

const start = startedOnce(() => startServer());

for (const proxy of extendedProxies) checkEnvironmentsOf(proxy, start);

test('the check detects a broken build in which the last environment of a query applies', async () => {
  using folder = newTempFolder();
  makeCopy(folder.path, lastEnvironmentApplies);
  const broken = await startServer(join(folder.path, 'packages/server/src/cli/main.ts'));
  try {
    await assert.rejects(assertNoWidening(broken), { code: 'ERR_ASSERTION' });
  } finally {
    await broken.stop();
  }
});
