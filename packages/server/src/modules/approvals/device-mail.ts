/** The mail about the first key that a program got in a client IP range which the account has not used for that before. */
import { toInstant } from '../../foundation/clock.ts';
import type { Transaction } from '../../foundation/database/db.ts';
import { describeKey, listRecipients } from '../api-keys/key-mail-store.ts';
import { queueMailTx, type Mailer } from '../mail/mail.ts';
import type { ApprovalLimits } from '../rate-limits/approval-limits.ts';
import type { RequestRow } from './store.ts';

export interface DeviceMailOptions {
  readonly mailer: Mailer;
  readonly approvalLimits: ApprovalLimits;
}

interface CreatedKey {
  readonly id: number;
  readonly accountId: string;
  readonly nickname: string;
  readonly hint: string | null;
  readonly scopes: readonly string[];
  readonly now: number;
}

export class DeviceMail {
  readonly #options: DeviceMailOptions;

  constructor(options: DeviceMailOptions) {
    this.#options = options;
  }

  /** At the end of the transaction that creates the key. */
  async queueTx(tx: Transaction, { clientRange, programName }: RequestRow, key: CreatedKey): Promise<void> {
    const { approvalLimits, mailer } = this.#options;
    const { accountId, now, scopes } = key;
    if (!(await approvalLimits.isFirstTx(tx, accountId, clientRange, now)) || !mailer.isConfigured) return;
    const data = { at: toInstant(now), program: programName, clientRange, key: describeKey(key), scopes };
    for (const { email } of await listRecipients(tx, accountId))
      await queueMailTx(tx, mailer.prepare({ to: email, template: 'program_key_created', data }));
  }

  /** To be called after the commit. */
  sendSoon(): void {
    this.#options.mailer.sendSoon();
  }
}
