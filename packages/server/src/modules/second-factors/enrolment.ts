/**
 * An account's own second factor: enrolment, removal and new recovery codes. Enrolment and removal end all sessions of
 * the account except the one that made the change (ASVS 5.0 7.4.3).
 */
import { limits, type AuthenticationResponse, type BegunFactor } from '@keyreeve/contract';
import type { CurrentPassword } from '../accounts/current-password.ts';
import type { Account, Accounts } from '../accounts/accounts.ts';
import type { AccountPrincipal } from '../../foundation/principal.ts';
import { toInstant } from '../../foundation/clock.ts';
import type { Secret } from '../../foundation/crypto/secret.ts';
import { recordingChanges } from '../deletion-journal/run-narrowing.ts';
import type { RecordingCore } from '../deletion-journal/revocation.ts';
import { DomainError, invalidAt } from '../../foundation/errors.ts';
import type { Mailer } from '../mail/mail.ts';
import type { NewJobRow } from '../outbox/store.ts';
import type { SecondFactors } from './second-factors.ts';
import * as store from './enrolment-store.ts';
import type { FactorRow } from './store.ts';

export interface EnrolmentOptions extends RecordingCore {
  readonly accounts: Accounts;
  readonly currentPassword: CurrentPassword;
  readonly secondFactors: SecondFactors;
  readonly passkeys: PasskeyChecks;
  readonly mailer: Mailer;
}

/** Proves, beside the access token, that the client is the account's owner. */
export interface OwnerProof {
  readonly currentPassword: Secret;
  readonly clientIp: string;
}

/** Proves a second factor that is in force: exactly one of both. */
export interface FactorAnswer {
  /** Of the authenticator app, or a recovery code. */
  readonly code?: string | undefined;
  readonly passkey?: AuthenticationResponse | undefined;
}

/** The passkeys of accounts: a later module has them. */
export interface PasskeyChecks {
  /** @returns undefined when the response is not valid @throws DomainError `passkeys_unavailable` */
  readonly check: (accountId: string, response: AuthenticationResponse) => Promise<store.PasskeyProof | undefined>;
  /** Records a copied passkey if the change, which redeems the proof, shows one. */
  readonly reporting: <T>(
    proof: store.PasskeyProof,
    account: { readonly id: string; readonly clientIp: string },
    change: () => Promise<T>,
  ) => Promise<T>;
}

export class Enrolment {
  readonly #options: EnrolmentOptions;

  constructor(options: EnrolmentOptions) {
    this.#options = options;
  }

  /**
   * The second factor is not in force before {@link confirm}.
   * @throws DomainError `password_wrong`, `too_many_attempts`, `overloaded`, `second_factor_exists`, `invalid_access_token`
   */
  async begin(principal: AccountPrincipal, { currentPassword, clientIp }: OwnerProof): Promise<BegunFactor> {
    const { db, clock, secondFactors } = this.#options;
    const account = await this.#options.currentPassword.check(principal, currentPassword, clientIp);
    const { secret, uri, sealed } = secondFactors.newSecret(account.id, account.email);
    if (!(await store.beginEnrolment(db, principal, sealed, clock.now())))
      throw new DomainError('second_factor_exists');
    return { secret, uri };
  }

  /**
   * @returns the recovery codes, which cannot be read again; none if the account has passkeys, because it keeps its codes
   * @throws DomainError `second_factor_wrong`, `second_factor_not_enrolled`, `too_many_attempts`, `invalid_access_token`
   */
  async confirm(principal: AccountPrincipal, code: string, clientIp: string): Promise<string[]> {
    const { db, clock, accounts, secondFactors, mailer } = this.#options;
    const { accountId } = principal;
    const confirmation = await secondFactors.checkNew(accountId, code);
    const { texts, hashes } = secondFactors.newRecoveryCodes(accountId);
    const now = clock.now();
    const { email } = await accounts.find(accountId);
    const mail = mailer.prepare({
      to: email,
      template: 'second_factor_added',
      data: { at: toInstant(now), clientIp },
    });
    const change = { ...confirmation, codeHashes: hashes, mail, now };
    const confirmed = await store.confirmEnrolment(db, principal, change);
    if (confirmed === undefined) throw new DomainError('second_factor_not_enrolled');
    mailer.sendSoon();
    await secondFactors.succeed(accountId);
    return confirmed === 'first' ? texts.map((text) => text.reveal()) : [];
  }

  /**
   * Removes the authenticator app. Passkeys and, beside them, the recovery codes stay. A passkey proves the owner too: the app may
   * be a thief's.
   * @throws DomainError `password_wrong`, `second_factor_wrong`, `second_factor_not_enrolled`, `invalid_request`,
   *   `passkeys_unavailable`, `second_factor_required_by_policy`, `too_many_attempts`, `overloaded`, `invalid_access_token`
   */
  async remove(principal: AccountPrincipal, owner: OwnerProof, answer: FactorAnswer): Promise<void> {
    const { db, clock, mailer, revocations } = this.#options;
    const { account, proof } = await this.#prove(principal, owner, answer, (kind) => kind === 'totp');
    const now = clock.now();
    const mailAbout = (keepsPasskeys: boolean) => this.#removedMail(account, owner.clientIp, now, keepsPasskeys);
    const removal = { proof, mailAbout, now };
    await this.#redeeming(proof, account, owner, () =>
      recordingChanges(revocations, { accountId: account.id, at: now }, () =>
        store.removeOwnFactor(db, principal, removal),
      ),
    );
    mailer.sendSoon();
  }

  /**
   * @returns the new recovery codes, which cannot be read again; the previous ones are deleted
   * @throws DomainError as {@link remove}, except `second_factor_required_by_policy`
   */
  async replaceRecoveryCodes(principal: AccountPrincipal, owner: OwnerProof, answer: FactorAnswer): Promise<string[]> {
    const { db, clock, secondFactors, revocations } = this.#options;
    const { account, proof } = await this.#prove(principal, owner, answer);
    const { texts, hashes } = secondFactors.newRecoveryCodes(account.id);
    const now = clock.now();
    await this.#redeeming(proof, account, owner, () =>
      recordingChanges(revocations, { accountId: account.id, at: now }, () =>
        store.replaceCodes(db, principal, { proof, codeHashes: hashes, now }),
      ),
    );
    await secondFactors.succeed(account.id);
    return texts.map((text) => text.reveal());
  }

  async #prove(
    principal: AccountPrincipal,
    { currentPassword, clientIp }: OwnerProof,
    answer: FactorAnswer,
    isAllowed: (kind: FactorRow['kind']) => boolean = () => true,
  ): Promise<{ account: Account; proof: store.OwnProof }> {
    const { secondFactors } = this.#options;
    if ((answer.code === undefined) === (answer.passkey === undefined)) throw notOne();
    const account = await this.#options.currentPassword.check(principal, currentPassword, clientIp);
    const kind = await secondFactors.kindInForce(account.id);
    if (kind === undefined || !isAllowed(kind)) throw new DomainError('second_factor_not_enrolled');
    const proof = await this.#check(account.id, answer);
    if (!proof) throw new DomainError('second_factor_wrong');
    return { account, proof };
  }

  /** @throws DomainError `invalid_request`, `too_many_attempts`, `passkeys_unavailable` */
  async #check(accountId: string, { code, passkey }: FactorAnswer): Promise<store.OwnProof | undefined> {
    const { secondFactors, passkeys } = this.#options;
    if (code !== undefined && passkey === undefined) return secondFactors.check(accountId, code);
    if (code === undefined && passkey !== undefined)
      return (await secondFactors.reserve(accountId)) ? passkeys.check(accountId, passkey) : undefined;
    throw notOne();
  }

  /** A passkey that is rejected at the change is a wrong second factor, as a code that was used meanwhile. */
  async #redeeming<T>(
    proof: store.OwnProof,
    { id }: Account,
    { clientIp }: OwnerProof,
    change: () => Promise<T>,
  ): Promise<T> {
    const { passkeys } = this.#options;
    if (proof.kind !== 'passkey') return change();
    try {
      return await passkeys.reporting(proof, { id, clientIp }, change);
    } catch (error) {
      throw error instanceof DomainError && error.code === 'passkey_rejected'
        ? new DomainError('second_factor_wrong', { cause: error })
        : error;
    }
  }

  #removedMail(account: Account, clientIp: string, now: number, keepsPasskeys: boolean): NewJobRow | undefined {
    const data = { at: toInstant(now), clientIp: clientIp.slice(0, limits.addressCharsMax) };
    const template = keepsPasskeys ? 'authenticator_removed' : 'second_factor_removed';
    return this.#options.mailer.prepare({ to: account.email, template, data });
  }
}

const notOne = (): DomainError => invalidAt('/code', 'Expected either `code` or `passkey`.');
