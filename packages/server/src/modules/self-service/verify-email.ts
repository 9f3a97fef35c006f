/**
 * Verifying the email of a sign-up: with the code from the mail and the password of that sign-up. Whoever signs up with
 * somebody else's email has no mail, and whoever reads the mail doesn't complete a stranger's sign-up by a click. All
 * that was prepared for the account before ends with it (account pre-hijacking, USENIX Security 2022).
 */
import type { Secret } from '../../foundation/crypto/secret.ts';
import type { Transaction } from '../../foundation/database/db.ts';
import { setVerifiedPasswordTx } from '../accounts/credentials-store.ts';
import { recordAccountEventTx } from '../audit/audit.ts';
import { recordingChanges } from '../deletion-journal/recording-changes.ts';
import { DomainError } from '../../foundation/errors.ts';
import { deletingKeys, recordDeletedKeys, revokeAllCredentials } from './revoke-all-credentials.ts';
import { mailbox, type SelfServiceOptions } from './options.ts';
import { findKnownCode, takeKnownCode } from './store.ts';

export class Verification {
  readonly #options: SelfServiceOptions;

  constructor(options: SelfServiceOptions) {
    this.#options = options;
  }

  /**
   * @param address of the client
   * @throws DomainError `code_invalid`, `invalid_credentials`, `too_many_requests`, `too_many_attempts`, `overloaded`, `unavailable`
   */
  async verify(codeText: string, password: Secret, address: string): Promise<void> {
    const { db, clock, codes, currentPassword, signInLimits } = this.#options;
    const now = clock.now();
    const code = await findKnownCode(db, codes.hashOf(codeText), 'verify_email', now);
    const hash = code.row.passwordHash;
    if (hash === null) throw new DomainError('code_invalid');
    const { canonicalEmail, id } = code.account;
    await currentPassword.checkWithCode(code.hash, { canonicalEmail, clientIp: address }, password, hash);
    const { revocations } = this.#options;
    const work = async (tx: Transaction) => {
      await takeKnownCode(tx, code, 'verify_email', now);
      await setVerifiedPasswordTx(tx, id, hash, now);
      const deleted = await revokeAllCredentials(tx, mailbox, id, now);
      await recordAccountEventTx(tx, mailbox, 'account.verified', id, now);
      await signInLimits.changeEmailOwnerTx(tx, canonicalEmail, address);
      return deleted;
    };
    const keyIds = await recordingChanges(revocations, { accountId: id, at: now }, () =>
      deletingKeys(this.#options, mailbox, id, now, work),
    );
    await recordDeletedKeys(revocations, keyIds, now);
  }
}
