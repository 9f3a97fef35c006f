/** What the outbox and the handlers of its jobs agree on. */
import type { Transaction } from '../../foundation/database/db.ts';

/** The handler of each kind defines the shape of its payload. */
export const jobKinds = ['mail', 'decoy', 'sign_up', 'password_reset', 'webhook'] as const;
export type JobKind = (typeof jobKinds)[number];

export interface Job {
  readonly id: string;
  readonly payload: unknown;
  readonly createdAt: number;
  /** Including this attempt. */
  readonly attempts: number;
  /** Removes the job in the handler's own transaction, so that its changes happen once even after a crash. */
  readonly finishTx: (tx: Transaction) => Promise<void>;
  /**
   * Call it before the effect that must not happen again and again, such as the end of a message to a mail server. Until the
   * handler ends, the outcome is unknown: after a crash, the job is repeated once, an hour later. The job takes no slot from
   * then on.
   * @param changeTx changes that commit together with the record
   * @throws LostJob, errors of `changeTx`
   */
  readonly handOver: (changeTx?: (tx: Transaction) => Promise<void>) => Promise<void>;
  /** For a handler that waits for another system: other jobs of the queue can run, within a bound. */
  readonly freeSlot: () => void;
}

/**
 * @returns optionally, changes that commit together with the removal of the job
 * @throws JobFailure, or any other error, which counts as a failure of this job alone
 */
export type Handler = (job: Job) => Promise<((tx: Transaction) => Promise<void>) | void>;

/** Why a job failed, and what follows for other jobs. */
export class JobFailure extends Error {
  /**
   * `job`: retry the job; `queue`: pause its whole queue; `final`: give the job up; `unknown`: its effect may have happened, so
   * the job is repeated at most once, an hour later.
   */
  readonly scope: FailureScope;

  constructor(message: string, scope: FailureScope, options?: ErrorOptions) {
    super(message, options);
    this.scope = scope;
  }
}

export type FailureScope = 'job' | 'queue' | 'final' | 'unknown';

/** The job was removed, or another process has it. This process leaves the row unchanged. */
export class LostJob extends Error {}
