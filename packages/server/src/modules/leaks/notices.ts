/** Mail about leaked secrets: one for each report and account, to its owner or the managers of a service account. */
import { limits } from '@keyreeve/contract';
import { allInOrder } from '../../foundation/all-in-order.ts';
import { toInstant } from '../../foundation/clock.ts';
import type { KeyedHash } from '../../foundation/crypto/keyed-hash.ts';
import type { Transaction } from '../../foundation/database/db.ts';
import { describeKey } from '../api-keys/key-text.ts';
import { listRecipients } from '../api-keys/recipient-store.ts';
import { queueMailTx, type MailData, type Mailer } from '../mail/mail.ts';
import { countKeyMailTx } from '../rate-limits/key-mail-limits.ts';
import type { LeakedSecret, LeakNotices, Reporter } from './leak.ts';

export interface LeakMailOptions {
  readonly mailer: Mailer;
  readonly bucketHash: KeyedHash;
}

export class LeakMail implements LeakNotices {
  readonly #options: LeakMailOptions;

  constructor(options: LeakMailOptions) {
    this.#options = options;
  }

  /** Only reports without a credential are bounded. The operator and GitHub report what they found. */
  async queueTx(tx: Transaction, reporter: Reporter, leaked: readonly LeakedSecret[], at: number): Promise<void> {
    const { mailer, bucketHash } = this.#options;
    if (!mailer.isConfigured) return;
    const byAccount = [...Map.groupBy(leaked, ({ accountId }) => accountId)];
    const recipients = await allInOrder(byAccount.map(([accountId]) => listRecipients(tx, accountId)));
    const mails = byAccount.flatMap(([, secrets], index) => (recipients[index] ?? []).map((to) => ({ to, secrets })));
    // In the order of the recipients' ids, which prevents deadlocks.
    mails.sort((a, b) => (a.to.accountId < b.to.accountId ? -1 : Number(a.to.accountId > b.to.accountId)));
    for (const { to, secrets } of mails) {
      const { disabled, others } = partition(secrets);
      const isDisabled = disabled.length > 0;
      // Counted separately: a holder of a short-lived secret cannot use up the mails about disabled keys.
      const kind = isDisabled ? 'leaked keys' : 'ended secrets';
      const isBounded = reporter.kind === 'possessor';
      if (isBounded && !(await countKeyMailTx(tx, bucketHash, { accountId: to.accountId, kind }, at))) continue;
      const data = { at: toInstant(at), owner: to.owner };
      await queueMailTx(
        tx,
        isDisabled
          ? mailer.prepare({
              to: to.email,
              template: 'keys_leaked',
              data: { ...data, ...listOf(disabled), others: others.slice(0, limits.leakNoticeKeysMax) },
            })
          : mailer.prepare({ to: to.email, template: 'key_secrets_ended', data: { ...data, ...listOf(others) } }),
      );
    }
  }

  sendSoon(): void {
    this.#options.mailer.sendSoon();
  }
}

/** A key of which the current secret has leaked is listed once, whatever else of it has leaked. */
function partition(secrets: readonly LeakedSecret[]): { disabled: string[]; others: string[] } {
  const current = secrets.filter(({ secret: kind }) => kind === 'current');
  const others = secrets.filter(({ keyId }) => current.every((one) => one.keyId !== keyId));
  return {
    disabled: current.map((key) => describeKey({ ...key, id: key.keyId })),
    // The hint is that of the current secret, which has not leaked.
    others: [...new Set(others.map(({ keyId, nickname }) => describeKey({ id: keyId, nickname, hint: null })))],
  };
}

const listOf = (keys: readonly string[]): Pick<MailData['keys_leaked'], 'count' | 'keys'> => ({
  count: keys.length,
  keys: keys.slice(0, limits.leakNoticeKeysMax),
});
