/** Reads and changes the own account: language, password, deletion. See email-change.ts for the email address. */
import type { Language, QuotaUse } from '@keyreeve/contract';
import type { AccountPrincipal } from '../../foundation/principal.ts';
import { setPasswordTx } from '../accounts/credentials-store.ts';
import { recordAccountEventTx } from '../audit/audit.ts';
import { acceptNewPassword } from '../accounts/password-rules.ts';
import { setLanguage } from '../accounts/store.ts';
import { deleteAccountKeysTx, listAccountKeys } from '../api-keys/store.ts';
import { toInstant } from '../../foundation/clock.ts';
import { deleteCodesTx } from '../one-time-codes/store.ts';
import type { Secret } from '../../foundation/crypto/secret.ts';
import type { Transaction } from '../../foundation/database/db.ts';
import { DomainError } from '../../foundation/errors.ts';
import { toQuotaUse } from '../key-limits/quota-use.ts';
import { queueMailTx } from '../mail/mail.ts';
import { assertSessionValidTx, keepSessionTx } from '../sessions/store.ts';
import { runDeletingKeys } from './revoke-all-credentials.ts';
import type { SelfServiceOptions } from './options.ts';
import type { RemainingKey } from './remaining.ts';
import { findOwnAccount, type OwnRow } from './store.ts';

export interface PasswordChange {
  readonly currentPassword: Secret;
  readonly newPassword: Secret;
  /** Whether the account's API keys are deleted as well. */
  readonly revokesKeys: boolean;
  readonly clientIp: string;
}

/** An account as its owner reads it. */
export interface ShownAccount extends OwnRow {
  readonly quotaUse: QuotaUse | null;
}

export class OwnAccount {
  readonly #options: SelfServiceOptions;

  constructor(options: SelfServiceOptions) {
    this.#options = options;
  }

  /** @throws DomainError `invalid_access_token` if the account has been deleted */
  async find({ accountId }: AccountPrincipal): Promise<ShownAccount> {
    const { db, clock } = this.#options;
    const row = orInvalidToken(await findOwnAccount(db, accountId));
    return { ...row, quotaUse: toQuotaUse(row, clock) };
  }

  /** @throws DomainError as {@link find} */
  async findTx(tx: Transaction, { accountId }: AccountPrincipal): Promise<OwnRow> {
    return orInvalidToken(await findOwnAccount(tx, accountId));
  }

  /**
   * Sets the language of the account's mails. A request without a change does not count towards the limit.
   * @throws DomainError `too_many_requests`, `invalid_access_token`
   */
  async setLanguage(principal: AccountPrincipal, language: Language): Promise<void> {
    const { db, clock, requests } = this.#options;
    if ((await this.find(principal)).language === language) return;
    await requests.countOwnChange('language', principal.accountId);
    await setLanguage(db, principal, principal.accountId, { language, now: clock.now(), guard: assertSessionValidTx });
  }

  /**
   * Ends every other session and invalidates every code.
   * @returns the API keys that still work
   * @throws DomainError `password_wrong`, `password_…`, `too_many_attempts`, `too_many_requests`, `overloaded`,
   *   `invalid_access_token`, `unavailable`
   */
  async changePassword(principal: AccountPrincipal, change: PasswordChange): Promise<readonly RemainingKey[]> {
    const { clock, rules, hasher, signInLimits, requests, mailer, currentPassword } = this.#options;
    const { newPassword, revokesKeys, clientIp } = change;
    const { id, email, canonicalEmail } = await this.find(principal);
    const normal = acceptNewPassword(newPassword.reveal(), { email, canonicalEmail }, rules);
    const account = await currentPassword.check(principal, change.currentPassword, clientIp);
    await requests.countOwnChange('password', id);
    const passwordHash = await hasher.hash(normal);
    const now = clock.now();
    const changeTx = async (tx: Transaction) => {
      await assertSessionValidTx(tx, { principal, now });
      // A concurrent change may have replaced the password that this request verified.
      if (!(await setPasswordTx(tx, account, passwordHash, now))) throw new DomainError('password_wrong');
      await keepSessionTx(tx, id, principal.sessionId);
      await deleteCodesTx(tx, id);
      const deletedIds = revokesKeys ? await deleteAccountKeysTx(tx, { principal, now }, id) : [];
      await recordAccountEventTx(tx, { at: now, principal, action: 'account.password_set', accountId: id });
      const keys = await listAccountKeys(tx, id);
      const data = { at: toInstant(now), clientIp, keys: keys.map(({ nickname }) => nickname) };
      await queueMailTx(tx, mailer.prepare({ to: email, template: 'password_changed', data }));
      await signInLimits.clearTrustedRangesTx(tx, canonicalEmail, clientIp);
      return { deletedIds, remaining: keys };
    };
    const deleting = { principal, accountId: id, now, deletesKeys: revokesKeys, changeTx };
    return (await runDeletingKeys(this.#options, deleting)).remaining;
  }

  /**
   * Deletes the account with its sessions and API keys, and frees its email address.
   * @throws DomainError `password_wrong`, `too_many_attempts`, `overloaded`, `invalid_access_token`,
   *   `last_administrator`, `unavailable`
   */
  async delete(principal: AccountPrincipal, password: Secret, clientIp: string): Promise<void> {
    const { clock, accounts, mailer, currentPassword } = this.#options;
    const account = await currentPassword.check(principal, password, clientIp);
    const { id, email, language } = account;
    const at = toInstant(clock.now());
    const mail = mailer.prepare({ to: email, language, template: 'account_deleted', data: { at } });
    const existed = await accounts.delete(principal, id, async (tx, act) => {
      await assertSessionValidTx(tx, act);
      // A concurrent change may have replaced the password that this request verified.
      const current = await this.findTx(tx, principal);
      if (current.sessionEpoch !== account.sessionEpoch) throw new DomainError('password_wrong');
      await queueMailTx(tx, mail);
    });
    if (!existed) throw new DomainError('invalid_access_token');
    mailer.sendSoon();
  }
}

function orInvalidToken(account: OwnRow | undefined): OwnRow {
  if (!account) throw new DomainError('invalid_access_token');
  return account;
}
