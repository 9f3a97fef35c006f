/** What an account reads and changes of itself: its password, and its end. Its email: email-change.ts. */
import type { Language } from '@keyreeve/contract';
import type { AccountPrincipal } from '../../foundation/principal.ts';
import { setPasswordTx } from '../accounts/credentials-store.ts';
import { recordAccountEventTx } from '../audit/audit.ts';
import { acceptNewPassword } from '../accounts/password-rules.ts';
import { setLanguage } from '../accounts/store.ts';
import { deleteAccountKeysTx, listAccountKeys } from '../api-keys/store.ts';
import { toInstant } from '../../foundation/clock.ts';
import { removeCodes } from '../one-time-codes/store.ts';
import type { Secret } from '../../foundation/crypto/secret.ts';
import type { Transaction } from '../../foundation/database/db.ts';
import { recordingChanges } from '../deletion-journal/recording-changes.ts';
import { DomainError } from '../../foundation/errors.ts';
import { queueMail } from '../mail/mail.ts';
import { assertSessionLives, keepSessionTx } from '../sessions/store.ts';
import { deletingKeys, recordDeletedKeys } from './revoke-all-credentials.ts';
import type { SelfServiceOptions, LiveKey } from './options.ts';
import { findOwnAccount, type OwnRow } from './store.ts';

export interface PasswordChange {
  readonly currentPassword: Secret;
  readonly newPassword: Secret;
  /** Whether the account's keys are deleted as well. */
  readonly revokesKeys: boolean;
  /** Of the client. */
  readonly address: string;
}

export class OwnAccount {
  readonly #options: SelfServiceOptions;

  constructor(options: SelfServiceOptions) {
    this.#options = options;
  }

  /** @throws DomainError `invalid_access_token` when it has been deleted meanwhile */
  async find({ accountId }: AccountPrincipal): Promise<OwnRow> {
    return orEnded(await findOwnAccount(this.#options.db, accountId));
  }

  /** The same in a transaction. @throws DomainError as {@link find} */
  async findIn(tx: Transaction, { accountId }: AccountPrincipal): Promise<OwnRow> {
    return orEnded(await findOwnAccount(tx, accountId));
  }

  /** Of its mail. The language that it has already is not counted. @throws DomainError `too_many_requests`, `invalid_access_token` */
  async setLanguage(principal: AccountPrincipal, language: Language): Promise<void> {
    const { db, clock, requests } = this.#options;
    if ((await this.find(principal)).language === language) return;
    await requests.countOwnChange('language', principal.accountId);
    await setLanguage(db, principal, principal.accountId, { language, now: clock.now(), guard: assertSessionLives });
  }

  /**
   * Ends every other session and makes every code void.
   * @returns the keys that go on working
   * @throws DomainError `password_wrong`, `password_…`, `too_many_attempts`, `too_many_requests`, `overloaded`,
   *   `invalid_access_token`, `unavailable`
   */
  async changePassword(principal: AccountPrincipal, change: PasswordChange): Promise<readonly LiveKey[]> {
    const { db, clock, rules, hasher, signInLimits, requests, mailer, revocations, currentPassword } = this.#options;
    const { newPassword, revokesKeys, address } = change;
    const { id, email, canonicalEmail } = await this.find(principal);
    const normal = acceptNewPassword(newPassword.reveal(), { address: email, key: canonicalEmail }, rules);
    const account = await currentPassword.check(principal, change.currentPassword, address);
    await requests.countOwnChange('password', id);
    const passwordHash = await hasher.hash(normal);
    const now = clock.now();
    const work = async (tx: Transaction) => {
      await assertSessionLives(tx, principal, now);
      // Of two at once, the one whose password is no longer the current one has proved nothing.
      if (!(await setPasswordTx(tx, id, passwordHash, now, account.sessionEpoch)))
        throw new DomainError('password_wrong');
      await keepSessionTx(tx, id, principal.sessionId);
      await removeCodes(tx, id);
      const gone = revokesKeys ? await deleteAccountKeysTx(tx, principal, id, now) : [];
      await recordAccountEventTx(tx, principal, 'account.password_set', id, now);
      const keys = await listAccountKeys(tx, id);
      const data = { at: toInstant(now), address, keys: keys.map(({ nickname }) => nickname) };
      await queueMail(tx, mailer.prepare({ to: email, template: 'password_changed', data }));
      await signInLimits.clearTrustedRangesTx(tx, canonicalEmail, address);
      return { deleted: gone, live: keys };
    };
    const { deleted, live } = await recordingChanges(revocations, { accountId: id, at: now }, () =>
      revokesKeys ? deletingKeys(this.#options, principal, id, now, work) : db.transaction(work),
    );
    await recordDeletedKeys(revocations, deleted, now);
    mailer.sendSoon();
    return live;
  }

  /**
   * With its sessions and keys, at once; the email is free again.
   * @param address of the client
   * @throws DomainError `password_wrong`, `too_many_attempts`, `overloaded`, `invalid_access_token`,
   *   `last_administrator`, `unavailable`
   */
  async delete(principal: AccountPrincipal, password: Secret, address: string): Promise<void> {
    const { clock, accounts, mailer, currentPassword } = this.#options;
    const account = await currentPassword.check(principal, password, address);
    const { id, email, language } = account;
    const at = toInstant(clock.now());
    const mail = mailer.prepare({ to: email, language, template: 'account_deleted', data: { at } });
    const existed = await accounts.delete(principal, id, async (tx, who, now) => {
      await assertSessionLives(tx, who, now);
      // Nor may it be by a password that somebody has replaced meanwhile.
      const current = await this.findIn(tx, principal);
      if (current.sessionEpoch !== account.sessionEpoch) throw new DomainError('password_wrong');
      await queueMail(tx, mail);
    });
    if (!existed) throw new DomainError('invalid_access_token');
    mailer.sendSoon();
  }
}

function orEnded(account: OwnRow | undefined): OwnRow {
  if (!account) throw new DomainError('invalid_access_token');
  return account;
}
