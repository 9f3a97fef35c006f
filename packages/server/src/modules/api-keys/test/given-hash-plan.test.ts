/** A creation with a given hash finds deleted keys in an index: an account can have millions of audit events. */
import assert from 'node:assert/strict';
import { sql } from '../../../foundation/database/sql.ts';
import { planOf } from '../../../../test-kit/plan-of.ts';
import { addAccount, newKey } from '../../../../test-kit/rows.ts';
import { onEachDatabase } from '../../../../test-kit/store-on-each-database.ts';
import { assertHashFree } from '../given-hash-store.ts';

const insertEvents = sql('test_insert_events', {
  sqlite: `insert into audit_events (at, actor, action, account_id, target)
    select 0, 'system', 'api_key.deleted', $2, value from json_each($1)`,
  postgres: `insert into audit_events (at, actor, action, account_id, target)
    select 0, 'system', 'api_key.deleted', $2, value from json_array_elements_text($1::json) as given (value)`,
});
const analyze = sql('test_analyze', 'analyze audit_events');

onEachDatabase('the deletion of a key with a given hash is found in an index, for any account', async ({ db }) => {
  const [ada, eve] = [await addAccount(db, 'ada'), await addAccount(db, 'eve')];
  const key = newKey(ada, 'k');
  await assertHashFree(db, key);
  const others = Array.from({ length: 5_000 }, (_, n) => String(key.id + n));
  await db.transaction(async (tx) => {
    await tx.run(insertEvents, [JSON.stringify(others), eve]);
    await tx.run(analyze);
  });
  await assert.rejects(assertHashFree(db, key), { code: 'secret_taken' });
  const plan = await planOf(db, (reader) => assertHashFree(reader, key));
  assert.match(plan, db.dialect === 'sqlite' ? /audit_events_deleted_keys \(target=\?\)/ : /audit_events_deleted_keys/);
  assert.doesNotMatch(plan, /SCAN audit_events|Seq Scan on audit_events/);
});
