/**
 * A forgotten password, and the first one of an invited account: set with a code that was sent by mail. It proves the
 * mailbox, so it verifies the email; it doesn't sign in, and a second factor stays (ASVS 5.0 6.4.3).
 */
import { limits } from '@keyreeve/contract';
import { lockAccountByEmailTx, setVerifiedPasswordTx } from '../accounts/credentials-store.ts';
import { recordAccountEventTx } from '../audit/audit.ts';
import { acceptEmail } from '../accounts/accounts.ts';
import { acceptNewPassword } from '../accounts/password-rules.ts';
import { deleteAccountKeysTx, listAccountKeys } from '../api-keys/store.ts';
import { toInstant } from '../../foundation/clock.ts';
import type { CodePurpose } from '../one-time-codes/one-time-codes.ts';
import { insertCode, removeCodes } from '../one-time-codes/store.ts';
import { randomId, type Secret } from '../../foundation/crypto/secret.ts';
import type { Transaction } from '../../foundation/database/db.ts';
import { recordingChanges } from '../deletion-journal/recording-changes.ts';
import { DomainError } from '../../foundation/errors.ts';
import { queueMail } from '../mail/mail.ts';
import type { Job } from '../outbox/outbox.ts';
import { insertJob } from '../outbox/store.ts';
import { deletingKeys, recordDeletedKeys, revokeAllCredentials } from './revoke-all-credentials.ts';
import { mailbox, system, type SelfServiceOptions, type LiveKey } from './options.ts';
import { findKnownCode, takeKnownCode } from './store.ts';

/** What the outbox is given. */
interface ResetWork {
  readonly canonicalEmail: string;
  /** Of the client that asked. */
  readonly address: string;
}

export interface NewPassword {
  readonly password: Secret;
  /** Whether the account's keys are deleted as well. */
  readonly revokesKeys: boolean;
  /** Of the client. */
  readonly address: string;
}

export class PasswordReset {
  readonly #options: SelfServiceOptions;

  constructor(options: SelfServiceOptions) {
    this.#options = options;
    options.outbox.handle('password_reset', (work) => this.#send(work));
  }

  /**
   * The same for every email.
   * @param address of the client
   * @throws DomainError `email_invalid`, `too_many_requests`, `mail_not_configured`
   */
  async request(emailText: string, address: string): Promise<void> {
    const { db, requests, outbox, mailer } = this.#options;
    if (!mailer.isConfigured) throw new DomainError('mail_not_configured');
    const { key: canonicalEmail } = acceptEmail(emailText);
    await requests.countReset({ canonicalEmail, clientIp: address });
    const work: ResetWork = { canonicalEmail, address };
    const row = outbox.delayed(outbox.prepare('password_reset', 'account-life', work));
    await db.transaction((tx) => insertJob(tx, row));
    outbox.pollSoon();
  }

  /**
   * Ends every session and makes every other code void.
   * @returns the keys that go on working
   * @throws DomainError `code_invalid`, `password_…`, `too_many_requests`, `overloaded`, `unavailable`
   */
  confirm(codeText: string, wanted: NewPassword): Promise<readonly LiveKey[]> {
    return this.#set(codeText, 'reset_password', wanted);
  }

  /** The first password of an account that an administrator made. @throws DomainError as {@link confirm} */
  async acceptInvitation(codeText: string, password: Secret, address: string): Promise<void> {
    await this.#set(codeText, 'accept_invitation', { password, revokesKeys: false, address });
  }

  async #send({ payload, finishTx }: Job): Promise<void> {
    const { db, clock, mailer } = this.#options;
    const { canonicalEmail, address } = payload as ResetWork;
    const now = clock.now();
    await db.transaction(async (tx) => {
      await finishTx(tx);
      const account = await lockAccountByEmailTx(tx, canonicalEmail);
      // After a restore the address may be one that the owner has given up.
      const isSent = account?.disabledAt === null && account.emailUnconfirmedSince === null;
      // The same statements for an email without an account; those of a decoy change no row of an account.
      if (account && isSent) await this.#sendCode(tx, account, address, now);
      else await this.#sendCode(tx, { id: randomId('acc'), email: canonicalEmail }, address, now, true);
    });
    mailer.sendSoon();
  }

  async #sendCode(
    tx: Transaction,
    { id, email }: { id: string; email: string },
    address: string,
    now: number,
    isDecoy = false,
  ): Promise<void> {
    const { codes, mailer, links } = this.#options;
    const code = codes.make();
    const expiresAt = now + limits.resetCodeSeconds * 1000;
    // The newest mail alone is good: a forgotten older one in a mailbox opens nothing.
    await removeCodes(tx, id, 'reset_password');
    await insertCode(tx, { hash: code.hash, purpose: 'reset_password', accountId: id, now, expiresAt });
    const keys = (await listAccountKeys(tx, id)).map(({ nickname }) => nickname);
    const data = { link: links.to('reset-password', code.text), expiresAt: toInstant(expiresAt), keys, address };
    const message = { to: email, template: 'reset_password', data } as const;
    await queueMail(tx, mailer.delayed(isDecoy ? mailer.prepareDecoy(message) : mailer.prepare(message)));
    if (!isDecoy) await recordAccountEventTx(tx, system, 'account.password_reset_requested', id, now);
  }

  async #set(
    codeText: string,
    purpose: CodePurpose,
    { password, revokesKeys, address }: NewPassword,
  ): Promise<readonly LiveKey[]> {
    const { db, clock, codes, rules, requests, hasher, signInLimits, mailer } = this.#options;
    const now = clock.now();
    const code = await findKnownCode(db, codes.hashOf(codeText), purpose, now);
    const { id, email, canonicalEmail } = code.account;
    await requests.countCodeTry(code.hash);
    const normal = acceptNewPassword(password.reveal(), { address: email, key: canonicalEmail }, rules);
    const passwordHash = await hasher.hash(normal);
    const work = async (tx: Transaction) => {
      const account = await takeKnownCode(tx, code, purpose, now);
      await setVerifiedPasswordTx(tx, id, passwordHash, now);
      await removeCodes(tx, id);
      // Nobody had shown whose it is: what was prepared for it may be a stranger's.
      const isNew = account.unverifiedSince !== null;
      const gone = isNew
        ? await revokeAllCredentials(tx, mailbox, id, now)
        : revokesKeys
          ? await deleteAccountKeysTx(tx, mailbox, id, now)
          : [];
      await recordAccountEventTx(tx, mailbox, 'account.password_set', id, now);
      if (isNew) await recordAccountEventTx(tx, mailbox, 'account.verified', id, now);
      const keys = await listAccountKeys(tx, id);
      if (purpose === 'reset_password') {
        const data = { at: toInstant(now), address, keys: keys.map(({ nickname }) => nickname) };
        await queueMail(tx, mailer.prepare({ to: account.email, template: 'password_changed', data }));
      }
      if (isNew) await signInLimits.changeEmailOwnerTx(tx, account.canonicalEmail, address);
      else await signInLimits.clearTrustedRangesTx(tx, account.canonicalEmail, address);
      return { deleted: gone, live: keys };
    };
    // Whoever verifies an account takes all its codes: while this one is good, it is as new as it was.
    const { revocations } = this.#options;
    const { deleted, live } = await recordingChanges(revocations, { accountId: id, at: now }, () =>
      revokesKeys || code.account.unverifiedSince !== null
        ? deletingKeys(this.#options, mailbox, id, now, work)
        : db.transaction(work),
    );
    await recordDeletedKeys(revocations, deleted, now);
    mailer.sendSoon();
    return live;
  }
}
