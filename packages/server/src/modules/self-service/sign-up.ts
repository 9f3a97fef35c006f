/**
 * Sign-up. A request does the same for every email address: it is counted, the password is hashed, and one outbox job is
 * written. The job looks up the account, so only the mail shows whether one exists.
 */
import { lockAccountByEmailTx } from '../accounts/credentials-store.ts';
import { recordAccountEventTx } from '../audit/audit.ts';
import { acceptEmail } from '../accounts/accounts.ts';
import { acceptNewPassword } from '../accounts/password-rules.ts';
import { isInvited } from '../accounts/sign-up-store.ts';
import { createAccountTx, type CredentialsRow } from '../accounts/store.ts';
import { invitationLifetime } from '../mail/links.ts';
import type { Language } from '@keyreeve/contract';
import { insertCodeTx } from '../one-time-codes/store.ts';
import { randomId, type Secret } from '../../foundation/crypto/secret.ts';
import type { Transaction } from '../../foundation/database/db.ts';
import { DomainError } from '../../foundation/errors.ts';
import { queueMailTx } from '../mail/mail.ts';
import type { Job } from '../outbox/job.ts';
import { insertJobTx } from '../outbox/store.ts';
import { system } from '../../foundation/principal.ts';
import { isTooLate, type SelfServiceOptions } from './options.ts';
import { newestSignUpHash } from './store.ts';

/** The stored payload of a job. */
interface SignUpJob {
  readonly address: string;
  /** The canonical email address. */
  readonly emailKey: string;
  /** Null if the job sends the mail of an earlier sign-up again. */
  readonly passwordHash: string | null;
  readonly language: Language | null;
}

export class SignUp {
  readonly #options: SelfServiceOptions;

  constructor(options: SelfServiceOptions) {
    this.#options = options;
    options.outbox.handle('sign_up', (work) => this.#complete(work));
  }

  /**
   * @param language of the client's browser
   * @throws DomainError `signup_closed`, `email_invalid`, `password_…`, `too_many_requests`, `overloaded`
   */
  async request(
    emailText: string,
    password: Secret,
    { clientIp, language }: { readonly clientIp: string; readonly language: Language | undefined },
  ): Promise<void> {
    const { isSignUpOpen, rules, requests, hasher } = this.#options;
    if (!isSignUpOpen) throw new DomainError('signup_closed');
    const email = acceptEmail(emailText);
    const normal = acceptNewPassword(password.reveal(), email, rules);
    hasher.assertCapacity();
    await requests.countSignUp({ canonicalEmail: email.canonicalEmail, clientIp });
    const passwordHash = await hasher.hash(normal);
    await this.#enqueue({
      address: email.email,
      emailKey: email.canonicalEmail,
      passwordHash,
      language: language ?? null,
    });
  }

  /** Sends the mail of the newest sign-up again. @throws DomainError `email_invalid`, `too_many_requests` */
  async resend(emailText: string, clientIp: string): Promise<void> {
    const { requests, mailer } = this.#options;
    if (!mailer.isConfigured) throw new DomainError('mail_not_configured');
    const email = acceptEmail(emailText);
    await requests.countSignUp({ canonicalEmail: email.canonicalEmail, clientIp });
    await this.#enqueue({ address: email.email, emailKey: email.canonicalEmail, passwordHash: null, language: null });
  }

  async #enqueue(job: SignUpJob): Promise<void> {
    const { db, outbox } = this.#options;
    const row = outbox.delayed(outbox.prepare('sign_up', 'account-life', job));
    await db.transaction((tx) => insertJobTx(tx, row));
    outbox.pollSoon();
  }

  async #complete({ payload, createdAt, finishTx }: Job): Promise<void> {
    const { db, mailer } = this.#options;
    // Its mail would not be handed over any more.
    if (isTooLate(createdAt, this.#options.clock)) return db.transaction(finishTx);
    const { address, emailKey: canonicalEmail, passwordHash, language } = payload as SignUpJob;
    const now = this.#options.clock.now();
    await db.transaction(async (tx) => {
      await finishTx(tx);
      const id = passwordHash === null ? undefined : randomId('acc');
      const isNew =
        id !== undefined &&
        passwordHash !== null &&
        (await createAccountTx(tx, system, {
          id,
          email: address,
          canonicalEmail,
          // The hash is stored with the code until the email address is verified: otherwise a sign-in would show whether
          // the email address had an account before.
          passwordHash: '',
          role: 'user',
          now,
          isUnverified: true,
          language,
          isSignUp: true,
        }));
      if (isNew) await this.#sendCode(tx, { id, email: address, passwordHash }, createdAt);
      else await this.#repeat(tx, canonicalEmail, passwordHash, createdAt);
    });
    mailer.sendSoon();
  }

  /** Handles a sign-up for an existing account, and a request to send the mail again. */
  async #repeat(
    tx: Transaction,
    canonicalEmail: string,
    passwordHash: string | null,
    requestedAt: number,
  ): Promise<void> {
    const { requests, mailer, links } = this.#options;
    const account = await lockAccountByEmailTx(tx, canonicalEmail);
    if (!account) return;
    const { id, email, unverifiedSince, disabledAt } = account;
    if (unverifiedSince !== null && disabledAt === null) {
      // Only a verification sets the password of the account's row: until then any sign-up may be an attacker's.
      const hash = passwordHash ?? (await newestSignUpHash(tx, id)) ?? account.passwordHash;
      if (passwordHash === null && (await isInvited(tx, id))) await this.#inviteAgain(tx, account, requestedAt);
      else if (hash !== '') await this.#sendCode(tx, { id, email, passwordHash: hash }, requestedAt);
      return;
    }
    if (passwordHash === null || !(await requests.maySendAccountExistsTx(tx, canonicalEmail))) return;
    const resetLink = links.page('reset-password');
    await queueMailTx(tx, mailer.prepare({ to: email, template: 'account_exists', data: { resetLink }, requestedAt }));
  }

  /**
   * Sends an invitation again, which may have expired. Earlier links stay valid: otherwise, anyone could void them. An
   * administrator withdraws an invitation by disabling or deleting the account. An invitation of an administrator is not sent again,
   * because a later owner of the mailbox would get the role.
   */
  async #inviteAgain(tx: Transaction, { id, email, role }: CredentialsRow, requestedAt: number): Promise<void> {
    if (role === 'admin') return;
    const { codes, mailer, links, clock } = this.#options;
    const { id: request, row } = codes.request(requestedAt);
    await insertCodeTx(tx, { ...row, purpose: 'accept_invitation', accountId: id });
    const code = { request, page: 'accept-invitation', lifetime: invitationLifetime(links, role) } as const;
    await queueMailTx(tx, mailer.prepareWithCode({ to: email, codeTemplate: 'invitation', data: {}, code }));
    await recordAccountEventTx(tx, { at: clock.now(), principal: system, action: 'account.invited', accountId: id });
  }

  async #sendCode(
    tx: Transaction,
    { id: accountId, email: to, passwordHash }: Pick<CredentialsRow, 'id' | 'email' | 'passwordHash'>,
    requestedAt: number,
  ): Promise<void> {
    const { codes, mailer, links, clock } = this.#options;
    const { id: request, row } = codes.request(requestedAt);
    await insertCodeTx(tx, { ...row, purpose: 'verify_email', accountId, passwordHash });
    const code = { request, page: 'verify-email', lifetime: links.lifetimes.verification } as const;
    await queueMailTx(tx, mailer.prepareWithCode({ to, codeTemplate: 'verify_email', data: {}, code }));
    const event = { at: clock.now(), principal: system, action: 'account.verification_requested' } as const;
    await recordAccountEventTx(tx, { ...event, accountId });
  }
}
