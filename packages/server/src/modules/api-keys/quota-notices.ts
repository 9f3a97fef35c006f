/**
 * Audit events for quotas that are used up, which webhooks publish. Verifications only add to a list in memory. A flush
 * writes it in short commits. All instances together record one event for each quota, limit and period.
 */
import { limits } from '@keyreeve/contract';
import type { Core } from '../../foundation/core.ts';
import { recordEventsTx, type NewAuditEvent } from '../audit/audit.ts';
import type { QuotaReached } from '../key-limits/key-limits.ts';
import { storeNoticesTx, type QuotaNotice } from '../key-limits/quota-notice-store.ts';
import * as subjects from './noted-subject-store.ts';

export interface QuotaNoticesOptions extends Core {
  /** Called by a flush with the number of quotas that were dropped since the last call. */
  readonly onDropped?: (count: number) => void;
  /** Default: `limits.quotaNoticesWaitingMax`. */
  readonly waitingMax?: number;
  /** Quotas that a flush writes; the others wait for the next one. Default: 1,000. */
  readonly noticesPerFlushMax?: number;
  /** Default: 100, so that other commits do not wait long. */
  readonly noticesPerCommitMax?: number;
}

export class QuotaNotices {
  readonly #options: Required<Omit<QuotaNoticesOptions, 'onDropped'>> & Pick<QuotaNoticesOptions, 'onDropped'>;
  /** By subject, period and limit. */
  readonly #waiting = new Map<string, QuotaReached>();
  #dropped = 0;

  constructor(options: QuotaNoticesOptions) {
    this.#options = {
      waitingMax: limits.quotaNoticesWaitingMax,
      noticesPerFlushMax: 1_000,
      noticesPerCommitMax: 100,
      ...options,
    };
  }

  /** Adds a quota to the next flush, unless too many wait. @returns whether it is added */
  add(quota: QuotaReached): boolean {
    const name = nameOf({ ...quota, quantity: quota.limit });
    const hasSpace = this.#waiting.size < this.#options.waitingMax || this.#waiting.has(name);
    if (hasSpace) this.#waiting.set(name, quota);
    else this.#dropped++;
    return hasSpace;
  }

  /**
   * Writes waiting quotas, oldest first. After an error, those that may not be committed wait for the next flush: writing
   * one again has no effect.
   * @throws DomainError `unavailable`
   */
  async flush(): Promise<void> {
    const { noticesPerFlushMax, noticesPerCommitMax, onDropped } = this.#options;
    if (this.#dropped > 0) onDropped?.(this.#dropped);
    this.#dropped = 0;
    const taken = [...this.#waiting].slice(0, noticesPerFlushMax);
    for (let from = 0; from < taken.length; from += noticesPerCommitMax) {
      const batch = taken.slice(from, from + noticesPerCommitMax);
      await this.#write(batch.map(([, quota]) => quota));
      for (const [name] of batch) this.#waiting.delete(name);
    }
  }

  /** The last flush. What it does not write is dropped and reported. @throws DomainError `unavailable` */
  async close(): Promise<void> {
    try {
      await this.flush();
    } finally {
      if (this.#waiting.size > 0) this.#options.onDropped?.(this.#waiting.size);
      this.#waiting.clear();
    }
  }

  async #write(quotas: readonly QuotaReached[]): Promise<void> {
    const { db, clock } = this.#options;
    const at = clock.now();
    await db.transaction(async (tx) => {
      const ofKeys = quotas.filter(({ owner }) => owner === 'key').map(({ subject }) => Number(subject));
      const ofAccounts = quotas.filter(({ owner }) => owner === 'account').map(({ subject }) => subject);
      const keys = new Map((await subjects.findNotedKeys(tx, ofKeys)).map((key) => [String(key.id), key]));
      const accounts = new Set(await subjects.findNotedAccounts(tx, ofAccounts));
      const known = quotas.filter(({ subject }) => keys.has(subject) || accounts.has(subject));
      if (known.length === 0) return;
      const notices = known.map(({ subject, period, limit }) => ({ subject, period, quantity: limit }));
      const stored = new Set((await storeNoticesTx(tx, notices)).map(nameOf));
      const isNew = ({ limit, ...quota }: QuotaReached): boolean => stored.has(nameOf({ ...quota, quantity: limit }));
      await recordEventsTx(
        tx,
        known.filter(isNew).map((quota) => eventOf(quota, keys.get(quota.subject), at)),
      );
    });
  }
}

const nameOf = ({ subject, period, quantity }: QuotaNotice): string => `${subject} ${period} ${quantity}`;

/** @param key undefined for the quota of an account */
function eventOf(
  { subject, limit, per, period }: QuotaReached,
  key: subjects.NotedKey | undefined,
  at: number,
): NewAuditEvent {
  const quota = { limit, per, period };
  const event = { at, principal: { kind: 'system' }, target: subject } as const;
  return key
    ? {
        ...event,
        action: 'api_key.quota_reached',
        accountId: key.accountId,
        details: { nickname: key.nickname, ...quota },
      }
    : { ...event, action: 'account.quota_reached', accountId: subject, details: quota };
}
