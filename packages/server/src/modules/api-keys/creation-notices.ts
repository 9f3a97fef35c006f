/**
 * Mail about a key that its owner did not create. The creations of a management key send none, because its backend creates
 * many: the webhook `api_key.created` reports them.
 */
import { toInstant } from '../../foundation/clock.ts';
import type { KeyedHash } from '../../foundation/crypto/keyed-hash.ts';
import type { Transaction } from '../../foundation/database/db.ts';
import type { Principal } from '../../foundation/principal.ts';
import { queueMailTx, type Mailer } from '../mail/mail.ts';
import { countKeyMailTx } from '../rate-limits/key-mail-limits.ts';
import { describeKey, emailOf, listRecipients } from './key-mail-store.ts';

export interface CreationNoticesOptions {
  readonly mailer: Mailer;
  readonly bucketHash: KeyedHash;
}

export interface CreatedKey {
  readonly id: number;
  readonly accountId: string;
  readonly nickname: string;
  readonly hint: string | null;
  readonly scopes: readonly string[];
  readonly now: number;
}

export class CreationNotices {
  readonly #options: CreationNoticesOptions;

  constructor(options: CreationNoticesOptions) {
    this.#options = options;
  }

  /** Whether a creation by this principal sends mail. */
  isNeeded(principal: Principal, accountId: string): boolean {
    const isOfOther =
      principal.kind === 'operator' || (principal.kind === 'account' && principal.accountId !== accountId);
    return isOfOther && this.#options.mailer.isConfigured;
  }

  /**
   * Queues a mail to each recipient except the creator. Call it at the end of the transaction of the creation.
   * @returns their number
   */
  async queueTx(tx: Transaction, principal: Principal, key: CreatedKey): Promise<number> {
    const { mailer, bucketHash } = this.#options;
    const { accountId, scopes, now } = key;
    const creator = principal.kind === 'account' ? principal.accountId : undefined;
    const by = creator !== undefined && isAdministration(principal) ? await emailOf(tx, creator) : undefined;
    const data = { at: toInstant(now), key: describeKey(key), scopes };
    let queued = 0;
    // In the order of their ids, which prevents deadlocks.
    for (const { accountId: recipient, email, owner } of await listRecipients(tx, accountId)) {
      const mail = { accountId: recipient, kind: 'created keys' } as const;
      if (recipient === creator || !(await countKeyMailTx(tx, bucketHash, mail, now))) continue;
      const job =
        by === undefined
          ? mailer.prepare({ to: email, template: 'api_key_created', data: { ...data, owner } })
          : mailer.prepare({ to: email, template: 'api_key_created_by_administrator', data: { ...data, owner, by } });
      await queueMailTx(tx, job);
      queued++;
    }
    return queued;
  }

  /** To be called after the commit. */
  sendSoon(): void {
    this.#options.mailer.sendSoon();
  }
}

const isAdministration = (principal: Principal): boolean =>
  principal.kind === 'account' && principal.actsAs === 'administrator';
