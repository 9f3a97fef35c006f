/** Finding the changes of keys that a database has lost takes the same time for any number of audit events. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { dayMs } from '../../../foundation/clock.ts';
import { sql } from '../../../foundation/database/sql.ts';
import { FakeClock } from '../../../../test-kit/fake-clock.ts';
import { planOf } from '../../../../test-kit/plan-of.ts';
import { addAccount, addKey, keys, now } from '../../../../test-kit/rows.ts';
import { onEachDatabase } from '../../../../test-kit/store-on-each-database.ts';
import { newTempFolder } from '../../../../test-kit/temp-folder.ts';
import { DeletionJournal } from '../deletion-journal.ts';
import { readPosition } from '../files.ts';
import { findLostChanges } from '../store.ts';

const details = `{"nickname":"k","changed":["addresses"],"narrowed":["addresses"]}`;
const insertEvents = sql('test_insert_events', {
  sqlite: `insert into audit_events (at, actor, action, account_id, target, details)
    select value ->> '$.at', 'system', 'api_key.updated', $2, value ->> '$.id', '${details}' from json_each($1)`,
  postgres: `insert into audit_events (at, actor, action, account_id, target, details)
    select at, 'system', 'api_key.updated', $2, id, '${details}'
    from json_to_recordset($1::json) as given (id text, at bigint)`,
});
const analyze = sql('test_analyze', 'analyze audit_events');

onEachDatabase('each change is looked up in an index of the changes of keys', async ({ db }) => {
  const accountId = await addAccount(db);
  const { id } = await addKey(db, accountId, 'k');
  const events = Array.from({ length: 5_000 }, (_, n) => ({ id: String(id), at: now + n * 200 }));
  await db.transaction((tx) => tx.run(insertEvents, [JSON.stringify(events), accountId]));
  await db.transaction((tx) => tx.run(analyze));
  const listed = [...events.slice(-100), { id: String(id), at: now + 100 }];
  for (const kind of ['api_key_narrowed', 'api_key_disabled_by_administrator'] as const) {
    assert.deepEqual(
      (await findLostChanges(db, kind, listed)).map((found) => ({ ...found })),
      [{ accountId, target: String(id), id: String(id), at: now + 100 }],
    );
    const plan = await planOf(db, (reader) => findLostChanges(reader, kind, listed));
    assert.match(
      plan,
      db.dialect === 'sqlite'
        ? /audit_events_key_changes \(target=\? AND at=\?\)/
        : /audit_events_key_changes .*\n\s*Index Cond: \(\(target = given\.id\) AND \(at = given\.at\)\)/,
    );
    assert.doesNotMatch(plan, /SCAN e\b|Seq Scan on audit_events/);
  }
});

onEachDatabase('a journal is not complete beyond the clock, whatever time the newest event has', async ({ db }) => {
  using temp = newTempFolder();
  const folder = join(temp.path, 'journal');
  const accountId = await addAccount(db);
  const future = JSON.stringify([{ id: '1', at: now + dayMs }]);
  await db.transaction((tx) => tx.run(insertEvents, [future, accountId]));
  await new DeletionJournal({ folder, db, clock: new FakeClock(now + 5), keys }).completeFrom(db);
  assert.equal((await readPosition(folder, keys))?.at, now + 5);
});
