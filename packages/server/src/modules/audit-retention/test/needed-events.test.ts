/** A cut removes no event that the deletion journal or a webhook still needs. */
import assert from 'node:assert/strict';
import { dayMs } from '../../../foundation/clock.ts';
import { saveTriedDeliveries } from '../../webhooks/delivery-store.ts';
import { createEndpointTx, disableEndpoint, publishSteps, listUnpublished } from '../../webhooks/store.ts';
import type { Db } from '../../../foundation/database/db.ts';
import { chainOf } from '../../audit/chain.ts';
import { DeletionJournal } from '../../deletion-journal/deletion-journal.ts';
import { FakeClock } from '../../../../test-kit/fake-clock.ts';
import { onEachDatabase } from '../../../../test-kit/store-on-each-database.ts';
import { keys, now, operator } from '../../../../test-kit/rows.ts';
import { newTempFolder } from '../../../../test-kit/temp-folder.ts';
import { agesIn, daysAgo, newRetention, record, verify } from './retention-kit.ts';

const addEndpoint = (db: Db): Promise<void> =>
  db.transaction((tx) => {
    const secret = keys.webhookSeal.seal('whe_one', '{}');
    const row = { id: 'whe_one', url: 'https://example.com/', secret, events: 'account.enabled', now };
    return createEndpointTx(tx, operator, row, 1);
  });

/** Marks all events as published. */
async function publish(db: Db): Promise<void> {
  const events = Map.groupBy(await listUnpublished(db, 100), ({ chain }) => chain);
  const steps = [...events].flatMap(([chain, list]) => {
    const [first, last] = [list.at(0), list.at(-1)];
    return first && last ? [{ chain, from: first.publishedUntil, to: last.position, mac: last.mac, jobs: [] }] : [];
  });
  await publishSteps(db, steps);
}

onEachDatabase('an event that is not published yet stays, and is removed after its publication', async ({ db }) => {
  await addEndpoint(db);
  await record(db, [50, 40, 0]);
  const { retention, runs, pass } = newRetention(db, new FakeClock(now));
  await retention.apply();
  assert.deepEqual(runs, [{ removed: 0, blocked: 'webhooks' }]);
  await publish(db);
  pass(1);
  await retention.apply();
  assert.deepEqual(runs.at(-1), { removed: 2, blocked: undefined });
  assert.deepEqual((await verify(db, { now: now + dayMs, keptDays: 30 })).findings, []);
});

onEachDatabase('without an enabled endpoint, no event waits for publication', async ({ db }) => {
  await addEndpoint(db);
  await record(db, [50, 40, 0]);
  await disableEndpoint(db, { principal: operator, now }, 'whe_one');
  const { retention, runs } = newRetention(db, new FakeClock(now));
  await retention.apply();
  assert.deepEqual(runs, [{ removed: 2, blocked: undefined }]);
});

onEachDatabase('the event of a delivery that can be replayed stays', async ({ db }) => {
  await record(db, [50, 40, 35, 0]);
  const delivery = { id: 'msg_one', endpointId: 'whe_one', type: 'account.enabled', eventAt: daysAgo(40), position: 2 };
  await saveTriedDeliveries(
    db,
    [{ ...delivery, chain: chainOf('acc_ada'), attempts: [[now, 500, 1, 'it answered 500']] }],
    20,
  );
  const { retention, runs } = newRetention(db, new FakeClock(now));
  await retention.apply();
  assert.deepEqual([runs, await agesIn(db)], [[{ removed: 1, blocked: 'webhooks' }], [40, 35, 0]]);
});

onEachDatabase('an event that the deletion journal does not contain yet stays', async ({ db }) => {
  using temp = newTempFolder();
  const clock = new FakeClock(daysAgo(42));
  const journal = new DeletionJournal({ folder: temp.path, db, clock, keys });
  await record(db, [50, 45]);
  await journal.catchUp();
  await record(db, [40, 0]);
  const late = new FakeClock(now);
  const { retention, runs, pass } = newRetention(db, late, { journal });
  await retention.apply();
  // The journal's own place stays too: it shows that the audit log is the same.
  assert.deepEqual([runs, await agesIn(db)], [[{ removed: 1, blocked: 'deletion_journal' }], [45, 40, 0]]);
  clock.advance({ days: 43 });
  await journal.catchUp();
  pass(1);
  await retention.apply();
  assert.deepEqual(await agesIn(db), [0]);
  assert.deepEqual((await journal.completedEvent()) > 0, true);
});

onEachDatabase('without a position, the deletion journal needs all events', async ({ db }) => {
  using temp = newTempFolder();
  await record(db, [50, 0]);
  const journal = new DeletionJournal({ folder: temp.path, db, clock: new FakeClock(now), keys });
  const { retention, runs } = newRetention(db, new FakeClock(now), { journal });
  await retention.apply();
  assert.deepEqual([runs, await agesIn(db)], [[{ removed: 0, blocked: 'deletion_journal' }], [50, 0]]);
});
