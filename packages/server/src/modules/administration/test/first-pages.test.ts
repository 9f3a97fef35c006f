/** The first pages of administrators in an installation with 10,000 accounts, 10,000 keys and 100,000 audit events. */
import assert from 'node:assert/strict';
import { dayMs } from '../../../foundation/clock.ts';
import { countDatabaseReads } from '../../../../test-kit/database-reads.ts';
import { administer, newAdministrator } from '../../../../test-kit/administrators.ts';
import { test } from '../../../../test-kit/app-on-each-database.ts';
import { insertAccounts, insertEvents, insertKeys } from '../../../../test-kit/many-rows.ts';
import { indexNames } from '../../api-keys/name-store.ts';
import { newApp } from '../../../../test-kit/new-app.ts';

const count = 10_000;
const numbers = Array.from({ length: count }, (_, n) => n);
const idOf = (n: number): string => `acc_${String(n).padStart(22, '0')}`;

async function newLargeInstallation() {
  const app = await newApp();
  const now = app.clock.now();
  const accounts = numbers.map((n) => ({ id: idOf(n), email: `person${n}@example.com` }));
  await insertAccounts(app.db, accounts, now);
  await insertKeys(
    app.db,
    idOf(0),
    numbers.map((n) => ({ id: n + 1, nickname: `key ${n}`, createdAt: now - n, hint: 'krv_…x7Qa' })),
  );
  while (await indexNames(app.db));
  for (let part = 0; part < 10; part++)
    await insertEvents(
      app.db,
      numbers.map((n) => ({ at: now - dayMs + part * count + n, accountId: idOf(n), target: String(n) })),
    );
  return app;
}

test('each first page of a large installation takes few reads and has at most 100 rows', async () => {
  await using app = await newLargeInstallation();
  const administrator = await newAdministrator(app);
  // Without an index, at most 5,000 rows are searched: 100 and then 500 on SQLite for each pair of reads.
  const searchedReadsMax = 22;
  for (const [path, member, readsMax] of [
    ['accounts', 'accounts', 2],
    ['accounts?query=example.com', 'accounts', 2],
    ['accounts?email=person9999@example.com', 'accounts', 2],
    ['accounts?query=person9999', 'accounts', searchedReadsMax],
    ['accounts?state=enabled', 'accounts', 2],
    ['api-keys', 'apiKeys', 3],
    // On PostgreSQL, the index finds too many.
    ['api-keys?nickname=key', 'apiKeys', 4],
    ['api-keys?nickname=key%209999', 'apiKeys', 3],
    ['api-keys?nickname=zz', 'apiKeys', searchedReadsMax],
    ['api-keys?hint=x7Qa', 'apiKeys', 3],
    [`api-keys?owner=${idOf(0)}`, 'apiKeys', 3],
    ['audit', 'events', 3],
    [`audit?account=${idOf(5)}`, 'events', 3],
    ['audit?target=9999', 'events', searchedReadsMax + 1],
    ['audit?action=api_key.created', 'events', searchedReadsMax + 1],
  ] as const) {
    using reads = countDatabaseReads();
    const { status, json, text } = await administer(app, administrator, 'GET', path);
    const names = reads.names().filter((name) => !name.includes('signing_key'));
    assert.equal(status, 200, text);
    const rows = (json as Record<string, unknown[]>)[member] ?? [];
    assert.ok(rows.length <= 100, `${path}: ${rows.length} rows`);
    assert.ok(names.length <= readsMax, `${path}: ${names.join(', ')}`);
  }
});
