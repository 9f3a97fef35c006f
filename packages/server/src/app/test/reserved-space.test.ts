/** The space that a start on a full disk needs is reserved while the service runs. `e2e/full-disk.test.ts` restarts on a full disk. */
import assert from 'node:assert/strict';
import { existsSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { databaseUrl } from '../configuration/config-values.ts';
import type { SqliteLocation } from '../../foundation/database/database.ts';
import { newApp } from '../../../test-kit/new-app.ts';
import { currentKind, newPlace } from '../../../test-kit/new-db.ts';
import { newTempFolder } from '../../../test-kit/temp-folder.ts';
import { ReservedSpace, reservedBytes, reservedPathOf } from '../installation/reserved-space.ts';

test('while the service runs, only its user can read the file that reserves space, and the file has its full size', async () => {
  await currentKind.run('sqlite', async () => {
    await using app = await newApp();
    const { path } = databaseUrl(app.place.url) as SqliteLocation;
    const { size, mode } = statSync(reservedPathOf(path));
    assert.deepEqual([size, mode & 0o777], [reservedBytes, 0o600]);
  });
});

test('a start that fails reserves the space again that it has released, and no other', async () => {
  await using place = await newPlace('sqlite');
  const { path } = databaseUrl(place.url) as SqliteLocation;
  const reserved = reservedPathOf(path);
  writeFileSync(path, 'not a database, but longer than its header would be'.repeat(100));
  const environment = { ...place.environment, KEYREEVE_MASTER_KEY: Buffer.alloc(32).toString('base64url') };
  const start = () => newApp({ place: { ...place, environment } });
  await assert.rejects(start());
  assert.equal(existsSync(reserved), false);
  for (const size of [1, reservedBytes, 2 * reservedBytes]) {
    writeFileSync(reserved, Buffer.alloc(size));
    await assert.rejects(start());
    assert.equal(statSync(reserved).size, Math.max(size, reservedBytes));
  }
});

test('the space is released before the database is opened', () => {
  using folder = newTempFolder();
  const path = join(folder.path, 'keyreeve.db');
  writeFileSync(reservedPathOf(path), Buffer.alloc(reservedBytes));
  ReservedSpace.release({ database: { kind: 'sqlite', path } });
  assert.equal(existsSync(reservedPathOf(path)), false);
});
