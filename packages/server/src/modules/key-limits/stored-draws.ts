/**
 * Draws tokens from the database. A draw locks the rows of its limits, decides each verification by them, and commits before it
 * answers.
 */
import { limits as bounds } from '@keyreeve/contract';
import type { Core } from '../../foundation/core.ts';
import { monotonicMs } from '../../foundation/clock.ts';
import type { Transaction } from '../../foundation/database/db.ts';
import { drawShare, runInShare } from '../../foundation/database/share.ts';
import { unavailable } from '../../foundation/database/unavailable.ts';
import { rowNameOf } from './definition.ts';
import type { DrawRequest, DrawResult, Draws, QuestionRequest } from './draws.ts';
import { lockMetersTx, saveMetersTx } from './store.ts';
import { Taking } from './taking.ts';

/** On PostgreSQL, the clock of the database decides instead of the system clock: all instances share it. */
export interface StoredDrawsOptions extends Core {
  readonly monotonicMs?: () => number;
}

const { drawResponseMsMax } = bounds;

export class StoredDraws implements Draws {
  readonly #options: StoredDrawsOptions;
  readonly #monotonicMs: () => number;

  constructor(options: StoredDrawsOptions) {
    this.#options = options;
    this.#monotonicMs = options.monotonicMs ?? monotonicMs;
  }

  /** Also for requests of other processes. @throws Error, without a draw, for a request that no limiter makes */
  async draw(request: DrawRequest): Promise<DrawResult> {
    const { db } = this.#options;
    const receivedAt = this.#monotonicMs();
    if (!isValid(request)) throw new Error('the request of a draw is not valid');
    return runInShare(drawShare, () => db.transaction((tx) => this.#drawTx(tx, request, receivedAt)));
  }

  /** Changes nothing in memory, because the transaction may run again. */
  async #drawTx(tx: Transaction, { limits, questions }: DrawRequest, receivedAt: number): Promise<DrawResult> {
    const { db, clock } = this.#options;
    const waitedMs = this.#monotonicMs() - receivedAt;
    // Another process has given up: its tokens would be lost.
    if (waitedMs > drawResponseMsMax) throw unavailable(new Error('a draw has waited too long'));
    const meters = limits.map(({ meter }) => meter);
    const missing = limits.filter(({ isStored }) => !isStored).map(({ meter }) => meter);
    const locked = await lockMetersTx(tx, db.dialect, meters, missing);
    const micros = clock.isSystem === true && locked.now !== undefined ? locked.now : Math.round(clock.now() * 1_000);
    const rows = new Map(locked.rows.map((row) => [rowNameOf(row), row]));
    const takings = limits.map((limit) => {
      const row = rows.get(limit.meter.row);
      if (!row) throw unavailable(new Error('a limit was deleted during a draw'));
      return new Taking(limit, row, micros, waitedMs);
    });
    const lacking = questions.map((question) => takeFor(question, takings));
    for (const taking of takings) taking.takeForecast();
    const changed = takings.map(({ budget }) => budget.changedRow());
    saveMetersTx(
      tx,
      changed.filter((row) => row !== undefined),
    );
    return { waitedMs, limits: takings.map((taking) => taking.result()), lacking };
  }
}

function isValid({ limits, questions }: DrawRequest): boolean {
  const isCount = (value: number): boolean => Number.isSafeInteger(value) && value >= 0;
  return (
    new Set(limits.map(({ meter }) => meter.row)).size === limits.length &&
    limits.every(
      ({ meter: { kind }, held, forecast }) =>
        (kind === 'rate' || kind === 'quota') && isCount(held) && isCount(forecast),
    ) &&
    questions.every(({ limits: indexes, cost }) => isCount(cost) && indexes.every((index) => limits[index]))
  );
}

/** Takes the cost from all limits, or from none. @returns the index of the limit that has too few tokens */
function takeFor({ limits, cost }: QuestionRequest, takings: readonly Taking[]): number | undefined {
  const needed = Math.max(1, cost);
  const all = limits.map((index) => takings[index] as Taking);
  for (const [place, taking] of all.entries())
    if (needed > taking.meter.capacity || taking.available < needed) {
      taking.hasRejected = true;
      return limits[place];
    }
  for (const taking of all) taking.take(cost);
  return undefined;
}
