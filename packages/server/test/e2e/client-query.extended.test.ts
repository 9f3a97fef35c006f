/** The cost that the operator requires: the proxies that client-query.test.ts does not run, and a broken build. */
import { test } from 'node:test';
import { assertNothingIsFree, checkCostOf, costCanBe0 } from './client-costs.ts';
import { startKeyreeve } from './forward-auth-server.ts';
import { assertDetects } from './proxy-edits.ts';
import { extendedProxies } from './proxy-programs.ts';
import { startedOnce } from './shared-keyreeve.ts';

const start = startedOnce(() => startKeyreeve());

for (const proxy of extendedProxies) checkCostOf(proxy, start);

test('the check detects a broken build in which a cost can be 0', () =>
  assertDetects(costCanBe0, startKeyreeve, assertNothingIsFree));
