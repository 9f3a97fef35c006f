/** Work that nobody waits for: last-used times are written, what has expired is deleted, how far the audit trail is is told. */
import { limits } from '@keyreeve/contract';
import { forgetExpiredSignUps } from '../modules/accounts/sign-up-store.ts';
import { takeCheckpoint } from '../modules/audit/checkpoint.ts';
import type { Clock } from '../foundation/clock.ts';
import { forgetExpiredCodes } from '../modules/one-time-codes/store.ts';
import { forgetOldEmailChanges } from '../modules/accounts/email-change-store.ts';
import type { AuditKey, Db } from '../foundation/database/db.ts';
import type { Installation } from './installation.ts';
import type { Log } from '../foundation/log.ts';
import { deleteUntouchedBuckets } from '../modules/rate-limits/store.ts';
import { forgetExpiredSessions } from '../modules/sessions/store.ts';
import type { Verifier } from '../modules/verification/verify.ts';

const flushEveryMs = 10_000;
const sumEveryMs = 60_000;
const forgetEveryMs = 600_000;
/** Rows per commit, so that a sign-in never waits long behind a clean-up. */
const rowsPerDeleteMax = 1_000;
const dayMs = 86_400_000;

export class Housekeeping {
  readonly #timers: NodeJS.Timeout[];
  readonly #verifier: Verifier;
  readonly #log: Log;
  readonly #checkpoint: () => Promise<void>;
  #checkpointLogged = '';
  #logged: Readonly<Record<string, number>> = {};

  /** @param isFirst whether this process does what one of the workers on a machine does for all */
  constructor({ db, keys }: Installation, clock: Clock, verifier: Verifier, log: Log, isFirst = true) {
    this.#verifier = verifier;
    this.#log = log;
    this.#checkpoint = isFirst ? () => this.#logCheckpoint(db, keys.auditChain) : () => Promise.resolve();
    const every = (ms: number, work: () => Promise<void>): NodeJS.Timeout =>
      setInterval(() => void this.#try(work), ms).unref();
    this.#timers = [
      every(flushEveryMs, () => verifier.flush()),
      every(sumEveryMs, async () => this.#logVerifications()),
    ];
    if (!isFirst) return;
    this.#timers.push(
      every(sumEveryMs, this.#checkpoint),
      every(forgetEveryMs, () => this.#forget(db, clock)),
    );
    void this.#try(() => this.#forget(db, clock));
  }

  /** Writes what has collected. */
  async stop(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer);
    this.#logVerifications();
    await this.#try(() => this.#verifier.flush());
    await this.#try(this.#checkpoint);
  }

  /** What was verified since the last time, by result; nothing where nothing was. */
  #logVerifications(): void {
    const { counts } = this.#verifier;
    const before = this.#logged;
    this.#logged = { ...counts };
    const since = Object.entries(counts).map(([result, count]) => [result, count - (before[result] ?? 0)] as const);
    const moved = since.filter(([, count]) => count > 0);
    if (moved.length > 0) this.#log.info({ event: 'verifications', ...Object.fromEntries(moved) });
  }

  /** Where the log goes it is out of reach of whoever could cut the trail: `keyreeve audit verify --checkpoint`. */
  async #logCheckpoint(db: Db, key: AuditKey): Promise<void> {
    const taken = await takeCheckpoint(db, key);
    if (taken === undefined || taken.text === this.#checkpointLogged) return;
    this.#checkpointLogged = taken.text;
    this.#log.info({ event: 'audit_checkpoint', checkpoint: taken.text, events: taken.events });
  }

  async #forget(db: Db, clock: Clock): Promise<void> {
    const now = clock.now();
    while ((await forgetExpiredSessions(db, now, rowsPerDeleteMax)) === rowsPerDeleteMax);
    while ((await forgetExpiredCodes(db, now, rowsPerDeleteMax)) === rowsPerDeleteMax);
    const emailsBefore = now - limits.emailChangeKeptDays * dayMs;
    while ((await forgetOldEmailChanges(db, emailsBefore, rowsPerDeleteMax)) === rowsPerDeleteMax);
    const signedUpBefore = now - limits.signUpKeptDays * dayMs;
    while ((await forgetExpiredSignUps(db, signedUpBefore, now, rowsPerDeleteMax)) === rowsPerDeleteMax);
    while (
      (await deleteUntouchedBuckets(db, now - limits.throttleForgetDays * dayMs, rowsPerDeleteMax)) === rowsPerDeleteMax
    );
  }

  async #try(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#log.warn({ event: 'housekeeping_failed', err: error });
    }
  }
}
