/** Changes of accounts by administrators and operators, who never set or see a password. */
import { type KeyLimits, type KeyTokens as ShownTokens, type UsageQuery } from '@keyreeve/contract';
import type { Account, Accounts, Role } from '../accounts/accounts.ts';
import { parseEmail } from '../accounts/email.ts';
import type { ApiKeys } from '../api-keys/api-keys.ts';
import type { KeyChanges, ShownKey } from '../api-keys/changes.ts';
import { keyIdOf, type KeyChangeRequest } from '../api-keys/key-request.ts';
import { mergeLimits, toLimitsText } from '../key-limits/definition.ts';
import type { KeyUsage, ListedUsage } from '../key-usage/key-usage.ts';
import type { KeyTokens } from '../short-lived-secrets/key-tokens.ts';
import { deleteAccountKeysTx } from '../api-keys/store.ts';
import type { Act, Principal } from '../../foundation/principal.ts';
import { toInstant } from '../../foundation/clock.ts';
import type { OneTimeCodes } from '../one-time-codes/one-time-codes.ts';
import { randomId } from '../../foundation/crypto/secret.ts';
import type { Transaction } from '../../foundation/database/db.ts';
import { keyDeletions, type RecordingCore } from '../deletion-journal/revocation.ts';
import { recordingChanges, runNarrowing } from '../deletion-journal/run-narrowing.ts';
import { DomainError } from '../../foundation/errors.ts';
import { invitationLifetime, type Links } from '../mail/links.ts';
import type { Mailer } from '../mail/mail.ts';
import { findLiveSession } from '../sessions/store.ts';
import type { ManagedChangeLimits } from '../rate-limits/key-change-limits.ts';
import type { SignInLimits } from '../rate-limits/sign-in-limits.ts';
import * as store from './store.ts';
import { recoverAccountTx, recoveryRepetitions, type ResetEmail } from './recover-account.ts';
import { refuseTaken } from '../self-service/store.ts';

export interface AdministrationOptions extends RecordingCore {
  readonly accounts: Accounts;
  readonly apiKeys: ApiKeys;
  readonly keyChanges: KeyChanges;
  readonly keyUsage: KeyUsage;
  readonly keyTokens: KeyTokens;
  readonly codes: OneTimeCodes;
  readonly links: Links;
  readonly mailer: Mailer;
  readonly signInLimits: SignInLimits;
  /** Undefined for load tests: the changes of management keys are not counted. */
  readonly managedChanges: ManagedChangeLimits | undefined;
}

export class Administration {
  readonly #options: AdministrationOptions;

  constructor(options: AdministrationOptions) {
    this.#options = options;
  }

  /**
   * Creates an account without a password, and sends its owner a link to set one.
   * @returns the id of the account
   * @throws DomainError `mail_not_configured`, `email_invalid`, `account_exists`, `invalid_access_token`
   */
  async invite(principal: Principal, text: string, role: Role): Promise<string> {
    const { db, clock, mailer } = this.#options;
    const act = { principal, now: clock.now() };
    const id = randomId('acc');
    const inviteTx = this.prepareInvitation(act, id, text, role);
    await db.transaction(inviteTx);
    mailer.sendSoon();
    return id;
  }

  /**
   * {@link invite} in a transaction of the caller, who has the mail sent afterwards.
   * @param id of the new account
   * @throws DomainError as `invite`; the result too
   */
  prepareInvitation({ principal, now }: Act, id: string, text: string, role: Role): (tx: Transaction) => Promise<void> {
    if (!this.#options.mailer.isConfigured) throw new DomainError('mail_not_configured');
    const email = parseEmail(text);
    if (!email) throw new DomainError('email_invalid');
    const account = { id, ...email, passwordHash: '', role, now, isUnverified: true };
    const invitation = this.#invitation({ id, email: email.email, role }, now);
    return async (tx) => {
      if (!(await store.inviteAccountTx(tx, principal, account, invitation))) throw new DomainError('account_exists');
    };
  }

  /** Has queued mail sent, after a transaction of {@link prepareInvitation}. */
  sendSoon(): void {
    this.#options.mailer.sendSoon();
  }

  /**
   * @throws DomainError `mail_not_configured`, `account_not_found`, `account_has_password`, `email_unconfirmed`,
   *   `invalid_access_token`
   */
  async inviteAgain(principal: Principal, id: string): Promise<void> {
    const { db, clock, mailer } = this.#options;
    await this.#assertMail(id);
    const now = clock.now();
    await store.inviteAgain(db, { principal, now }, id, (account) => this.#invitation(account, now));
    mailer.sendSoon();
  }

  /**
   * Sends the owner a link to set a new password.
   * @throws DomainError `mail_not_configured`, `account_not_found`, `email_unconfirmed`, `invalid_access_token`
   */
  async sendReset(principal: Principal, id: string): Promise<void> {
    const { db, clock, mailer } = this.#options;
    await this.#assertMail(id);
    const now = clock.now();
    await store.sendReset(db, { principal, now }, id, await this.#reset(id, now, true));
    mailer.sendSoon();
  }

  /**
   * Replaces the limits of the account. They apply to every verification that starts after the change.
   * @throws DomainError `account_not_found`, `invalid_request` if the burst exceeds the limit, `invalid_access_token`,
   *   `invalid_management_key`, `too_many_changes`
   */
  async setLimits(principal: Principal, id: string, value: KeyLimits): Promise<void> {
    const { db, clock } = this.#options;
    const setTx = this.prepareLimits({ principal, now: clock.now() }, id, value);
    await db.transaction(setTx);
  }

  /** {@link setLimits} in a transaction of the caller. @returns the function, which returns whether anything changed */
  prepareLimits(act: Act, id: string, value: KeyLimits): (tx: Transaction) => Promise<boolean> {
    const text = toLimitsText(value, '');
    return (tx) => store.changeLimitsTx(tx, this.#options.managedChanges, act, { id, change: () => text });
  }

  /**
   * Changes the limits that the patch names: null removes one, and the other stays. Otherwise as {@link setLimits}.
   * @throws DomainError as {@link setLimits}
   */
  async changeLimits(principal: Principal, id: string, patch: KeyLimits): Promise<void> {
    const act = { principal, now: this.#options.clock.now() };
    await store.changeLimits(this.#options, act, id, (before) => mergeLimits(before, patch));
  }

  /** Deletes all API keys of the account. @throws DomainError `account_not_found`, `invalid_access_token`, `unavailable` */
  async revokeKeys(principal: Principal, id: string): Promise<void> {
    const { clock, accounts } = this.#options;
    const act = { principal, now: clock.now() };
    const repeatTx = (tx: Transaction): Promise<number[]> => deleteAccountKeysTx(tx, act, id);
    await runNarrowing(this.#options, {
      changeTx: (tx) => store.revokeKeysTx(tx, act, id),
      recordedOf: (keyIds) => keyDeletions(keyIds, act.now),
      repetition: {
        pending: accounts.revocations.unfinished,
        of: () => [{ id, kind: 'delete keys', txs: [repeatTx] }],
      },
    });
  }

  /**
   * Secures a compromised account: ends its sessions, deletes its API keys, clears its password, and sends a link to set a
   * new one to the email address that `to` selects.
   * @throws DomainError `mail_not_configured`, `account_not_found`, `last_administrator`, `email_changed_recently`,
   *   `email_unconfirmed`, `account_exists`, `invalid_request`, `invalid_access_token`, `unavailable`
   */
  async recoverAccount(principal: Principal, id: string, to: ResetEmail = {}): Promise<void> {
    const { clock, accounts, mailer, signInLimits } = this.#options;
    await this.#assertMail(id);
    const now = clock.now();
    const reset = await this.#reset(id, now, false);
    const recovery = { id, to, codeTo: reset, mailer, signInLimits, now };
    const kind = `compromised ${to.resetTo ?? ''} ${to.previousEmail ?? ''}`;
    const recovered = runNarrowing(this.#options, {
      changeTx: (tx) => recoverAccountTx(tx, principal, recovery),
      recordedOf: ({ keyIds }) => [...keyDeletions(keyIds, now), { accountId: id, at: now }],
      afterCommit: () => mailer.sendSoon(),
      repetition: {
        pending: accounts.revocations.unfinished,
        of: ({ epoch }) => [{ id, kind, txs: recoveryRepetitions(principal, recovery, epoch) }],
      },
    });
    await recovered.catch(refuseTaken);
  }

  /**
   * Removes a lost second factor, ends the account's sessions and sends the owner a mail.
   * @throws DomainError `own_account`, `account_not_found`, `second_factor_not_enrolled`, `invalid_access_token`
   */
  async removeSecondFactor(principal: Principal, id: string, clientIp: string): Promise<void> {
    const { db, clock, mailer, revocations } = this.#options;
    // For their own account, administrators use the route that also requires a code.
    if (principal.kind === 'account' && principal.accountId === id) throw new DomainError('own_account');
    const now = clock.now();
    const data = { at: toInstant(now), clientIp };
    const mailTo = (to: string) => mailer.prepare({ to, template: 'second_factor_removed', data });
    await recordingChanges(revocations, { accountId: id, at: now }, () =>
      store.removeSecondFactor(db, { principal, now }, id, mailTo),
    );
    mailer.sendSoon();
  }

  /** @throws DomainError `account_not_found`, `key_not_found`, `invalid_access_token`, `unavailable` */
  async deleteKey(principal: Principal, id: string, keyId: string): Promise<void> {
    const { accounts, apiKeys } = this.#options;
    await accounts.findById(id);
    const key = keyIdOf(keyId);
    if ((await apiKeys.ownerOf(key)) !== id) throw new DomainError('key_not_found');
    await apiKeys.delete(principal, id, key);
  }

  /** @throws DomainError `account_not_found`, `key_not_found` */
  async readKey(id: string, keyId: string): Promise<ShownKey> {
    const { accounts, keyChanges } = this.#options;
    await accounts.findById(id);
    return withoutOwner(() => keyChanges.read(id, keyIdOf(keyId)));
  }

  /** @throws DomainError `account_not_found`, `key_not_found`, `invalid_request`, `usage_not_kept` */
  async listUsage(id: string, keyId: string, query: UsageQuery): Promise<ListedUsage> {
    const { accounts, keyUsage } = this.#options;
    await accounts.findById(id);
    return withoutOwner(() => keyUsage.list(id, keyIdOf(keyId), query));
  }

  /** @throws DomainError `account_not_found`, `key_not_found` */
  async listTokens(id: string, keyId: string): Promise<ShownTokens> {
    const { accounts, keyTokens } = this.#options;
    await accounts.findById(id);
    return withoutOwner(() => keyTokens.list(id, keyIdOf(keyId)));
  }

  /** @throws DomainError `account_not_found`, `key_not_found`, and the errors of {@link KeyChanges.change} */
  async changeKey(principal: Principal, id: string, keyId: string, request: KeyChangeRequest): Promise<ShownKey> {
    const { accounts, keyChanges } = this.#options;
    await accounts.findById(id);
    return withoutOwner(() => keyChanges.change(principal, id, keyIdOf(keyId), request));
  }

  /** @throws DomainError `account_not_found`, `service_account`, `session_not_found`, `invalid_access_token` */
  async endSession(principal: Principal, id: string, sessionId: string): Promise<void> {
    const { db, clock, accounts } = this.#options;
    await accounts.findPerson(id);
    const now = clock.now();
    if (!/^[\w-]{1,64}$/.test(sessionId)) throw new DomainError('session_not_found');
    const isOwn = (await findLiveSession(db, sessionId, now))?.accountId === id;
    // The end of the session, which this read saw, may not have reached the standby yet.
    if (!isOwn) await db.confirm();
    if (!isOwn || !(await store.endSession(db, { principal, now }, id, sessionId)))
      throw new DomainError('session_not_found');
  }

  /** @throws DomainError `mail_not_configured`, `account_not_found`, `service_account` */
  async #assertMail(id: string): Promise<void> {
    if (this.#options.mailer.isConfigured) return;
    await this.#options.accounts.findPerson(id);
    throw new DomainError('mail_not_configured');
  }

  #invitation({ id, email: to, role }: Pick<Account, 'id' | 'email' | 'role'>, now: number): store.CodeByMail {
    const { codes, links, mailer } = this.#options;
    const { id: request, row } = codes.request(now);
    const code = { request, page: 'accept-invitation', lifetime: invitationLifetime(links, role) } as const;
    return {
      code: { ...row, purpose: 'accept_invitation', accountId: id },
      mail: mailer.prepareWithCode({ to, codeTemplate: 'invitation', data: {}, code }),
    };
  }

  /** @param hasKeys whether the account's API keys still work afterwards, so that the mail lists them */
  async #reset(id: string, now: number, hasKeys: boolean): Promise<store.CodeTo> {
    const { apiKeys, codes, links, mailer } = this.#options;
    const { id: request, row } = codes.request(now);
    const keys = hasKeys ? (await apiKeys.list(id)).map(({ nickname }) => nickname) : [];
    const code = { request, page: 'reset-password', lifetime: links.lifetimes.reset } as const;
    return (to) => ({
      code: { ...row, purpose: 'reset_password', accountId: id },
      mail: mailer.prepareWithCode({ to, codeTemplate: 'reset_by_administrator', data: { keys }, code }),
    });
  }
}

/** To an administrator, a key of another account does not exist in this one. */
async function withoutOwner<T>(operation: () => Promise<T>): Promise<T> {
  try {
    return await operation();
  } catch (error) {
    if (error instanceof DomainError && error.code === 'not_key_owner') throw new DomainError('key_not_found');
    throw error;
  }
}
