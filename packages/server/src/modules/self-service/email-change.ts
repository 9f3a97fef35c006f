/**
 * Changing an account's email. Both addresses are told, the one before can undo it, and the new one confirms, together with the account's password:
 * otherwise a stranger could have somebody else's address confirmed for an account of the stranger's by one careless
 * click, and wait until its owner uses it.
 */
import { limits } from '@keyreeve/contract';
import { isEmailTakenTx } from '../accounts/credentials-store.ts';
import { recordAccountEventTx } from '../audit/audit.ts';
import { acceptEmail } from '../accounts/accounts.ts';
import type { AccountPrincipal } from '../../foundation/principal.ts';
import { toInstant } from '../../foundation/clock.ts';
import { insertCode, removeCodes } from '../one-time-codes/store.ts';
import type { Secret } from '../../foundation/crypto/secret.ts';
import type { Transaction } from '../../foundation/database/db.ts';
import { recordingChanges } from '../deletion-journal/recording-changes.ts';
import { DomainError } from '../../foundation/errors.ts';
import { queueMail } from '../mail/mail.ts';
import { assertSessionLives } from '../sessions/store.ts';
import type { SelfServiceOptions } from './options.ts';
import { changeOwnEmailTx, changeSetEmailTx } from './moved-email.ts';
import type { OwnAccount } from './own-account.ts';
import { findKnownCode, refuseTaken, takeKnownCode } from './store.ts';

export class EmailChange {
  readonly #options: SelfServiceOptions;
  readonly #own: OwnAccount;

  constructor(options: SelfServiceOptions, own: OwnAccount) {
    this.#options = options;
    this.#own = own;
  }

  /**
   * The same for a new address that another account has. An earlier request is void.
   * @param address of the client
   * @throws DomainError `password_wrong`, `email_invalid`, `too_many_attempts`, `too_many_requests`, `overloaded`,
   *   `mail_not_configured`, `invalid_access_token`
   */
  async request(principal: AccountPrincipal, emailText: string, password: Secret, address: string): Promise<void> {
    const { db, clock, codes, requests, mailer, links, currentPassword } = this.#options;
    if (!mailer.isConfigured) throw new DomainError('mail_not_configured');
    const wanted = acceptEmail(emailText);
    const account = await currentPassword.check(principal, password, address);
    await requests.countSignUp({ canonicalEmail: wanted.key, clientIp: address });
    const { id, email: oldEmail, sessionEpoch } = account;
    const now = clock.now();
    const code = codes.make();
    const expiresAt = now + limits.emailChangeCodeSeconds * 1000;
    const link = links.to('change-email', code.text);
    const confirmation = mailer.prepare({
      to: wanted.address,
      template: 'change_email',
      data: { link, expiresAt: toInstant(expiresAt) },
    });
    const resetLink = links.page('reset-password');
    const refusal = mailer.prepare({ to: wanted.address, template: 'account_exists', data: { resetLink } });
    const data = { newEmail: wanted.address, at: toInstant(now) };
    const notice = mailer.prepare({ to: oldEmail, template: 'email_change_requested', data });
    await db.transaction(async (tx) => {
      await assertSessionLives(tx, principal, now);
      if ((await this.#own.findIn(tx, principal)).sessionEpoch !== sessionEpoch)
        throw new DomainError('password_wrong');
      await removeCodes(tx, id, 'change_email');
      await insertCode(tx, {
        hash: code.hash,
        purpose: 'change_email',
        accountId: id,
        email: wanted,
        now,
        expiresAt,
      });
      if (!(await isEmailTakenTx(tx, wanted.key, id))) await queueMail(tx, confirmation);
      else if (await requests.maySendAccountExistsTx(tx, wanted.key)) await queueMail(tx, refusal);
      await queueMail(tx, notice);
      await recordAccountEventTx(tx, principal, 'account.email_change_requested', id, now);
    });
    mailer.sendSoon();
  }

  /**
   * Ends every session and makes every other code void: where a password is reset is not what it was.
   * @param address of the client
   * @throws DomainError `code_invalid`, `invalid_credentials`, `account_exists`, `too_many_requests`,
   *   `too_many_attempts`, `overloaded`
   */
  async confirm(codeText: string, password: Secret, address: string): Promise<void> {
    const { db, clock, codes, mailer, currentPassword, signInLimits, revocations } = this.#options;
    const now = clock.now();
    const code = await findKnownCode(db, codes.hashOf(codeText), 'change_email', now);
    const { row, account } = code;
    if (row.email === null || row.canonicalEmail === null) throw new DomainError('code_invalid');
    const wanted = { address: row.email, key: row.canonicalEmail };
    const { canonicalEmail, passwordHash: hash, sessionEpoch } = account;
    await currentPassword.checkWithCode(code.hash, { canonicalEmail, clientIp: address }, password, hash);
    const work = async (tx: Transaction) => {
      const locked = await takeKnownCode(tx, code, 'change_email', now);
      if (locked.sessionEpoch !== sessionEpoch) throw new DomainError('invalid_credentials');
      await changeOwnEmailTx(tx, this.#options, locked, wanted, now);
      // Neither address may trust the ranges of an earlier owner.
      await signInLimits.changeEmailOwnerTx(tx, locked.canonicalEmail);
      await signInLimits.changeEmailOwnerTx(tx, wanted.key, address);
    };
    const change = recordingChanges(revocations, { accountId: account.id, at: now }, () => db.transaction(work));
    await change.catch(refuseTaken);
    mailer.sendSoon();
  }

  /**
   * Accepts an address that an administrator or an operator has set. Ends every session, and voids every other code and
   * every link for undoing a change.
   * @throws DomainError `code_invalid`, `account_exists`, `too_many_requests`
   */
  async accept(codeText: string): Promise<void> {
    const { db, clock, codes, mailer, signInLimits, revocations } = this.#options;
    const now = clock.now();
    const code = await findKnownCode(db, codes.hashOf(codeText), 'set_email', now);
    const { email: address, canonicalEmail: key } = code.row;
    if (address === null || key === null) throw new DomainError('code_invalid');
    const work = async (tx: Transaction) => {
      const locked = await takeKnownCode(tx, code, 'set_email', now);
      await changeSetEmailTx(tx, this.#options, locked, { address, key }, now);
      for (const changed of [locked.canonicalEmail, key]) await signInLimits.changeEmailOwnerTx(tx, changed);
    };
    const change = recordingChanges(revocations, { accountId: code.account.id, at: now }, () => db.transaction(work));
    await change.catch(refuseTaken);
    mailer.sendSoon();
  }
}
