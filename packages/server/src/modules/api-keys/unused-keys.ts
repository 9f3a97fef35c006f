/**
 * Disables keys that were neither used nor changed for some days, with the reason `dormant`. Their owners enable them. One
 * instance checks once an hour, in short commits, and disables a bounded number: docs/decisions/04-api-keys.md has the reasons.
 */
import { limits } from '@keyreeve/contract';
import { dayMs, hourMs } from '../../foundation/clock.ts';
import { claimUnusedKeysCheckTx } from '../../foundation/database/installation.ts';
import { recordEventsTx } from '../audit/audit.ts';
import type { RecordingCore } from '../deletion-journal/revocation.ts';
import { runNarrowing } from '../deletion-journal/run-narrowing.ts';
import { disableUnusedKeysTx, pageUnusedKeys } from './unused-store.ts';

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
    const now = clock.now();
    // During a pause of the service, no key can be used. A pause shorter than this counts as time without a use.
    const pauseMsMax = Math.max(dayMs, (unusedDaysMax * dayMs) / 10);
    const countedFrom = await db.transaction((tx) => claimUnusedKeysCheckTx(tx, now, hourMs, pauseMsMax));
    const usedBefore = now - unusedDaysMax * dayMs - marginMs;
    if (countedFrom === undefined || countedFrom > usedBefore) return;
    let count = 0;
    try {
      for (let after: number | undefined = -1; after !== undefined && count < keysMax;) {
        const page = await pageUnusedKeys(db, after, keysPerPageMax, { usedBefore, now });
        for (const ids of batchesOf(page.ids.slice(0, keysMax - count), keysPerCommitMax))
          count += await this.#disable(ids, usedBefore, now);
        after = page.next;
      }
    } finally {
      if (count > 0) onDisabled?.(count);
    }
  }

  /** @returns the number of disabled keys; keys that have been used or changed since the read are left out */
  async #disable(ids: readonly number[], usedBefore: number, now: number): Promise<number> {
    const event = { principal: { kind: 'system' }, action: 'api_key.disabled' } as const;
    // Not repeated: the next check finds the keys again.
    const disabled = await runNarrowing(this.#options, {
      changeTx: async (tx) => {
        const rows = await disableUnusedKeysTx(tx, ids, usedBefore, now);
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
