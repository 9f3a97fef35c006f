/** SQL of the table that decides when cuts of the audit log are made. */
import type { Reader, Transaction } from '../../foundation/database/db.ts';
import { sql } from '../../foundation/database/sql.ts';

/** Why a run did not remove all events that are old enough. */
export type Block = 'clock' | 'deletion_journal' | 'webhooks' | 'integrity';

export interface RetentionState {
  /** A time that has certainly passed, in milliseconds. */
  readonly passedAt: number;
  /** The sum of the jumps of the clock that count as passed time, in milliseconds (`jumpDaysMax` in passed-time.ts). */
  readonly jumpedMs: number;
  /** When the last run began; null before the first. */
  readonly runAt: number | null;
  readonly blocked: Block | null;
}

const columns = `passed_at as "passedAt", jumped_ms as "jumpedMs", run_at as "runAt", blocked`;
const select = sql<RetentionState>('select_audit_retention', `select ${columns} from audit_retention where id = 1`);
const selectLocked = sql<RetentionState>('lock_audit_retention', {
  sqlite: `select ${columns} from audit_retention where id = 1`,
  postgres: `select ${columns} from audit_retention where id = 1 for update`,
});
const setPassed = sql(
  'set_passed_time',
  `insert into audit_retention (id, passed_at, jumped_ms, run_at, blocked) values (1, $1, $2, null, null)
   on conflict (id) do update set passed_at = excluded.passed_at, jumped_ms = excluded.jumped_ms`,
);
// A time of the last run in the future comes from a clock that was ahead.
const claim = sql(
  'claim_audit_cut_run',
  'update audit_retention set run_at = $1 where id = 1 and (run_at is null or run_at <= $2 or run_at > $1)',
);
const release = sql('release_audit_cut_run', 'update audit_retention set run_at = null where id = 1 and run_at = $1');
const setBlocked = sql('set_audit_cut_block', 'update audit_retention set blocked = $1 where id = 1');

/** @returns undefined before the first run */
export const findRetentionState = (reader: Reader): Promise<RetentionState | undefined> => reader.get(select);

export const lockRetentionStateTx = (tx: Transaction): Promise<RetentionState | undefined> => tx.get(selectLocked);

export const setPassedTx = async (
  tx: Transaction,
  { passedAt, jumpedMs }: Pick<RetentionState, 'passedAt' | 'jumpedMs'>,
): Promise<void> => void (await tx.run(setPassed, [passedAt, jumpedMs]));

/** @returns whether the caller makes the run that is due: `everyMs` after the last one */
export const claimRunTx = async (tx: Transaction, now: number, everyMs: number): Promise<boolean> =>
  (await tx.run(claim, [now, now - everyMs])) === 1;

/** After a failure: the run is due again. */
export const releaseRunTx = async (tx: Transaction, now: number): Promise<void> => void (await tx.run(release, [now]));

export const setBlockedTx = async (tx: Transaction, blocked: Block | null): Promise<void> =>
  void (await tx.run(setBlocked, [blocked]));
