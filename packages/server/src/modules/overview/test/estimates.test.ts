/** Numbers of rows for metrics: right for small tables, at a bounded cost. */
import assert from 'node:assert/strict';
import { insertKeys } from '../../../../test-kit/many-rows.ts';
import { addAccount, addSession, now } from '../../../../test-kit/rows.ts';
import { onEachDatabase } from '../../../../test-kit/store-on-each-database.ts';
import { Estimates } from '../estimates.ts';

onEachDatabase('the estimates are exact for a few rows, and are read again after their time', async ({ db }) => {
  const account = await addAccount(db);
  const estimates = new Estimates(db);
  const fresh = new Estimates(db, 0);
  assert.deepEqual(await estimates.read(), { accounts: 1, apiKeys: 0, sessions: 0, consoleSessions: 0 });
  await addSession(db, account, 'one');
  await addSession(db, account, 'two', { kind: 'console' });
  assert.equal((await estimates.read()).sessions, 0);
  assert.deepEqual(await fresh.read(), { accounts: 1, apiKeys: 0, sessions: 2, consoleSessions: 1 });
});

onEachDatabase('more rows than one read counts are all in the estimate', async ({ db }) => {
  const account = await addAccount(db);
  const keys = Array.from({ length: 20_001 }, (_, id) => ({ id: id + 1, nickname: `k${id}`, createdAt: now }));
  await insertKeys(db, account, keys);
  const { apiKeys } = await new Estimates(db).read();
  // PostgreSQL counts 10,000, and has no estimate before it analyzes the table.
  if (db.dialect === 'sqlite') assert.equal(apiKeys, 20_001);
  else assert.ok(apiKeys >= 10_000 && apiKeys <= 20_001, String(apiKeys));
});
