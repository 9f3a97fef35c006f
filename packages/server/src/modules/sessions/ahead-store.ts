/** Deletes sessions that began while a clock was ahead, which are rejected after the correction (`timesText` in store.ts). */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../../foundation/clock.ts';
import { aheadTimes, isAhead } from '../../foundation/database/ahead.ts';
import type { Db } from '../../foundation/database/db.ts';
import { sql, type Dialect } from '../../foundation/database/sql.ts';

interface Page {
  readonly count: number;
  readonly ahead: number;
  /** The greatest id; null without rows. */
  readonly last: string | null;
}
// By pages in the order of the primary key: an index on the time would cost a write for each sign-in.
const pageText = (dialect: Dialect): string => `select count(*) as count, max(id) as last,
     count(case when ${isAhead(dialect)} then 1 end) as ahead
   from (select id, created_at from sessions where id > $3 order by id limit $4) as next`;
const readPage = sql<Page>('find_sessions_ahead', { sqlite: pageText('sqlite'), postgres: pageText('postgres') });
const deleteText = (dialect: Dialect): string =>
  `delete from sessions where id > $3 and id <= $4 and ${isAhead(dialect)}`;
const deletePage = sql('delete_sessions_ahead', { sqlite: deleteText('sqlite'), postgres: deleteText('postgres') });

/**
 * Reads all sessions. On SQLite, call it only after the machine has had time to synchronise its clock.
 * A million sessions in pages of 1,000 rows took 0.2 s of processor time on SQLite, and 0.4 s in the server on PostgreSQL. It
 * blocks no writes, and writes only if a page contains such a session.
 * @param rowsMax per read and per commit
 * @returns the number of deleted sessions
 */
export async function deleteSessionsAhead(db: Db, clock: Clock, rowsMax: number): Promise<number> {
  let deleted = 0;
  for (let after = ''; ;) {
    const times = aheadTimes(clock);
    const page = await db.get(readPage, [...times, after, rowsMax]);
    const last = page?.last;
    if (!page || typeof last !== 'string') return deleted;
    const range = [...times, after, last];
    if (page.ahead > 0) deleted += await db.transaction((tx) => tx.run(deletePage, range));
    if (page.count < rowsMax) return deleted;
    after = last;
    // On SQLite, a read blocks the event loop.
    await nextTurn();
  }
}
