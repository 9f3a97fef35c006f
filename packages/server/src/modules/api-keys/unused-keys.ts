/**
 * Disables keys that were neither used nor changed for some days, with the reason `dormant`. Their owners enable them. One
 * instance checks once an hour, in short commits, and disables a bounded number: docs/decisions/04-api-keys.md has the reasons.
 */
import { limits } from '@keyreeve/contract';
import { dayMs, hourMs } from '../../foundation/clock.ts';
import type { Transaction } from '../../foundation/database/db.ts';
import { claimUnusedKeysCheckTx } from '../../foundation/database/installation.ts';
import { findUsagePair } from '../../foundation/database/usage-file.ts';
import { recordEventsTx } from '../audit/audit.ts';
import type { RecordingCore } from '../deletion-journal/revocation.ts';
import { runNarrowing } from '../deletion-journal/run-narrowing.ts';
import { disableUnusedKeysTx, lockUsesTx, pageUnchangedKeys, unusedOf } from './unused-store.ts';

/** Longer than the delay of the time of last use, and than any difference between the clocks of instances. */
const marginMs = hourMs;

export interface UnusedKeysOptions extends RecordingCore {
  /** KEYREEVE_KEY_UNUSED_DAYS_MAX; 0: keys are not disabled. */
  readonly unusedDaysMax: number;
  readonly onDisabled?: (count: number) => void;
  /** Default: `limits.unusedKeysPerHourMax`. */
  readonly keysMax?: number;
  /** Rows of one read. Default: 1,000. */
  readonly keysPerPageMax?: number;
  /** Default: 100, so that other commits do not wait long. */
  readonly keysPerCommitMax?: number;
}

export class UnusedKeys {
  readonly #options: UnusedKeysOptions;

  constructor(options: UnusedKeysOptions) {
    this.#options = options;
  }

  /**
   * Disables unused keys, unless an instance has checked them within the last hour.
   * @throws DomainError `unavailable`; keys that it has already disabled stay disabled
   */
  async disable(): Promise<void> {
    const { db, clock, unusedDaysMax, onDisabled } = this.#options;
    const { keysMax = limits.unusedKeysPerHourMax, keysPerPageMax = 1_000, keysPerCommitMax = 100 } = this.#options;
    if (unusedDaysMax === 0) return;
    // Opens the second file, if there is one: an unknown one makes the days count anew, and without one nothing is disabled.
    const pair = db.usageFile && (await findUsagePair(db.usage, 'file'));
    const now = clock.now();
    // During a pause of the service, no key can be used. A pause shorter than this counts as time without a use.
    const pauseMsMax = Math.max(dayMs, (unusedDaysMax * dayMs) / 10);
    const countedFrom = await db.transaction((tx) => claimUnusedKeysCheckTx(tx, now, hourMs, pauseMsMax));
    const usedBefore = now - unusedDaysMax * dayMs - marginMs;
    if (countedFrom === undefined || countedFrom > usedBefore) return;
    let count = 0;
    try {
      for (let after: number | undefined = -1; after !== undefined && count < keysMax;) {
        const page = await pageUnchangedKeys(db, after, keysPerPageMax, { usedBefore, now });
        const unused = await unusedOf(db.usage, page.ids, usedBefore);
        for (const ids of batchesOf(unused.slice(0, keysMax - count), keysPerCommitMax))
          count += await this.#disable(ids, pair?.generation, usedBefore, now);
        after = page.next;
      }
    } finally {
      if (count > 0) onDisabled?.(count);
    }
  }

  /**
   * A use that is committed before the keys are disabled keeps its key enabled. On PostgreSQL, the transaction locks the tables of
   * uses. The second file of SQLite has no transaction in common with the first: a transaction of the second one, which lets no
   * other process commit a use, reads the uses again, and ends after the commit of the first one.
   * @param generation of the second file when the check began
   * @returns the number of disabled keys; keys that have been used or changed since the read are left out
   */
  async #disable(
    ids: readonly number[],
    generation: string | null | undefined,
    usedBefore: number,
    now: number,
  ): Promise<number> {
    const { db } = this.#options;
    if (!db.usageFile) {
      return this.#disableUnused(usedBefore, now, async (tx) => {
        await lockUsesTx(tx);
        return unusedOf(tx, ids, usedBefore);
      });
    }
    return db.usage.transaction(async (held) => {
      // Another file, or the same one with other rows, has the path meanwhile.
      if ((await findUsagePair(held, 'file'))?.generation !== generation) return 0;
      const unused = await unusedOf(held, ids, usedBefore);
      return this.#disableUnused(usedBefore, now, () => Promise.resolve(unused));
    });
  }

  async #disableUnused(
    usedBefore: number,
    now: number,
    unusedTx: (tx: Transaction) => Promise<readonly number[]>,
  ): Promise<number> {
    const event = { principal: { kind: 'system' }, action: 'api_key.disabled' } as const;
    // Not repeated: the next check finds the keys again.
    const disabled = await runNarrowing(this.#options, {
      changeTx: async (tx) => {
        const rows = await disableUnusedKeysTx(tx, await unusedTx(tx), usedBefore, now);
        await recordEventsTx(
          tx,
          rows.map(({ id, accountId, nickname, at }) => {
            const details = { nickname, reason: 'dormant' };
            return { ...event, at, accountId, target: String(id), details };
          }),
        );
        return rows;
      },
      recordedOf: (rows) => rows.map(({ id, at }) => ({ kind: 'api_key_narrowed', id: String(id), at })),
    });
    return disabled.length;
  }
}

function* batchesOf(ids: readonly number[], length: number): Generator<readonly number[]> {
  for (let from = 0; from < ids.length; from += length) yield ids.slice(from, from + length);
}
