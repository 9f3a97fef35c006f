/**
 * Verifies the email address of a sign-up with the code from the mail and the password of that sign-up. An attacker who
 * signs up with a victim's email address does not have the mail, and a victim who opens the link does not have the
 * attacker's password. Earlier credentials of the account are revoked (account pre-hijacking, USENIX Security 2022).
 */
import type { Secret } from '../../foundation/crypto/secret.ts';
import type { Transaction } from '../../foundation/database/db.ts';
import { setVerifiedPasswordTx } from '../accounts/credentials-store.ts';
import { recordAccountEventTx } from '../audit/audit.ts';
import { DomainError } from '../../foundation/errors.ts';
import { runDeletingKeys, revokeAllCredentialsTx } from './revoke-all-credentials.ts';
import { mailbox, type SelfServiceOptions } from './options.ts';
import { findKnownCode, takeKnownCode } from './store.ts';

export class EmailVerification {
  readonly #options: SelfServiceOptions;

  constructor(options: SelfServiceOptions) {
    this.#options = options;
  }

  /**
   * @throws DomainError `code_invalid`, `invalid_credentials`, `too_many_requests`, `too_many_attempts`, `overloaded`, `unavailable`
   */
  async verify(codeText: string, password: Secret, clientIp: string): Promise<void> {
    const { db, clock, codes, currentPassword, signInLimits } = this.#options;
    const now = clock.now();
    const code = await findKnownCode(db, codes.hashOf(codeText), 'verify_email', now);
    const hash = code.row.passwordHash;
    if (hash === null) throw new DomainError('code_invalid');
    const { canonicalEmail, id } = code.account;
    await currentPassword.checkWithCode(code.hash, { canonicalEmail, clientIp }, password, hash);
    const changeTx = async (tx: Transaction) => {
      await takeKnownCode(tx, code, 'verify_email', now);
      await setVerifiedPasswordTx(tx, id, hash, now);
      const deletedIds = await revokeAllCredentialsTx(tx, mailbox, id, now);
      await recordAccountEventTx(tx, { at: now, principal: mailbox, action: 'account.verified', accountId: id });
      await signInLimits.changeEmailOwnerTx(tx, canonicalEmail, clientIp);
      return { deletedIds };
    };
    await runDeletingKeys(this.#options, { principal: mailbox, accountId: id, now, deletesKeys: true, changeTx });
  }
}
