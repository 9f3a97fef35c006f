/** No client chooses an environment (`environment-checks.ts`). */
import { test } from 'node:test';
import { assertFits } from '../revocation-check/edits-fit.ts';
import {
  assertNoWidening,
  checkEnvironmentsOf,
  lastEnvironmentApplies,
  requirements,
  startServer,
} from './environment-checks.ts';
import { testPlaces } from './proxy-edits.ts';
import { productProxies } from './proxy-programs.ts';
import { startedOnce } from './shared-keyreeve.ts';

const start = startedOnce(() => startServer());

testPlaces('an environment', requirements);

for (const proxy of productProxies) checkEnvironmentsOf(proxy, start);

test('a client whose query Envoy sends to Keyreeve cannot replace the environment of the operator', async () => {
  await assertNoWidening(await start());
});

test('the edits of the broken build in which the last environment applies fit the sources', () =>
  assertFits(lastEnvironmentApplies));
