/**
 * Periodic work: writes usage, times of last use and used-up quotas, folds nicknames, deletes expired rows, old usage and old audit events,
 * disables unused keys, sends expiry notices, logs counts of verifications and audit checkpoints.
 */
import { limits } from '@keyreeve/contract';
import { indexNames } from '../../modules/api-keys/name-store.ts';
import { deleteExpiredSignUps } from '../../modules/accounts/sign-up-store.ts';
import { takeCheckpoint } from '../../modules/audit/checkpoint.ts';
import type { Core } from '../../foundation/core.ts';
import { dayMs, hourMs, type Clock } from '../../foundation/clock.ts';
import { deleteEndedRequests, deleteRequestsAhead } from '../../modules/approvals/store.ts';
import { deleteExpiredCodes } from '../../modules/one-time-codes/store.ts';
import { deleteOldEmailChanges } from '../../modules/accounts/email-change-store.ts';
import type { AuditKey, Db } from '../../foundation/database/db.ts';
import { DomainError } from '../../foundation/errors.ts';
import { EventLoopDelay } from '../metrics/event-loop-delay.ts';
import type { Installation } from '../installation/installation.ts';
import type { Log } from '../../foundation/log.ts';
import { deleteExpiredTokens } from '../../modules/issuers/used-tokens-store.ts';
import { deleteUsedChallenges } from '../../modules/passkeys/store.ts';
import { deleteExpiredPortalSessions, deletePortalSessionsAhead } from '../../modules/portal/store.ts';
import { deleteUntouchedBuckets } from '../../modules/rate-limits/store.ts';
import { deleteSessionsAhead } from '../../modules/sessions/ahead-store.ts';
import { deleteExpiredSessions } from '../../modules/sessions/store.ts';
import { deleteEndedSecrets } from '../../modules/api-keys/change-store.ts';
import { deleteOldShortLived } from '../../modules/short-lived-secrets/store.ts';
import type { Services } from '../wiring/wire.ts';
import type { DeliveryLog } from '../../modules/webhooks/delivery-log.ts';

const flushEveryMs = 10_000;
const logEveryMs = 60_000;
const deleteEveryMs = 600_000;
/** Rows per commit, so that other commits do not wait long. */
const rowsPerDeleteMax = 1_000;
/** After its expiry, because the clock of another instance may be behind. */
const usedChallengeKeptMs = 3_600_000;

export interface HousekeepingParts extends Pick<Services, 'verifier' | 'uses' | 'orphanedMeters' | 'unusedKeys'> {
  readonly auditRetention: Pick<Services['auditRetention'], 'apply'>;
  readonly usageRetention: Pick<Services['usageRetention'], 'apply'>;
  readonly canaryKeys: Pick<Services['canaryKeys'], 'deleteOld'>;
  readonly expiryNotices: Pick<Services['expiryNotices'], 'send'>;
  readonly quotaNotices: Pick<Services['quotaNotices'], 'flush' | 'close'>;
  readonly minutes: Pick<Services['minutes'], 'stop' | 'deleteOld'>;
  readonly webhooks: { readonly log: Pick<DeliveryLog, 'deleteOld'> };
  readonly mailLog: Pick<Services['mailLog'], 'deleteOld'>;
}

interface HousekeepingOptions extends Core, Pick<Installation, 'keys'> {
  readonly log: Log;
}

export class Housekeeping {
  readonly #timers: NodeJS.Timeout[];
  readonly #verifier: Services['verifier'];
  readonly #uses: Services['uses'];
  readonly #quotaNotices: HousekeepingParts['quotaNotices'];
  readonly #minutes: HousekeepingParts['minutes'];
  readonly #log: Log;
  readonly #checkpoint: () => Promise<void>;
  readonly #delay = new EventLoopDelay();
  #isStopped = false;
  #lastCheckpoint = '';
  #lastCounts: Readonly<Record<string, number>> = {};

  constructor(
    { db, clock, keys, log }: HousekeepingOptions,
    {
      verifier,
      uses,
      auditRetention,
      usageRetention,
      orphanedMeters,
      unusedKeys,
      canaryKeys,
      expiryNotices,
      quotaNotices,
      minutes,
      webhooks,
      mailLog,
    }: HousekeepingParts,
  ) {
    this.#verifier = verifier;
    this.#uses = uses;
    this.#quotaNotices = quotaNotices;
    this.#minutes = minutes;
    this.#log = log;
    this.#checkpoint = () => this.#logCheckpoint(db, keys.auditChain);
    const every = (ms: number, run: () => Promise<void>): NodeJS.Timeout => {
      const runAlone = this.#alone(run);
      return setInterval(() => void runAlone(), ms).unref();
    };
    this.#timers = [
      every(flushEveryMs, () => uses.flush()),
      every(flushEveryMs, () => quotaNotices.flush()),
      every(logEveryMs, async () => this.#logVerifications()),
    ];
    // These also run at the start, and not beside that run.
    const index = this.#alone(() => this.#indexNames(db));
    const deleteExpired = this.#alone(() => this.#deleteExpired(db, clock));
    const applyUsageRetention = this.#alone(() => usageRetention.apply());
    const applyAuditRetention = this.#alone(() => auditRetention.apply());
    const sendNotices = this.#alone(() => expiryNotices.send());
    this.#timers.push(
      every(logEveryMs, this.#checkpoint),
      every(flushEveryMs, index),
      every(deleteEveryMs, deleteExpired),
      every(deleteEveryMs, applyAuditRetention),
      every(deleteEveryMs, applyUsageRetention),
      every(deleteEveryMs, () => orphanedMeters.delete()),
      every(deleteEveryMs, () => canaryKeys.deleteOld()),
      every(deleteEveryMs, () => webhooks.log.deleteOld()),
      every(deleteEveryMs, () => mailLog.deleteOld()),
      every(deleteEveryMs, () => minutes.deleteOld()),
      // Not at the start: before a machine synchronises its clock, the clock can be behind the start of valid sessions.
      every(hourMs, () => this.#deleteAhead(db, clock)),
      // Not at the start: after a pause of the service, clients first need time to use their keys.
      every(deleteEveryMs, () => unusedKeys.disable()),
      every(deleteEveryMs, sendNotices),
    );
    void index();
    void deleteExpired().then(applyUsageRetention).then(applyAuditRetention).then(sendNotices);
  }

  /** Writes the pending usage, times of last use and used-up quotas, and logs the remaining counts. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    for (const timer of this.#timers) clearInterval(timer);
    this.#logVerifications();
    this.#delay.stop();
    await this.#run(() => this.#uses.flush());
    await this.#run(() => this.#quotaNotices.close());
    await this.#run(() => this.#minutes.stop());
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

  /** Its end does not wait for the last page: an instance that stops leaves the rest to the next one. */
  async #indexNames(db: Db): Promise<void> {
    while (!this.#isStopped && (await indexNames(db)));
  }

  async #deleteExpired(db: Db, clock: Clock): Promise<void> {
    const now = clock.now();
    while ((await deleteExpiredSessions(db, now, rowsPerDeleteMax)) === rowsPerDeleteMax);
    while ((await deleteExpiredCodes(db, now, rowsPerDeleteMax)) === rowsPerDeleteMax);
    while ((await deleteExpiredPortalSessions(db, now, rowsPerDeleteMax)) === rowsPerDeleteMax);
    const requestsBefore = now - limits.endedApprovalKeptSeconds * 1_000;
    while ((await deleteEndedRequests(db, requestsBefore, rowsPerDeleteMax)) === rowsPerDeleteMax);
    const emailsBefore = now - limits.emailChangeKeptDays * dayMs;
    while ((await deleteOldEmailChanges(db, emailsBefore, rowsPerDeleteMax)) === rowsPerDeleteMax);
    const signedUpBefore = now - limits.signUpKeptDays * dayMs;
    while ((await deleteExpiredSignUps(db, signedUpBefore, now, rowsPerDeleteMax)) === rowsPerDeleteMax);
    const endedBefore = now - limits.endedSecretKeptDays * dayMs;
    while ((await deleteEndedSecrets(db, endedBefore, rowsPerDeleteMax)) === rowsPerDeleteMax);
    while ((await deleteOldShortLived(db, clock, rowsPerDeleteMax)) === rowsPerDeleteMax);
    const tokensBefore = now - limits.identityTokenSkewSeconds * 1_000;
    while ((await deleteExpiredTokens(db, tokensBefore, rowsPerDeleteMax)) === rowsPerDeleteMax);
    const challengesBefore = now - usedChallengeKeptMs;
    while ((await deleteUsedChallenges(db, challengesBefore, rowsPerDeleteMax)) === rowsPerDeleteMax);
    while (
      (await deleteUntouchedBuckets(db, now - limits.rateLimitForgetDays * dayMs, rowsPerDeleteMax)) ===
      rowsPerDeleteMax
    );
  }

  /** What began while a clock was ahead. */
  async #deleteAhead(db: Db, clock: Clock): Promise<void> {
    await deleteSessionsAhead(db, clock, rowsPerDeleteMax);
    while ((await deletePortalSessionsAhead(db, clock, rowsPerDeleteMax)) === rowsPerDeleteMax);
    while ((await deleteRequestsAhead(db, clock, rowsPerDeleteMax)) === rowsPerDeleteMax);
  }

  /** On a busy database, a task can take longer than its interval. A call while it runs waits for that run. */
  #alone(run: () => Promise<void>): () => Promise<void> {
    let running: Promise<void> | undefined;
    return () => (running ??= this.#runInBackground(run).finally(() => (running = undefined)));
  }

  /** A task that the stop interrupts has not failed: the database closes while the task uses it. */
  #runInBackground(task: () => Promise<void>): Promise<void> {
    return this.#isStopped
      ? Promise.resolve()
      : this.#run(task, (error) => this.#isStopped && error instanceof DomainError && error.code === 'unavailable');
  }

  async #run(task: () => Promise<void>, isInterruption: (error: unknown) => boolean = () => false): Promise<void> {
    try {
      await task();
    } catch (error) {
      if (isInterruption(error)) return;
      this.#log.warn({ event: 'housekeeping_failed', err: error });
    }
  }
}
