/**
 * An account's own second factor: enrolment, removal and new recovery codes. Enrolment and removal end all sessions of
 * the account except the one that made the change (ASVS 5.0 7.4.3).
 */
import { limits, type BegunFactor } from '@keyreeve/contract';
import type { CurrentPassword } from '../accounts/current-password.ts';
import type { Account, Accounts } from '../accounts/accounts.ts';
import type { AccountPrincipal } from '../../foundation/principal.ts';
import { toInstant } from '../../foundation/clock.ts';
import { recordingChanges } from '../deletion-journal/run-narrowing.ts';
import type { RecordingCore } from '../deletion-journal/revocation.ts';
import { DomainError } from '../../foundation/errors.ts';
import type { Mailer } from '../mail/mail.ts';
import type { NewJobRow } from '../outbox/store.ts';
import type { SecondFactors } from './second-factors.ts';
import * as store from './enrolment-store.ts';
import type { FactorAnswer, OwnerProof, OwnerProofs } from './owner-proofs.ts';

export interface EnrolmentOptions extends RecordingCore {
  readonly accounts: Accounts;
  readonly currentPassword: CurrentPassword;
  readonly secondFactors: SecondFactors;
  readonly ownerProofs: OwnerProofs;
  readonly mailer: Mailer;
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
    const { db, clock, mailer, ownerProofs, revocations } = this.#options;
    const proven = await ownerProofs.check(principal, owner, answer, (kind) => kind === 'totp');
    const { account, proof } = proven;
    const now = clock.now();
    const mailAbout = (keepsPasskeys: boolean) => this.#removedMail(account, owner.clientIp, now, keepsPasskeys);
    const removal = { proof, mailAbout, now };
    await ownerProofs.redeeming(proven, () =>
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
    const { db, clock, ownerProofs, secondFactors, revocations } = this.#options;
    const proven = await ownerProofs.check(principal, owner, answer);
    const { account, proof } = proven;
    const { texts, hashes } = secondFactors.newRecoveryCodes(account.id);
    const now = clock.now();
    await ownerProofs.redeeming(proven, () =>
      recordingChanges(revocations, { accountId: account.id, at: now }, () =>
        store.replaceCodes(db, principal, { proof, codeHashes: hashes, now }),
      ),
    );
    await ownerProofs.succeed(proven);
    return texts.map((text) => text.reveal());
  }

  #removedMail(account: Account, clientIp: string, now: number, keepsPasskeys: boolean): NewJobRow | undefined {
    const data = { at: toInstant(now), clientIp: clientIp.slice(0, limits.addressCharsMax) };
    const template = keepsPasskeys ? 'authenticator_removed' : 'second_factor_removed';
    return this.#options.mailer.prepare({ to: account.email, template, data });
  }
}
