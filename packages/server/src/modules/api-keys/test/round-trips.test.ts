/** How often a creation and a deletion of a key wait for PostgreSQL while they hold locks. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bearer } from '../../../../test-kit/new-app.ts';
import { countRoundTrips } from '../../../../test-kit/round-trips.ts';

test('the transaction of a creation or deletion takes two round trips, limits and audit event included (postgres)', async () => {
  const transactions = { creation: '\0insert_api_key_', deletion: '\0delete_api_key_' };
  await countRoundTrips(transactions, async (app, committed) => {
    const { accessToken } = await app.signIn();
    // The connection prepares the statements of the first creation and deletion.
    for (const nickname of ['first', 'second']) {
      const created = await app.call('POST', '/auth/api-keys', { headers: bearer(accessToken), json: { nickname } });
      assert.equal(created.status, 201, created.text);
      const path = `/auth/api-keys/${(created.json as { id: number }).id}`;
      assert.equal((await app.call('DELETE', path, { headers: bearer(accessToken) })).status, 200);
    }
    const both = [
      ['creation', 2],
      ['deletion', 2],
    ];
    assert.deepEqual(committed, [...both, ...both]);
  });
});
