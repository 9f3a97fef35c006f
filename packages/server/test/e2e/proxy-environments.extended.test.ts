/** Environments with the proxies that proxy-environments.test.ts does not run, and a broken build. */
import { test } from 'node:test';
import { assertNoWidening, checkEnvironmentsOf, lastEnvironmentApplies, startServer } from './environment-checks.ts';
import { assertDetects } from './proxy-edits.ts';
import { extendedProxies } from './proxy-programs.ts';
import { startedOnce } from './shared-keyreeve.ts';

const start = startedOnce(() => startServer());

for (const proxy of extendedProxies) checkEnvironmentsOf(proxy, start);

test('the check detects a broken build in which the last environment of a query applies', () =>
  assertDetects(lastEnvironmentApplies, startServer, assertNoWidening));
