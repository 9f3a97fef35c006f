/** Every set of capabilities of a portal session, with every request. */
import { test } from '../../../../test-kit/app-on-each-database.ts';
import { newApp } from '../../../../test-kit/new-app.ts';
import { newPortalBackend } from '../../../../test-kit/portal.ts';
import { allCapabilities, assertOpens } from './portal-matrix.ts';

test('each of the 31 sets of capabilities opens exactly its requests', async () => {
  await using app = await newApp();
  const backend = await newPortalBackend(app);
  for (let set = 1; set < 2 ** allCapabilities.length; set++)
    await assertOpens(
      app,
      backend,
      allCapabilities.filter((_, index) => (set >> index) % 2 === 1),
    );
});
