/**
 * Sets the email address of an account whose owner has lost the mailbox. The change takes effect when the owner confirms it
 * with a code sent to the new email address. It requires no password, which the owner may have lost as well.
 */
import { limits } from '@keyreeve/contract';
import { isEmailTakenTx, lockAccountTx } from '../accounts/credentials-store.ts';
import { acceptEmail } from '../accounts/accounts.ts';
import { recordAccountEventTx } from '../audit/audit.ts';
import type { Principal } from '../../foundation/principal.ts';
import type { Core } from '../../foundation/core.ts';
import { toInstant } from '../../foundation/clock.ts';
import type { OneTimeCodes } from '../one-time-codes/one-time-codes.ts';
import { insertCodeTx, deleteCodesTx } from '../one-time-codes/store.ts';
import type { Transaction } from '../../foundation/database/db.ts';
import { DomainError } from '../../foundation/errors.ts';
import { queueMailTx, type Mailer } from '../mail/mail.ts';
import { findFactor } from '../second-factors/store.ts';
import { assertSessionValidTx } from '../sessions/store.ts';
import { isOnlySingleSignOnTx } from './store.ts';

export interface EmailSettingOptions extends Core {
  readonly codes: OneTimeCodes;
  readonly mailer: Mailer;
}

export class EmailSetting {
  readonly #options: EmailSettingOptions;

  constructor(options: EmailSettingOptions) {
    this.#options = options;
  }

  /**
   * Sends a code to the new email address, which replaces an earlier one, and a notice to the current email address.
   * @returns the earliest time at which the code expires, in milliseconds: it is made when the mail is handed over
   * @throws DomainError `mail_not_configured`, `email_invalid`, `account_exists`, `account_not_found`, `service_account`,
   *   `account_unverified`, `administrator_protected`, `second_factor_not_enrolled`, `reauth_required`, `invalid_access_token`
   */
  async request(principal: Principal, id: string, emailText: string): Promise<number> {
    const { db, clock, codes, mailer } = this.#options;
    const wanted = acceptEmail(emailText);
    const now = clock.now();
    const { id: requestId, row } = codes.request(now);
    const code = { request: requestId, page: 'accept-email', lifetime: limits.emailChangeCodeSeconds } as const;
    await db.transaction(async (tx) => {
      await assertSessionValidTx(tx, { principal, now });
      const account = await lockAccountTx(tx, id);
      if (!account) throw new DomainError('account_not_found');
      if (account.kind === 'service') throw new DomainError('service_account');
      if (!mailer.isConfigured) throw new DomainError('mail_not_configured');
      await assertSecondFactorTx(tx, principal);
      if (principal.kind === 'account' && account.role === 'admin') throw new DomainError('administrator_protected');
      // Credentials that an attacker created in an unverified account would stay. A new invitation removes them.
      if (account.unverifiedSince !== null) throw new DomainError('account_unverified');
      if (account.canonicalEmail === wanted.canonicalEmail)
        throw new DomainError('email_invalid', { detail: 'The account has this email address already.' });
      if (await isEmailTakenTx(tx, wanted.canonicalEmail, id)) throw new DomainError('account_exists');
      await deleteCodesTx(tx, id, 'set_email');
      await insertCodeTx(tx, { ...row, purpose: 'set_email', accountId: id, email: wanted });
      await queueMailTx(tx, mailer.prepareWithCode({ to: wanted.email, codeTemplate: 'change_email', data: {}, code }));
      const notice = { newEmail: wanted.email, at: toInstant(now) };
      await queueMailTx(tx, mailer.prepare({ to: account.email, template: 'email_set_requested', data: notice }));
      await recordAccountEventTx(tx, { at: now, principal, action: 'account.email_change_requested', accountId: id });
    });
    mailer.sendSoon();
    return now + limits.emailChangeCodeSeconds * 1000;
  }
}

/**
 * Asserts that the administrator proved the second factor: it was in force before the last sign-in or confirmation. Single
 * sign-on asks for no second factor of Keyreeve, so its session proves it by a later confirmation in the console only.
 */
async function assertSecondFactorTx(tx: Transaction, principal: Principal): Promise<void> {
  if (principal.kind !== 'account') return;
  const factor = await findFactor(tx, principal.accountId);
  if (!factor || factor.confirmedAt === null) throw new DomainError('second_factor_not_enrolled');
  if (principal.signedInAt === undefined || principal.signedInAt <= factor.confirmedAt)
    throw new DomainError('reauth_required');
  if (await isOnlySingleSignOnTx(tx, principal.sessionId))
    throw new DomainError('reauth_required', { detail: singleSignOnProvesNoFactor });
}

const singleSignOnProvesNoFactor =
  'Single sign-on does not prove the second factor of your account. Confirm with your password and second factor or with a passkey, or sign in with them.';
