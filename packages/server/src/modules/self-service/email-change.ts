/**
 * Email changes. Both email addresses get a mail, and the previous one can undo the change. The confirmation requires the
 * code sent to the new email address and the account's password: with the code alone, one careless click on a mail would
 * verify the reader's email address for an attacker's account, which the reader might then use.
 */
import { limits } from '@keyreeve/contract';
import { isEmailTakenTx } from '../accounts/credentials-store.ts';
import { recordAccountEventTx } from '../audit/audit.ts';
import { acceptEmail } from '../accounts/accounts.ts';
import type { AccountPrincipal } from '../../foundation/principal.ts';
import { toInstant } from '../../foundation/clock.ts';
import { insertCodeTx, deleteCodesTx } from '../one-time-codes/store.ts';
import type { Secret } from '../../foundation/crypto/secret.ts';
import type { Transaction } from '../../foundation/database/db.ts';
import { recordingChanges } from '../deletion-journal/run-narrowing.ts';
import { DomainError } from '../../foundation/errors.ts';
import { queueMailTx } from '../mail/mail.ts';
import { assertSessionValidTx } from '../sessions/store.ts';
import type { SelfServiceOptions } from './options.ts';
import { changeOwnEmailTx, changeSetEmailTx } from './email-change-tx.ts';
import type { OwnAccount } from './own-account.ts';
import { assertTyped, findKnownCode, refuseTaken, takeKnownCode } from './store.ts';

export class EmailChange {
  readonly #options: SelfServiceOptions;
  readonly #own: OwnAccount;

  constructor(options: SelfServiceOptions, own: OwnAccount) {
    this.#options = options;
    this.#own = own;
  }

  /**
   * Replaces an earlier request. Returns the same result if another account has the new email address.
   * @throws DomainError `password_wrong`, `email_invalid`, `too_many_attempts`, `too_many_requests`, `overloaded`,
   *   `mail_not_configured`, `invalid_access_token`
   */
  async request(principal: AccountPrincipal, emailText: string, password: Secret, clientIp: string): Promise<void> {
    const { db, clock, codes, requests, mailer, links, currentPassword } = this.#options;
    if (!mailer.isConfigured) throw new DomainError('mail_not_configured');
    const wanted = acceptEmail(emailText);
    const account = await currentPassword.check(principal, password, clientIp);
    await requests.countSignUp({ canonicalEmail: wanted.canonicalEmail, clientIp });
    const { id, email: oldEmail, sessionEpoch } = account;
    const now = clock.now();
    const code = codes.request(now);
    const confirmation = mailer.prepareWithCode({
      to: wanted.email,
      codeTemplate: 'change_email',
      data: {},
      code: { request: code.id, page: 'change-email', lifetime: limits.emailChangeCodeSeconds },
    });
    const resetLink = links.page('reset-password');
    const accountExists = mailer.prepare({
      to: wanted.email,
      template: 'account_exists',
      data: { resetLink },
      requestedAt: now,
    });
    const data = { newEmail: wanted.email, at: toInstant(now) };
    const notice = mailer.prepare({ to: oldEmail, template: 'email_change_requested', data });
    await db.transaction(async (tx) => {
      await assertSessionValidTx(tx, { principal, now });
      if ((await this.#own.findTx(tx, principal)).sessionEpoch !== sessionEpoch)
        throw new DomainError('password_wrong');
      await deleteCodesTx(tx, id, 'change_email');
      await insertCodeTx(tx, { ...code.row, purpose: 'change_email', accountId: id, email: wanted });
      if (!(await isEmailTakenTx(tx, wanted.canonicalEmail, id))) await queueMailTx(tx, confirmation);
      else if (await requests.maySendAccountExistsTx(tx, wanted.canonicalEmail)) await queueMailTx(tx, accountExists);
      await queueMailTx(tx, notice);
      await recordAccountEventTx(tx, { at: now, principal, action: 'account.email_change_requested', accountId: id });
    });
    mailer.sendSoon();
  }

  /**
   * Ends every session and invalidates every other code, because codes for a password reset went to the previous email
   * address.
   * @throws DomainError `code_invalid`, `invalid_credentials`, `account_exists`, `too_many_requests`,
   *   `too_many_attempts`, `overloaded`
   */
  async confirm(codeText: string, password: Secret, clientIp: string): Promise<void> {
    const { db, clock, codes, mailer, currentPassword, signInLimits, revocations } = this.#options;
    const now = clock.now();
    const code = await findKnownCode(db, codes.hashOf(codeText), 'change_email', now);
    const { row, account } = code;
    if (row.email === null || row.canonicalEmail === null) throw new DomainError('code_invalid');
    const wanted = { email: row.email, canonicalEmail: row.canonicalEmail };
    const { canonicalEmail, passwordHash: hash, sessionEpoch } = account;
    await currentPassword.checkWithCode(code.hash, { canonicalEmail, clientIp }, password, hash);
    const changeTx = async (tx: Transaction) => {
      const locked = await takeKnownCode(tx, code, 'change_email', now);
      if (locked.sessionEpoch !== sessionEpoch) throw new DomainError('invalid_credentials');
      await changeOwnEmailTx(tx, this.#options, { account: locked, wanted, now });
      // Clear the ranges that an earlier owner of either email address signed in from.
      await signInLimits.changeEmailOwnerTx(tx, locked.canonicalEmail);
      await signInLimits.changeEmailOwnerTx(tx, wanted.canonicalEmail, clientIp);
    };
    const record = { accountId: account.id, at: now };
    await recordingChanges(revocations, record, () => db.transaction(changeTx)).catch(refuseTaken);
    mailer.sendSoon();
  }

  /**
   * Confirms an email address that an administrator or an operator has set. Ends every session, and invalidates every
   * other code and every undo link.
   * @param emailText that email address or the current one, as the user typed it: a mail scanner presses the button, but
   *   types nothing
   * @throws DomainError `code_invalid`, `email_wrong` (the code still works), `account_exists`, `too_many_requests`
   */
  async accept(codeText: string, emailText: string): Promise<void> {
    const { db, clock, codes, requests, mailer, signInLimits, revocations } = this.#options;
    const now = clock.now();
    const code = await findKnownCode(db, codes.hashOf(codeText), 'set_email', now);
    const { email, canonicalEmail } = code.row;
    if (email === null || canonicalEmail === null) throw new DomainError('code_invalid');
    await requests.countCodeTry(code.hash);
    assertTyped(emailText, { canonicalEmail }, code.account);
    const changeTx = async (tx: Transaction) => {
      const locked = await takeKnownCode(tx, code, 'set_email', now);
      await changeSetEmailTx(tx, this.#options, { account: locked, wanted: { email, canonicalEmail }, now });
      for (const changed of [locked.canonicalEmail, canonicalEmail]) await signInLimits.changeEmailOwnerTx(tx, changed);
    };
    const record = { accountId: code.account.id, at: now };
    await recordingChanges(revocations, record, () => db.transaction(changeTx)).catch(refuseTaken);
    mailer.sendSoon();
  }
}
