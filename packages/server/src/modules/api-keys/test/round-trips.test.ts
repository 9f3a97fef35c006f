/** How often a creation, a change and a deletion of a key wait for PostgreSQL while they hold locks. */
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

test('the transaction of a change, a rotation or the end of a secret takes three round trips (postgres)', async () => {
  const transactions = {
    change: '\0update_api_key_',
    rotation: '\0replace_api_key_secret_',
    ending: '\0delete_previous_api_key_secret_',
  };
  await countRoundTrips(transactions, async (app, committed) => {
    const { accessToken } = await app.signIn();
    const headers = bearer(accessToken);
    const created = await app.call('POST', '/auth/api-keys', { headers, json: { nickname: 'first' } });
    const path = `/auth/api-keys/${(created.json as { id: number }).id}`;
    for (const nickname of ['second', 'third']) {
      const answers = [
        await app.call('PATCH', path, { headers, json: { nickname, disabled: nickname === 'second' } }),
        await app.call('POST', `${path}/rotate`, { headers }),
        await app.call('DELETE', `${path}/previous`, { headers }),
      ];
      for (const { status, text } of answers) assert.equal(status, 200, text);
    }
    const each = [
      ['change', 3],
      ['rotation', 3],
      ['ending', 3],
    ];
    assert.deepEqual(committed, [...each, ...each]);
  });
});
