/** Which sessions count as begun while a clock was ahead. */
import assert from 'node:assert/strict';
import { aheadMsMax, dayMs, systemClock } from '../../../foundation/clock.ts';
import type { Db } from '../../../foundation/database/db.ts';
import { sql } from '../../../foundation/database/sql.ts';
import { FakeClock, MachineClock } from '../../../../test-kit/fake-clock.ts';
import { addAccount, addSession, now } from '../../../../test-kit/rows.ts';
import { onEachDatabase } from '../../../../test-kit/store-on-each-database.ts';
import { deleteSessionsAhead } from '../ahead-store.ts';

const selectIds = sql<{ id: string }>('test_session_ids', 'select id from sessions order by id');
const idsIn = async (db: Db): Promise<string[]> => (await db.all(selectIds)).map(({ id }) => id);

const add = (db: Db, accountId: string, name: string, at: number) =>
  addSession(db, accountId, name, { now: at, idleExpiresAt: at + 9 * dayMs, expiresAt: at + 9 * dayMs });

onEachDatabase(
  'only sessions beyond the tolerated difference are deleted, whatever the size of a page',
  async ({ db }) => {
    const ada = await addAccount(db);
    const clock = new FakeClock(now);
    for (const rowsMax of [1, 2, 3, 5, 100]) {
      await add(db, ada, 'c', now);
      await add(db, ada, 'e', now + aheadMsMax);
      for (const name of ['a', 'b', 'd', 'f']) await add(db, ada, name, now + aheadMsMax + 1);
      assert.equal(await deleteSessionsAhead(db, clock, rowsMax), 4, String(rowsMax));
      assert.deepEqual(await idsIn(db), ['ses_c', 'ses_e']);
      assert.equal(await deleteSessionsAhead(db, clock, rowsMax), 0, String(rowsMax));
      clock.advance({ seconds: -1 });
      assert.equal(await deleteSessionsAhead(db, clock, rowsMax), 1, String(rowsMax));
      clock.advance({ days: -1, seconds: 1 });
      assert.equal(await deleteSessionsAhead(db, clock, rowsMax), 1, String(rowsMax));
      clock.advance({ days: 1 });
    }
  },
);

onEachDatabase('on PostgreSQL, a process whose clock is behind deletes no valid session', async ({ db }) => {
  const real = systemClock.now();
  const ada = await addAccount(db);
  await add(db, ada, 'current', real);
  await add(db, ada, 'future', real + dayMs);
  const ofDatabase = db.dialect === 'postgres';
  // SQLite has no other clock.
  assert.equal(await deleteSessionsAhead(db, new MachineClock(real - dayMs), 10), ofDatabase ? 1 : 2);
  assert.deepEqual(await idsIn(db), ofDatabase ? ['ses_current'] : []);
});

onEachDatabase('a process whose clock is ahead deletes no session that is valid for it', async ({ db }) => {
  const real = systemClock.now();
  const ada = await addAccount(db);
  await add(db, ada, 'future', real + dayMs);
  assert.equal(await deleteSessionsAhead(db, new MachineClock(real + dayMs), 10), 0);
  assert.deepEqual(await idsIn(db), ['ses_future']);
});
