/** Whether a session of a PostgreSQL database waits for a lock: the proof that one transaction excludes another. */
import type { Db } from '../src/foundation/database/db.ts';
import { sql } from '../src/foundation/database/sql.ts';

const listWaiting = sql<{ pid: number }>(
  'test_list_sessions_that_wait_for_locks',
  `select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
);

export const isLockAwaited = async (db: Db): Promise<boolean> => (await db.all(listWaiting)).length > 0;
