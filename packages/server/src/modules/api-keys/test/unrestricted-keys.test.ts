/** Keys whose restrictions an earlier program has omitted, while their stored hash still shows them. */
import assert from 'node:assert/strict';
import { test, testOnBoth } from '../../../../test-kit/app-on-each-database.ts';
import { listAuditEvents } from '../../../../test-kit/audit-log.ts';
import { bearer } from '../../../../test-kit/new-app.ts';
import { assertRejected, newKeyClient } from '../../../../test-kit/key-client.ts';
import { sql } from '../../../foundation/database/sql.ts';
import { disableUnrestricted, disableUnrestrictedTx } from '../unrestricted-keys.ts';
import { listAccountKeys } from '../store.ts';

const loseColumns = sql(
  'test_lose_restrictions',
  'update api_keys set disabled_at = null, disabled_reason = null, addresses = null',
);
const listReasons = sql<{ reason: string | null }>('test_reasons', 'select disabled_reason as reason from api_keys');

const restrictions = { 'IP ranges': { addresses: ['192.0.2.0/24'] }, disabling: { disabled: true } } as const;

for (const [what, restriction] of Object.entries(restrictions)) {
  test(`a key that has lost its ${what} is rejected, with its previous secret, until its owner enables it`, async () => {
    await using client = await newKeyClient();
    const { db, clock } = client.app;
    const { key } = await client.rotate();
    await client.change(restriction);
    const statuses = () => Promise.all([key, client.key].map((secret) => client.statusOf(secret)));
    await db.transaction((tx) => tx.run(loseColumns));
    assert.deepEqual(await statuses(), [401, 401]);
    // Before the next start, no change makes it valid.
    assert.notEqual((await client.read()).disabledAt, null);
    const [listed] = await listAccountKeys(db, client.user.account.id);
    assert.deepEqual([listed?.disabledAt !== null, listed?.disabledReason], [true, 'administrator']);
    assertRejected(await client.send('PATCH', '', { disabled: false }), 'administrator_required');
    const { key: rotated } = await client.rotate({ endPrevious: true });
    assert.deepEqual([...(await statuses()), await client.statusOf(rotated)], [401, 401, 401]);

    await disableUnrestricted(db, clock);
    await disableUnrestricted(db, clock);
    assert.deepEqual([...(await statuses()), await client.statusOf(rotated)], [401, 401, 401]);
    assert.deepEqual({ ...(await db.get(listReasons)) }, { reason: 'restore' });
    assert.equal((await client.read()).disabledReason, 'restore');
    const events = (await listAuditEvents(db)).filter(({ details }) => details?.includes('"by":"restore"'));
    assert.deepEqual(
      events.map(({ actor, action, target, details }) => [actor, action, target, details]),
      [['system', 'api_key.disabled', String(client.id), '{"by":"restore","reason":"restore"}']],
    );
    await client.change({ disabled: false });
    assert.equal(await client.statusOf(rotated), 200);
  });
}

testOnBoth('every key that has lost its restrictions is disabled, however many a statement disables', async () => {
  await using client = await newKeyClient();
  const { db } = client.app;
  const { accessToken } = client.user;
  for (const nickname of ['a', 'b', 'c']) {
    const json = { nickname, addresses: ['192.0.2.0/24'] };
    assert.equal((await client.app.call('POST', '/auth/api-keys', { headers: bearer(accessToken), json })).status, 201);
  }
  await db.transaction((tx) => tx.run(loseColumns));
  const now = client.app.clock.now();
  assert.equal(await db.transaction((tx) => disableUnrestrictedTx(tx, now, 2)), 3);
  assert.equal(await db.transaction((tx) => disableUnrestrictedTx(tx, now, 2)), 0);
  const disabled = (await listAuditEvents(db)).filter(({ action }) => action === 'api_key.disabled');
  assert.equal(new Set(disabled.map(({ target }) => target)).size, 3);
});
