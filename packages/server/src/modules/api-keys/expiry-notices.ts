/**
 * Expiry notices: an audit event for each key that expires soon, which webhooks publish, and one mail for each account that
 * lists its keys, to its owner or the managers of a service account. There are two notices, some days before the expiry (`days`). Each covers all keys that expire on one day in
 * UTC. Each is sent once, also by several instances at once, because the progress commits together with events and mail. A
 * key whose expiry changes is found by its new day of expiry. The clock of a PostgreSQL database decides which notices are
 * due, so that the instances agree.
 */
import { limits } from '@keyreeve/contract';
import { allInOrder } from '../../foundation/all-in-order.ts';
import type { Core } from '../../foundation/core.ts';
import { dayMs, expiryTime, toInstant } from '../../foundation/clock.ts';
import type { Transaction } from '../../foundation/database/db.ts';
import { recordEventsTx, type NewAuditEvent } from '../audit/audit.ts';
import { queueMailTx, type Mailer } from '../mail/mail.ts';
import * as store from './expiry-notice-store.ts';
import type { ExpiringKeyRow } from './expiry-notice-store.ts';
import { describeKey, listRecipients } from './key-mail-store.ts';

export interface ExpiryNoticesOptions extends Core {
  readonly mailer: Mailer;
  /** Default: 500, so that other commits do not wait long. */
  readonly keysPerCommitMax?: number;
}

/** Days before the expiry, longest first. After a pause of the service, a key gets only the last notice that is due. */
const notices = [
  { days: limits.firstExpiryNoticeDays, nextDays: limits.lastExpiryNoticeDays },
  { days: limits.lastExpiryNoticeDays, nextDays: -1 },
] as const;
type Notice = (typeof notices)[number];

export class ExpiryNotices {
  readonly #options: Required<ExpiryNoticesOptions>;

  constructor(options: ExpiryNoticesOptions) {
    this.#options = { keysPerCommitMax: 500, ...options };
  }

  /** Sends all notices that are due. @throws DomainError `unavailable`; committed notices stay */
  async send(): Promise<void> {
    for (const notice of notices) while (await this.#sendSome(notice));
  }

  /** Processes some keys in one transaction. @returns whether more may follow */
  async #sendSome({ days, nextDays }: Notice): Promise<boolean> {
    const { db, clock, mailer, keysPerCommitMax } = this.#options;
    const now = expiryTime(clock, await store.readDatabaseTime(db));
    const today = Math.floor(now / dayMs);
    const last = today + days;
    // A clock was ahead by more than a day. A shorter time delays no notice, and occurs at the end of a day.
    const isAhead = (progress: store.NoticeProgress): boolean => progress.day > last + 2;
    const isDone = (progress: store.NoticeProgress): boolean => progress.day > last && !isAhead(progress);
    const before = await store.findProgress(db, days);
    if (before && isDone(before)) return false;
    const due = { now, noticeMs: days * dayMs };
    const isFinished = await db.transaction(async (tx) => {
      const stored = await store.lockProgressTx(tx, days, last);
      if (isDone(stored)) return true;
      if (isAhead(stored)) {
        store.storeProgressTx(tx, days, { day: last + 1, accountPk: 0, keyId: 0 });
        return true;
      }
      // Leaves out the days that the later notice covers.
      const firstDay = today + nextDays + 1;
      const progress = stored.day < firstDay ? { day: firstDay, accountPk: 0, keyId: 0 } : stored;
      const keys = await store.listExpiringTx(tx, progress, due, keysPerCommitMax);
      await this.#mailTx(tx, keys, progress, due);
      const end = keys.length === keysPerCommitMax ? keys.at(-1) : undefined;
      const next = end
        ? { day: progress.day, accountPk: end.accountPk, keyId: end.id }
        : { day: progress.day + 1, accountPk: 0, keyId: 0 };
      store.storeProgressTx(tx, days, next);
      await recordEventsTx(
        tx,
        keys.map((key) => eventOf(key, now)),
      );
      return isDone(next);
    });
    mailer.sendSoon();
    return !isFinished;
  }

  /** Queues one mail to each recipient for each account whose first key of the day is among these. */
  async #mailTx(
    tx: Transaction,
    keys: readonly ExpiringKeyRow[],
    { day, accountPk: continued }: store.NoticeProgress,
    due: store.ExpiringKeys,
  ): Promise<void> {
    const { mailer, keysPerCommitMax } = this.#options;
    if (!mailer.isConfigured) return;
    const byAccount = [...Map.groupBy(keys, (key) => key.accountId)];
    const recipients = await allInOrder(byAccount.map(([accountId]) => listRecipients(tx, accountId)));
    for (const [index, [, ofAccount]] of byAccount.entries()) {
      const accountPk = ofAccount[0]?.accountPk ?? 0;
      const to = recipients[index] ?? [];
      if (accountPk === continued || to.length === 0) continue;
      const isCut = keys.length === keysPerCommitMax && accountPk === keys.at(-1)?.accountPk;
      const count = isCut ? await store.countExpiringTx(tx, day, due, accountPk) : ofAccount.length;
      const data = {
        day: new Date(day * dayMs).toISOString().slice(0, 10),
        count,
        keys: ofAccount.slice(0, limits.expiryNoticeKeysMax).map(describe),
      };
      for (const { email, owner } of to) {
        await queueMailTx(tx, mailer.prepare({ to: email, template: 'keys_expiring', data: { ...data, owner } }));
      }
    }
  }
}

/** Language-independent: `laptop (4830184710273911, krv_…x7Qa): 2026-12-05 09:30 UTC`. */
function describe(key: ExpiringKeyRow): string {
  const time = toInstant(key.expiresAt).slice(0, 16).replace('T', ' ');
  return `${describeKey(key)}: ${time} UTC`;
}

const eventOf = ({ id, accountId, nickname, expiresAt }: ExpiringKeyRow, at: number): NewAuditEvent => ({
  at,
  principal: { kind: 'system' },
  action: 'api_key.expiring',
  accountId,
  target: String(id),
  details: { nickname, expiresAt: toInstant(expiresAt) },
});
