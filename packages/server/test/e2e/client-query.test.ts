/** A client's query does not reduce the cost and the scopes that the operator requires (`client-costs.ts`). */
import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { assertFits } from '../revocation-check/edits-fit.ts';
import {
  asEnvoy,
  assertCostApplies,
  assertNothingIsFree,
  checkCostOf,
  costCanBe0,
  costlyPrefix,
  costs,
} from './client-costs.ts';
import { startKeyreeve } from './forward-auth-server.ts';
import type { ForwardAuthServer } from './proxy-kit.ts';
import { testPlaces } from './proxy-edits.ts';
import { productProxies } from './proxy-programs.ts';
import { startedOnce } from './shared-keyreeve.ts';

const start = startedOnce(() => startKeyreeve());
let keyreeve: ForwardAuthServer;
beforeEach(async () => {
  keyreeve = await start();
});

test('a client can only add required scopes', async () => {
  const plain = keyreeve.key.key;
  const sendPlain = asEnvoy(keyreeve, '/auth/forward');
  for (const query of [
    'scope=orders:read',
    'scope=orders:read&scope=',
    'scope=&scope=orders:read',
    'scope=orders:read&path=/x?scope=',
  ])
    assert.equal(await sendPlain(`?${query}`, plain), 403, query);
  const query = '?scope=orders:read&scope=orders:write';
  assert.equal(await sendPlain(query, keyreeve.ordersKey.key), 403);
});

test('a client can only raise the cost that the operator names', async () => {
  await assertCostApplies(keyreeve, 'costly', asEnvoy(keyreeve, costlyPrefix));
  const { key } = await keyreeve.createKey('raised', { limits: { quota: { limit: 10, per: 'ever' } } });
  const sendCostly = asEnvoy(keyreeve, costlyPrefix);
  assert.equal(await sendCostly('/x?y&cost=10', key), 200);
  assert.equal(await sendCostly('/x?y', key), 429);
});

test('no query of a client makes a verification free', async () => {
  await assertNothingIsFree(keyreeve);
});

testPlaces('a cost', costs);

for (const proxy of productProxies) checkCostOf(proxy, start);

test('the edits of the broken build in which a cost can be 0 fit the sources', () => assertFits(costCanBe0));
