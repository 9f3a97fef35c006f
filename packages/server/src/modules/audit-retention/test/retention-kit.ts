/** An audit log with events of several ages, and what its verification reports. */
import { dayMs } from '../../../foundation/clock.ts';
import type { Db } from '../../../foundation/database/db.ts';
import { sql } from '../../../foundation/database/sql.ts';
import { recordEventsTx, type AuditEvent } from '../../audit/audit.ts';
import { findCheckpoints } from '../../audit/chain.ts';
import { verifyLog, type Verified, type VerifyOptions } from '../../audit/verify-log.ts';
import type { FakeClock } from '../../../../test-kit/fake-clock.ts';
import { keys, now, operator } from '../../../../test-kit/rows.ts';
import { AuditRetention, type AuditRetentionOptions } from '../audit-retention.ts';
import type { CutResult } from '../audit-cutter.ts';

export const daysAgo = (days: number): number => now - days * dayMs;

/** Records events of one account, with the given ages in days. */
export const record = (
  db: Db,
  agesDays: readonly number[],
  more: { readonly [name in keyof AuditEvent]?: AuditEvent[name] | undefined } = {},
): Promise<void> =>
  db.transaction((tx) =>
    recordEventsTx(
      tx,
      agesDays.map((age) => {
        const event = {
          principal: operator,
          action: 'account.enabled',
          accountId: 'acc_ada',
          target: 'acc_ada',
          ...more,
        };
        return { at: daysAgo(age), ...event } as AuditEvent;
      }),
    ),
  );

export interface TestRetention {
  readonly retention: AuditRetention;
  readonly runs: CutResult[];
  /** Advances the clock and the monotonic clock together. */
  readonly pass: (days: number) => void;
}

/** The monotonic clock stands still unless `pass` advances it. */
export function newRetention(db: Db, clock: FakeClock, more: Partial<AuditRetentionOptions> = {}): TestRetention {
  const runs: CutResult[] = [];
  let monotonicMs = 0;
  const retention = new AuditRetention({
    db,
    clock,
    keys,
    journal: undefined,
    keptDays: 30,
    pauseMs: 0,
    onRun: (result) => runs.push(result),
    monotonic: () => monotonicMs,
    ...more,
  });
  const pass = (days: number): void => {
    clock.advance({ days });
    monotonicMs += days * dayMs;
  };
  return { retention, runs, pass };
}

export const verify = (
  db: Db,
  { checkpoints = [], ...more }: { checkpoints?: readonly string[]; now?: number; keptDays?: number | undefined } = {},
): Promise<Verified> =>
  db.snapshot((reader) =>
    verifyLog(reader, keys, {
      now,
      checkpoints: checkpoints.flatMap(findCheckpoints),
      ...more,
    } satisfies VerifyOptions),
  );

const selectAges = sql<{ at: number; action: string }>('test_ages', 'select at, action from audit_events order by id');

/** @returns the remaining ages in days, without the events of cuts */
export const agesIn = async (db: Db): Promise<number[]> =>
  (await db.all(selectAges)).filter(({ action }) => action !== 'audit.cut').map(({ at }) => (now - at) / dayMs);

let statements = 0;
/** Changes the database directly, as an attacker could. */
export const tamper = (db: Db, ...changes: readonly string[]): Promise<void> =>
  db.transaction(async (tx) => {
    for (const change of changes) await tx.run(sql(`test_tamper_${++statements}`, change));
  });
