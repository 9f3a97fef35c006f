/**
 * Password resets, and the first password of an invited account. The code sent by mail proves access to the mailbox, so it
 * also verifies the email address. A reset creates no session and keeps a second factor (ASVS 5.0 6.4.3).
 */
import { lockAccountByEmailTx, setVerifiedPasswordTx } from '../accounts/credentials-store.ts';
import { recordAccountEventTx } from '../audit/audit.ts';
import { acceptEmail } from '../accounts/accounts.ts';
import { acceptNewPassword } from '../accounts/password-rules.ts';
import { deleteAccountKeysTx, listAccountKeys } from '../api-keys/store.ts';
import { toInstant } from '../../foundation/clock.ts';
import type { CodePurpose } from '../one-time-codes/one-time-codes.ts';
import { insertCodeTx, deleteCodesTx } from '../one-time-codes/store.ts';
import { randomId, type Secret } from '../../foundation/crypto/secret.ts';
import type { Transaction } from '../../foundation/database/db.ts';
import { DomainError } from '../../foundation/errors.ts';
import { queueMailTx } from '../mail/mail.ts';
import type { Job } from '../outbox/job.ts';
import { insertJobTx } from '../outbox/store.ts';
import { runDeletingKeys, revokeAllCredentialsTx } from './revoke-all-credentials.ts';
import { system } from '../../foundation/principal.ts';
import { isTooLate, mailbox, type SelfServiceOptions } from './options.ts';
import { remainingTx, type Remaining } from './remaining.ts';
import { findKnownCode, takeKnownCode } from './store.ts';

/** The stored payload of a job. */
interface ResetJob {
  /** The canonical email address. */
  readonly emailKey: string;
  /** The client IP of the request. */
  readonly clientIp: string;
}

export interface NewPassword {
  readonly password: Secret;
  /** Whether the account's API keys are deleted as well. */
  readonly revokesKeys: boolean;
  readonly clientIp: string;
}

export class PasswordReset {
  readonly #options: SelfServiceOptions;

  constructor(options: SelfServiceOptions) {
    this.#options = options;
    options.outbox.handle('password_reset', (work) => this.#send(work));
  }

  /**
   * Does the same for every email address: counts the request and writes one outbox job.
   * @throws DomainError `email_invalid`, `too_many_requests`, `mail_not_configured`
   */
  async request(emailText: string, clientIp: string): Promise<void> {
    const { db, requests, outbox, mailer } = this.#options;
    if (!mailer.isConfigured) throw new DomainError('mail_not_configured');
    const { canonicalEmail } = acceptEmail(emailText);
    await requests.countReset({ canonicalEmail, clientIp });
    const job: ResetJob = { emailKey: canonicalEmail, clientIp };
    const row = outbox.delayed(outbox.prepare('password_reset', 'account-life', job));
    await db.transaction((tx) => insertJobTx(tx, row));
    outbox.pollSoon();
  }

  /**
   * Ends every session and invalidates every other code.
   * @returns what still works
   * @throws DomainError `code_invalid`, `password_…`, `too_many_requests`, `overloaded`, `unavailable`
   */
  confirm(codeText: string, wanted: NewPassword): Promise<Remaining> {
    return this.#set(codeText, 'reset_password', wanted);
  }

  /** Sets the first password of an account that an administrator created. @throws DomainError as {@link confirm} */
  async acceptInvitation(codeText: string, password: Secret, clientIp: string): Promise<void> {
    await this.#set(codeText, 'accept_invitation', { password, revokesKeys: false, clientIp });
  }

  async #send({ payload, createdAt, finishTx }: Job): Promise<void> {
    const { db, mailer } = this.#options;
    // Its mail would not be handed over any more.
    if (isTooLate(createdAt, this.#options.clock)) return db.transaction(finishTx);
    const { emailKey: canonicalEmail, clientIp } = payload as ResetJob;
    await db.transaction(async (tx) => {
      await finishTx(tx);
      const account = await lockAccountByEmailTx(tx, canonicalEmail);
      // An email address that a restore brought back may no longer be the owner's.
      const isSent = account?.disabledAt === null && account.emailUnconfirmedSince === null;
      // The decoy runs the same statements with a random id, so that an email address without an account takes as long.
      if (account && isSent) await this.#sendCode(tx, account, clientIp, createdAt);
      else await this.#sendCode(tx, { id: randomId('acc'), email: canonicalEmail, isDecoy: true }, clientIp, createdAt);
    });
    mailer.sendSoon();
  }

  async #sendCode(
    tx: Transaction,
    { id, email, isDecoy = false }: { id: string; email: string; isDecoy?: boolean },
    clientIp: string,
    requestedAt: number,
  ): Promise<void> {
    const { codes, mailer, links, clock } = this.#options;
    const { id: request, row } = codes.request(requestedAt);
    // Only the newest code works, so that older mails in the mailbox are useless.
    await deleteCodesTx(tx, id, 'reset_password');
    await insertCodeTx(tx, { ...row, purpose: 'reset_password', accountId: id });
    const keys = (await listAccountKeys(tx, id)).map(({ nickname }) => nickname);
    const code = { request, page: 'reset-password', lifetime: links.lifetimes.reset } as const;
    const message = { to: email, codeTemplate: 'reset_password', data: { keys, clientIp }, code } as const;
    const mail = isDecoy ? mailer.prepareDecoyWithCode(message) : mailer.prepareWithCode(message);
    await queueMailTx(tx, mailer.delayed(mail));
    const event = { at: clock.now(), principal: system, action: 'account.password_reset_requested' } as const;
    if (!isDecoy) await recordAccountEventTx(tx, { ...event, accountId: id });
  }

  async #set(
    codeText: string,
    purpose: CodePurpose,
    { password, revokesKeys, clientIp }: NewPassword,
  ): Promise<Remaining> {
    const { db, clock, codes, rules, requests, hasher, signInLimits, mailer } = this.#options;
    const now = clock.now();
    const code = await findKnownCode(db, codes.hashOf(codeText), purpose, now);
    const { id, email, canonicalEmail } = code.account;
    await requests.countCodeTry(code.hash);
    const normal = acceptNewPassword(password.reveal(), { email, canonicalEmail }, rules);
    const passwordHash = await hasher.hash(normal);
    const changeTx = async (tx: Transaction) => {
      const account = await takeKnownCode(tx, code, purpose, now);
      await setVerifiedPasswordTx(tx, id, passwordHash, now);
      await deleteCodesTx(tx, id);
      // The account was unverified, so its credentials may be an attacker's.
      const isNew = account.unverifiedSince !== null;
      const deletedIds = isNew
        ? await revokeAllCredentialsTx(tx, mailbox, id, now)
        : revokesKeys
          ? await deleteAccountKeysTx(tx, { principal: mailbox, now }, id)
          : [];
      const event = { at: now, principal: mailbox, accountId: id };
      await recordAccountEventTx(tx, { ...event, action: 'account.password_set' });
      if (isNew) await recordAccountEventTx(tx, { ...event, action: 'account.verified' });
      const remaining = await remainingTx(tx, id);
      if (purpose === 'reset_password') {
        const data = { at: toInstant(now), clientIp, keys: remaining.keys.map(({ nickname }) => nickname) };
        await queueMailTx(tx, mailer.prepare({ to: account.email, template: 'password_changed', data }));
      }
      if (isNew) await signInLimits.changeEmailOwnerTx(tx, account.canonicalEmail, clientIp);
      else await signInLimits.clearTrustedRangesTx(tx, account.canonicalEmail, clientIp);
      return { deletedIds, remaining };
    };
    // The check outside the transaction suffices: verifying the account invalidates this code.
    const deletesKeys = revokesKeys || code.account.unverifiedSince !== null;
    const deleting = { principal: mailbox, accountId: id, now, deletesKeys, changeTx };
    return (await runDeletingKeys(this.#options, deleting)).remaining;
  }
}
