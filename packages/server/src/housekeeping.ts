/** Work that nobody waits for: last-used times are written, what has expired is deleted. */
import { limits } from '@keyreeve/contract';
import type { Clock } from './clock.ts';
import { forgetExpiredCodes } from './codes/store.ts';
import type { Db } from './db/db.ts';
import type { Log } from './log.ts';
import { forget } from './throttle/store.ts';
import { forgetExpiredSessions } from './tokens/store.ts';
import type { Verifier } from './verification/verify.ts';

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
  #logged: Readonly<Record<string, number>> = {};

  /** @param forgets whether this process deletes what has expired: of the workers on one machine one does */
  constructor(db: Db, clock: Clock, verifier: Verifier, log: Log, forgets = true) {
    this.#verifier = verifier;
    this.#log = log;
    const every = (ms: number, work: () => Promise<void>): NodeJS.Timeout =>
      setInterval(() => void this.#try(work), ms).unref();
    this.#timers = [
      every(flushEveryMs, () => verifier.flush()),
      every(sumEveryMs, async () => this.#logVerifications()),
    ];
    if (!forgets) return;
    this.#timers.push(every(forgetEveryMs, () => this.#forget(db, clock)));
    void this.#try(() => this.#forget(db, clock));
  }

  /** Writes what has collected. */
  async stop(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer);
    this.#logVerifications();
    await this.#try(() => this.#verifier.flush());
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

  async #forget(db: Db, clock: Clock): Promise<void> {
    const now = clock.now();
    while ((await forgetExpiredSessions(db, now, rowsPerDeleteMax)) === rowsPerDeleteMax);
    while ((await forgetExpiredCodes(db, now, rowsPerDeleteMax)) === rowsPerDeleteMax);
    while ((await forget(db, now - limits.throttleForgetDays * dayMs, rowsPerDeleteMax)) === rowsPerDeleteMax);
  }

  async #try(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#log.warn({ event: 'housekeeping_failed', err: error });
    }
  }
}
