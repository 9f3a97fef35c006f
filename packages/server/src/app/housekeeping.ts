/**
 * Periodic work: writes usage and times of last use, deletes expired rows, gives notice of expiring keys, logs counts of
 * verifications and audit checkpoints.
 */
import { limits } from '@keyreeve/contract';
import type { ExpiryNotices } from '../modules/api-keys/expiry-notices.ts';
import { deleteExpiredSignUps } from '../modules/accounts/sign-up-store.ts';
import { takeCheckpoint } from '../modules/audit/checkpoint.ts';
import type { Clock } from '../foundation/clock.ts';
import { deleteExpiredCodes } from '../modules/one-time-codes/store.ts';
import { deleteOldEmailChanges } from '../modules/accounts/email-change-store.ts';
import type { AuditKey, Db } from '../foundation/database/db.ts';
import { EventLoopDelay } from './event-loop-delay.ts';
import type { Installation } from './installation.ts';
import type { Log } from '../foundation/log.ts';
import { deleteUntouchedBuckets } from '../modules/rate-limits/store.ts';
import { deleteExpiredSessions } from '../modules/sessions/store.ts';
import { deleteEndedSecrets } from '../modules/api-keys/change-store.ts';
import type { UnusedKeys } from '../modules/api-keys/unused-keys.ts';
import type { UsageRetention } from '../modules/key-usage/retention.ts';
import type { Verifier } from '../modules/verification/verify.ts';

const flushEveryMs = 10_000;
const logEveryMs = 60_000;
const deleteEveryMs = 600_000;
/** Rows per commit, so that other commits do not wait long. */
const rowsPerDeleteMax = 1_000;
const dayMs = 86_400_000;

export interface HousekeepingParts {
  readonly verifier: Verifier;
  readonly usageRetention: UsageRetention;
  readonly unusedKeys: UnusedKeys;
  readonly expiryNotices: ExpiryNotices;
}

export class Housekeeping {
  readonly #timers: NodeJS.Timeout[];
  readonly #verifier: Verifier;
  readonly #log: Log;
  readonly #checkpoint: () => Promise<void>;
  readonly #delay = new EventLoopDelay();
  #lastCheckpoint = '';
  #lastCounts: Readonly<Record<string, number>> = {};

  /** @param isFirst whether this process deletes expired rows and logs checkpoints; one worker of an instance does */
  constructor(
    { db, keys }: Installation,
    clock: Clock,
    { verifier, usageRetention, unusedKeys, expiryNotices }: HousekeepingParts,
    log: Log,
    isFirst = true,
  ) {
    this.#verifier = verifier;
    this.#log = log;
    this.#checkpoint = isFirst ? () => this.#logCheckpoint(db, keys.auditChain) : () => Promise.resolve();
    const every = (ms: number, task: () => Promise<void>): NodeJS.Timeout =>
      setInterval(() => void this.#run(task), ms).unref();
    this.#timers = [
      every(flushEveryMs, () => verifier.flush()),
      every(logEveryMs, async () => this.#logVerifications()),
    ];
    if (!isFirst) return;
    this.#timers.push(
      every(logEveryMs, this.#checkpoint),
      every(deleteEveryMs, () => this.#deleteExpired(db, clock)),
      every(deleteEveryMs, () => usageRetention.apply()),
      // Not at the start: after a pause, keys first get the chance to be used.
      every(deleteEveryMs, () => unusedKeys.disable()),
      every(deleteEveryMs, () => expiryNotices.give()),
    );
    void this.#run(() => this.#deleteExpired(db, clock))
      .then(() => this.#run(() => usageRetention.apply()))
      .then(() => this.#run(() => expiryNotices.give()));
  }

  /** Writes the pending usage and times of last use, and logs the remaining counts. */
  async stop(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer);
    this.#logVerifications();
    this.#delay.stop();
    await this.#run(() => this.#verifier.flush());
    await this.#run(this.#checkpoint);
  }

  /** Logs the verifications since the last call, by result, and the longest delay of the event loop. */
  #logVerifications(): void {
    const eventLoopDelayMaxMs = Math.round(this.#delay.takeMaxMs());
    const { counts } = this.#verifier;
    const previous = this.#lastCounts;
    this.#lastCounts = { ...counts };
    const added = Object.entries(counts).map(([result, count]) => [result, count - (previous[result] ?? 0)] as const);
    const changed = added.filter(([, count]) => count > 0);
    if (changed.length === 0) return;
    this.#log.info({ event: 'verifications', ...Object.fromEntries(changed), eventLoopDelayMaxMs });
  }

  /** An attacker who can change the database cannot change the log. `keyreeve audit verify --checkpoint` compares both. */
  async #logCheckpoint(db: Db, key: AuditKey): Promise<void> {
    const checkpoint = await takeCheckpoint(db, key);
    if (checkpoint === undefined || checkpoint.text === this.#lastCheckpoint) return;
    this.#lastCheckpoint = checkpoint.text;
    this.#log.info({ event: 'audit_checkpoint', checkpoint: checkpoint.text, events: checkpoint.events });
  }

  async #deleteExpired(db: Db, clock: Clock): Promise<void> {
    const now = clock.now();
    while ((await deleteExpiredSessions(db, now, rowsPerDeleteMax)) === rowsPerDeleteMax);
    while ((await deleteExpiredCodes(db, now, rowsPerDeleteMax)) === rowsPerDeleteMax);
    const emailsBefore = now - limits.emailChangeKeptDays * dayMs;
    while ((await deleteOldEmailChanges(db, emailsBefore, rowsPerDeleteMax)) === rowsPerDeleteMax);
    const signedUpBefore = now - limits.signUpKeptDays * dayMs;
    while ((await deleteExpiredSignUps(db, signedUpBefore, now, rowsPerDeleteMax)) === rowsPerDeleteMax);
    const endedBefore = now - limits.endedSecretKeptDays * dayMs;
    while ((await deleteEndedSecrets(db, endedBefore, rowsPerDeleteMax)) === rowsPerDeleteMax);
    while (
      (await deleteUntouchedBuckets(db, now - limits.throttleForgetDays * dayMs, rowsPerDeleteMax)) === rowsPerDeleteMax
    );
  }

  async #run(task: () => Promise<void>): Promise<void> {
    try {
      await task();
    } catch (error) {
      this.#log.warn({ event: 'housekeeping_failed', err: error });
    }
  }
}
