/** A commit waits for its standby indefinitely and occupies a connection of the server, even after this side closed it. */
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';

// Meanwhile the process id may belong to another connection, so the conditions identify the waiting commit.
const cancelWaiting = `select pg_cancel_backend(pid) from pg_stat_activity
  where pid = $1 and wait_event = 'SyncRep' and usename = current_user and application_name like 'keyreeve%'`;

/**
 * Ends the wait of a commit. The commit then becomes visible, although another server that was promoted may lack it.
 * @param msMin as long as a proof that this server is the newest primary holds (`primary-proof.ts`): a read that ends later has
 *   a proof from after the commit, which shows that the standby has received it
 */
export async function cancelCommit(pool: pg.Pool, backend: number, msMin: number): Promise<void> {
  if (msMin > 0) await sleep(msMin, undefined, { ref: false });
  await pool.query(cancelWaiting, [backend]).catch(() => undefined);
}
