/**
 * The retention of audit events: once a day, one process removes the events that are older than `KEYREEVE_AUDIT_DAYS`. If
 * the clock has jumped forward, the time that has certainly passed counts, until an operator confirms the clock.
 */
import { dayMs } from '../../foundation/clock.ts';
import { system, type Principal } from '../../foundation/principal.ts';
import { AuditCutter, type CutRequest, type CutResult, type CutterOptions } from './audit-cutter.ts';
import { isClockPlausible, PassedTimes } from './passed-time.ts';
import {
  claimRunTx,
  findRetentionState,
  releaseRunTx,
  setBlockedTx,
  type Block,
  type RetentionState,
} from './store.ts';

export interface AuditRetentionOptions extends CutterOptions {
  /** For how many days events are kept; undefined: for ever. */
  readonly keptDays: number | undefined;
  /** Called after a run that removed events or left some that are old enough. */
  readonly onRun?: (result: CutResult) => void;
  /** Milliseconds of a monotonic clock; only tests set it. */
  readonly monotonic?: () => number;
}

/** Between two runs of any instances. */
const runEveryMs = dayMs;

export class AuditRetention {
  readonly #options: AuditRetentionOptions;
  readonly #cutter: AuditCutter;
  readonly #passed: PassedTimes;

  constructor(options: AuditRetentionOptions) {
    this.#options = options;
    this.#cutter = new AuditCutter(options);
    this.#passed = new PassedTimes(options.clock, options.monotonic);
  }

  /** Does nothing unless a run is due. @throws DomainError `unavailable`; committed batches stay */
  async apply(): Promise<void> {
    const { db, clock, keptDays, onRun } = this.#options;
    if (keptDays === undefined) return;
    const passed = await this.#passed.advance(db);
    const now = clock.now();
    if (!(await db.transaction((tx) => claimRunTx(tx, now, runEveryMs)))) return;
    const result = await this.#run({ eventsBefore: passed.at - keptDays * dayMs, days: keptDays }, now);
    const blocked: Block | undefined = result.blocked ?? (passed.jumpMs > 0 ? 'clock' : undefined);
    await db.transaction((tx) => setBlockedTx(tx, blocked ?? null));
    if (result.removed > 0 || blocked) onRun?.({ removed: result.removed, blocked });
  }

  async #run(request: CutRequest, claimedAt: number): Promise<CutResult> {
    const { db } = this.#options;
    try {
      return await this.#cutter.cut(system, request);
    } catch (error) {
      // The error of the cut matters. A run that stays claimed is due again after a day.
      await db.transaction((tx) => releaseRunTx(tx, claimedAt)).catch(() => undefined);
      throw error;
    }
  }

  /**
   * Removes events now, for an operator.
   * @param confirmsClock whether the request derives from the clock, which the operator has confirmed
   * @throws DomainError `unavailable`; committed batches stay
   */
  async cutNow(principal: Principal, request: CutRequest, confirmsClock: boolean): Promise<CutResult> {
    const { db } = this.#options;
    if (confirmsClock) await db.transaction((tx) => this.#passed.confirmTx(tx));
    const result = await this.#cutter.cut(principal, request);
    if (confirmsClock) await db.transaction((tx) => setBlockedTx(tx, result.blocked ?? null));
    return result;
  }

  /** @returns whether the clock has not jumped forward, so that a cut before a time of the past needs no confirmation */
  isClockPlausible(): Promise<boolean> {
    const { db, clock } = this.#options;
    return db.snapshot((reader) => isClockPlausible(reader, clock.now()));
  }

  /** @returns undefined before the first run */
  state(): Promise<RetentionState | undefined> {
    return findRetentionState(this.#options.db);
  }
}
