/** The space of removed rows: `doctor` reports it, and `keyreeve compact` returns it to the disk beside a running service. */
import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { test } from 'node:test';
import { compactFile, NoSpaceError } from '../../foundation/database/compact-sqlite-file.ts';
import type { SqliteLocation } from '../../foundation/database/database.ts';
import { freePages } from '../../foundation/database/size.ts';
import { sql } from '../../foundation/database/sql.ts';
import { insertEvents } from '../../../test-kit/many-rows.ts';
import { bearer, newApp, operator } from '../../../test-kit/new-app.ts';
import { currentKind } from '../../../test-kit/new-db.ts';
import { untilHousekeepingHasEnded } from '../../../test-kit/thread-messages.ts';
import { databaseChecks, checkFreePages } from '../installation/checks.ts';
import { databaseUrl } from '../configuration/config-values.ts';
import { readConfig } from '../configuration/config.ts';

const mib = 2 ** 20;
const removeEvents = sql('test_remove_events', `delete from audit_events where action = 'test.removed'`);

test('after a retention, the space of removed rows is reported, and returned beside a running service', async () => {
  await currentKind.run('sqlite', async () => {
    await using app = await newApp();
    const { db, place } = app;
    const { path } = databaseUrl(place.url) as SqliteLocation;
    const { account } = await app.signIn();
    const { apiKeys } = app.service.services;
    const [kept, deleted] = [
      await apiKeys.create(operator, account.id, { nickname: 'kept' }),
      await apiKeys.create(operator, account.id, { nickname: 'deleted' }),
    ];
    const events = Array.from({ length: 12_000 }, (_, at) => ({
      at,
      action: 'test.removed',
      details: JSON.stringify({ text: 'x'.repeat(1_000) }),
    }));
    await insertEvents(db, events);
    await db.transaction((tx) => tx.run(removeEvents));
    await apiKeys.delete(operator, account.id, deleted.id);
    const found = await freePages(db);
    assert.ok(found.freeBytes > 10 * mib, `${found.freeBytes} bytes are free`);
    const config = readConfig(place.environment);
    const check = (await databaseChecks({ config, db })).find(({ name }) => name === 'free pages');
    assert.equal(check?.state, 'note');
    assert.match(check.detail, /^9\d % of the database file \(1\d MiB\) is free for new rows; `keyreeve compact`/);

    // It blocks this thread, on which a transaction of the service would wait meanwhile, with the lock of the file.
    await untilHousekeepingHasEnded(app);
    const { bytesBefore, bytesAfter } = compactFile(path, found);
    assert.equal(bytesBefore, found.bytes);
    assert.deepEqual([bytesAfter < 2 * mib, statSync(path).size], [true, bytesAfter]);
    assert.equal((await freePages(db)).freeBytes, 0);
    // The service has the same file, and its changes continue.
    const forward = async (secret: string): Promise<number> =>
      (await app.call('GET', '/auth/forward', { headers: bearer(secret) })).status;
    assert.deepEqual([await forward(kept.secret.reveal()), await forward(deleted.secret.reveal())], [200, 401]);
    await apiKeys.delete(operator, account.id, kept.id);
    assert.equal(await forward(kept.secret.reveal()), 401);
  });
});

test('a database is not compacted without the space that it takes for a moment', async () => {
  await currentKind.run('sqlite', async () => {
    await using app = await newApp();
    const { path } = databaseUrl(app.place.url) as SqliteLocation;
    const before = statSync(path).size;
    assert.throws(
      () => compactFile(path, { bytes: 2 ** 60, freeBytes: 2 ** 59 }),
      (error) => error instanceof NoSpaceError && /needs \d+ MiB of free space for a moment/.test(error.message),
    );
    assert.equal(statSync(path).size, before);
  });
});

test('few free pages, and a small share, are not worth compacting', () => {
  for (const [bytes, freeBytes, state] of [
    [100 * mib, 30 * mib, 'note'],
    [100 * mib, 20 * mib, 'ok'],
    [10 * mib, 9 * mib, 'ok'],
    [0, 0, 'ok'],
  ] as const)
    assert.equal(checkFreePages({ bytes, freeBytes }).state, state, `${freeBytes} of ${bytes}`);
});
