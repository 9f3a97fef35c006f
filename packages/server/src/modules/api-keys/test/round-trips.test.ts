/** How often a creation and a deletion of a key wait for PostgreSQL while they hold locks. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bearer, newApp } from '../../../../test-kit/new-app.ts';
import { newPlace } from '../../../../test-kit/new-db.ts';
import { FaultProxy } from '../../../../test/revocation-check/fault-proxy.ts';

test('the transaction of a creation or deletion takes two round trips, limits and audit event included (postgres)', async () => {
  await using place = await newPlace('postgres');
  await using proxy = await FaultProxy.start(place.url);
  const environment = {
    ...place.environment,
    KEYREEVE_DATABASE_URL: proxy.through(place.url),
    KEYREEVE_THROTTLE: 'on',
  };
  await using app = await newApp({ place: { ...place, environment } });
  const { accessToken } = await app.signIn();
  const transactions: { creates: boolean; deletes: boolean; roundTrips: number }[] = [];
  proxy.onCommit = (text, roundTrips) => {
    const [creates, deletes] = ['insert_api_key', 'delete_api_key'].map((name) => text.includes(`\0${name}_`));
    if (creates || deletes) transactions.push({ creates: creates === true, deletes: deletes === true, roundTrips });
  };
  // The connection prepares the statements of the first creation and deletion.
  for (const nickname of ['first', 'second']) {
    const created = await app.call('POST', '/auth/api-keys', { headers: bearer(accessToken), json: { nickname } });
    assert.equal(created.status, 201, created.text);
    const path = `/auth/api-keys/${(created.json as { id: number }).id}`;
    assert.equal((await app.call('DELETE', path, { headers: bearer(accessToken) })).status, 200);
  }
  const creation = { creates: true, deletes: false, roundTrips: 2 };
  const deletion = { creates: false, deletes: true, roundTrips: 2 };
  assert.deepEqual(transactions, [creation, deletion, creation, deletion]);
});
