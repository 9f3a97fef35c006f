/** No client chooses an environment (`environment-checks.ts`). */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { assertFits } from '../revocation-check/edits-fit.ts';
import {
  assertNoWidening,
  checkEnvironmentsOf,
  lastEnvironmentApplies,
  requirements,
  startServer,
} from './environment-checks.ts';
import { productProxies, proxies } from './proxy-programs.ts';
import { startedOnce } from './shared-keyreeve.ts';

const start = startedOnce(() => startServer());

for (const proxy of proxies) {
  const [find] = requirements[proxy.name] ?? assert.fail();

  test(`the file of ${proxy.name} has one place for an environment`, () => {
    const [file = ''] = proxy.files;
    const text = readFileSync(new URL(`../../../../docs/forward-auth/${file}`, import.meta.url), 'utf8');
    assert.equal(text.split(find).length, 2);
  });
}

for (const proxy of productProxies) checkEnvironmentsOf(proxy, start);

test('a client whose query Envoy sends to Keyreeve cannot replace the environment of the operator', async () => {
  await assertNoWidening(await start());
});

test('the edits of the broken build in which the last environment applies fit the sources', () =>
  assertFits(lastEnvironmentApplies));
