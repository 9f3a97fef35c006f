/**
 * The mail about the first key that a program got in a client IP range, with a link that deletes the key. A person who was led to
 * approve a stranger's program can end its key without signing in.
 */
import { limits } from '@keyreeve/contract';
import { dayMs, toInstant } from '../../foundation/clock.ts';
import type { Transaction } from '../../foundation/database/db.ts';
import { DomainError } from '../../foundation/errors.ts';
import type { Principal } from '../../foundation/principal.ts';
import { parseEmail } from '../accounts/email.ts';
import { finishDeletionTx } from '../api-keys/deletion-store.ts';
import { describeKey, listRecipients } from '../api-keys/key-mail-store.ts';
import type { PendingChanges } from '../deletion-journal/pending-changes.ts';
import { keyDeletions, type RecordingCore } from '../deletion-journal/revocation.ts';
import { runNarrowing } from '../deletion-journal/run-narrowing.ts';
import { queueMailTx, type Mailer } from '../mail/mail.ts';
import type { OneTimeCodes } from '../one-time-codes/one-time-codes.ts';
import { findCode, insertCodeTx, redeemCodeTx } from '../one-time-codes/store.ts';
import type { ApprovalLimits } from '../rate-limits/approval-limits.ts';
import type { RequestLimits } from '../rate-limits/request-limits.ts';
import type { RequestRow } from './store.ts';

export interface DeviceMailOptions extends RecordingCore {
  readonly mailer: Mailer;
  readonly codes: OneTimeCodes;
  readonly approvalLimits: ApprovalLimits;
  readonly requests: RequestLimits;
  /** Of API keys: this instance answers 503 for those whose deletion has an unknown outcome. */
  readonly pendingKeys: PendingChanges<number>;
}

interface CreatedKey {
  readonly id: number;
  readonly accountId: string;
  readonly nickname: string;
  readonly hint: string | null;
  readonly scopes: readonly string[];
  readonly now: number;
}

const mailbox = { kind: 'mailbox' } as const satisfies Principal;

export class DeviceMail {
  readonly #options: DeviceMailOptions;

  constructor(options: DeviceMailOptions) {
    this.#options = options;
  }

  /** At the end of the transaction that creates the key. */
  async queueTx(tx: Transaction, { clientRange, programName }: RequestRow, key: CreatedKey): Promise<void> {
    const { approvalLimits, codes, mailer } = this.#options;
    const { id, accountId, now, scopes } = key;
    if (!mailer.isConfigured) return;
    const [recipient] = await listRecipients(tx, accountId);
    const email = recipient && parseEmail(recipient.email);
    // Only a key with a mail makes the range one that sends no further mail.
    const mark = approvalLimits.rangeMark(accountId, clientRange);
    if (!email || !(await approvalLimits.sendsMailTx(tx, accountId, mark, now))) return;
    const { id: request, row } = codes.request(now, (limits.outboxKeptDays * dayMs) / 1_000);
    await insertCodeTx(tx, { ...row, purpose: 'remove_key', accountId, email, target: toTarget(id, mark) });
    const data = { at: toInstant(now), program: programName, clientRange, key: describeKey(key), scopes };
    const code = { request, page: 'remove-key', lifetime: limits.keyRemovalCodeSeconds } as const;
    const message = { to: email.email, codeTemplate: 'program_key_created', data, code } as const;
    await queueMailTx(tx, mailer.prepareWithCode(message));
  }

  /** To be called after the commit. */
  sendSoon(): void {
    this.#options.mailer.sendSoon();
  }

  /**
   * Deletes the key of a mail. Resolves when every verification that starts later rejects it. The next key in the client IP range
   * sends a mail again.
   * @param emailText the recipient, as the person typed it: a mail scanner presses the button, but types nothing
   * @throws DomainError `code_invalid`, `email_wrong` (the code still works), `too_many_requests`, `unavailable`
   */
  async removeKey(codeText: string, emailText: string): Promise<void> {
    const { approvalLimits, clock, codes, db, pendingKeys, requests } = this.#options;
    const now = clock.now();
    const hash = codes.hashOf(codeText);
    const code = hash && (await findCode(db, hash, 'remove_key', now));
    if (!hash || !code) throw new DomainError('code_invalid');
    await requests.countCodeTry(hash);
    if (parseEmail(emailText.trim())?.canonicalEmail !== code.canonicalEmail) throw new DomainError('email_wrong');
    const { accountId, target } = code;
    if (accountId === null || target === null) throw new DomainError('code_invalid');
    const { id, mark } = fromTarget(target);
    const finishTx = (tx: Transaction): Promise<void> => {
      approvalLimits.forgetRangeTx(tx, mark);
      return finishDeletionTx(tx, { principal: mailbox, now }, accountId, id);
    };
    const removal = runNarrowing(this.#options, {
      changeTx: async (tx) => {
        if (!(await redeemCodeTx(tx, hash, 'remove_key', now))) throw new DomainError('code_invalid');
        await finishTx(tx);
      },
      recordedOf: () => keyDeletions([id], now),
      repetition: { pending: pendingKeys, of: () => [{ id, kind: 'delete', txs: [finishTx] }] },
    });
    await removal.catch(async (error: unknown) => {
      // The key has been deleted before: the person has what the link promises.
      if (!(error instanceof DomainError) || error.code !== 'key_not_found') throw error;
      await db.transaction(async (tx) => approvalLimits.forgetRangeTx(tx, mark));
    });
  }
}

/** The target of a code: the key, and the mark of its client IP range. */
const toTarget = (id: number, mark: Buffer): string => `${id} ${mark.toString('hex')}`;

function fromTarget(target: string): { readonly id: number; readonly mark: Buffer } {
  const [id = '', mark = ''] = target.split(' ');
  return { id: Number(id), mark: Buffer.from(mark, 'hex') };
}
