/** A restore while a service uses the database. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { lockTablesTx, storedTables } from '../store.ts';
import type { Db } from '../../../foundation/database/db.ts';
import { sql } from '../../../foundation/database/sql.ts';
import { databases } from '../../../../test-kit/new-db.ts';
import { newTempFolder } from '../../../../test-kit/temp-folder.ts';
import { FakeClock } from '../../../../test-kit/fake-clock.ts';
import { Outbox } from '../../outbox/outbox.ts';
import { Webhooks } from '../../webhooks/webhooks.ts';
import { listUnpublished, publishSteps, type Step } from '../../webhooks/store.ts';
import { backUp, restore } from './backup-kit.ts';
import { onEachDatabase } from '../../../../test-kit/store-on-each-database.ts';
import { addAccount, keys, now, operator } from '../../../../test-kit/rows.ts';
import { fill } from './whole-installation.ts';

const listLocks = sql<{ name: string }>(
  'test_list_table_locks',
  `select c.relname as name from pg_locks l join pg_class c on c.oid = l.relation
   where l.pid = pg_backend_pid() and l.mode = 'ExclusiveLock' and c.relkind = 'r'`,
);

test('a restore on PostgreSQL blocks writes by others to every table', async () => {
  await using opened = await databases['postgres']!();
  const locked = await opened.db.transaction(async (tx) => {
    await lockTablesTx(tx);
    return tx.all(listLocks);
  });
  const names = locked.map(({ name }) => name).toSorted();
  assert.deepEqual(names, storedTables.map(({ name }) => name).toSorted());
});

function webhooksOf(db: Db): Webhooks {
  const clock = new FakeClock(now);
  const outbox = new Outbox({ db, clock, seal: keys.outboxSeal });
  return new Webhooks({ db, clock, revocations: undefined, seal: keys.webhookSeal, outbox, targets: [] });
}

/** The next step of each chain, without deliveries. */
async function nextSteps(db: Db): Promise<Step[]> {
  const chains = Map.groupBy(await listUnpublished(db, 1_000), ({ chain }) => chain);
  return [...chains].map(([chain, events]) => {
    const { publishedUntil: from = 0, position: to = 0, mac = Buffer.alloc(0) } = events.at(-1) ?? {};
    return { chain, from, to, mac, jobs: [] };
  });
}

onEachDatabase('webhooks publish no events after a restore that they read before it', async ({ db }) => {
  using temp = newTempFolder();
  const path = join(temp.path, 'backup');
  await fill(db);
  await webhooksOf(db).endpoints.create(operator, { url: 'https://example.com/hooks', events: ['account.created'] });
  await publishSteps(db, await nextSteps(db));
  assert.deepEqual(await nextSteps(db), []);
  await backUp(db, path);
  for (const name of ['one', 'two', 'three']) await addAccount(db, name);
  const steps = await nextSteps(db);
  await restore(db, path, { mayReplace: true, acceptsRevival: true });
  // Writes other events at the same positions of the same chains.
  for (const name of ['one', 'two', 'three']) await addAccount(db, name, 'admin');
  const before = await listUnpublished(db, 1_000);
  assert.ok(before.length > 0 && steps.length > 0);
  await publishSteps(db, steps);
  assert.deepEqual(await listUnpublished(db, 1_000), before);
});
