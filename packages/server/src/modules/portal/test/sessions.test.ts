/** Portal sessions over HTTP: creation, redemption, state, end. */
import assert from 'node:assert/strict';
import { limits } from '@keyreeve/contract';
import { testOnBoth as test } from '../../../../test-kit/app-on-each-database.ts';
import { newApp } from '../../../../test-kit/new-app.ts';
import { hostOrigin, newPortalBackend, redeem, stateOf } from '../../../../test-kit/portal.ts';

test('a token becomes the secret of a session with what the backend has stated', async () => {
  await using app = await newApp();
  const backend = await newPortalBackend(app);
  const session = await backend.create({ person: { id: 'u_7', name: 'Ada' } });
  const opened = await redeem(app, session);
  assert.equal(opened.status, 201, opened.text);
  const state = await stateOf(app, {
    headers: { authorization: `Bearer ${(opened.json as { secret: string }).secret}` },
  });
  assert.equal(state.status, 200, state.text);
  assert.equal((state.json as { origin: string }).origin, hostOrigin);
  assert.equal(limits.portalTokenSeconds, 60);
});
