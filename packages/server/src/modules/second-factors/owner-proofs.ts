/**
 * Proves that the client is the account's owner: by the password and a second factor in the request itself, however recent the
 * sign-in is. A thief of a session has neither. `check` verifies both, and the transaction of the operation redeems the second
 * factor: it is used if and only if the operation commits, and only one of several concurrent requests succeeds.
 */
import type { AuthenticationResponse } from '@keyreeve/contract';
import type { CurrentPassword } from '../accounts/current-password.ts';
import type { CredentialsRow } from '../accounts/store.ts';
import type { Secret } from '../../foundation/crypto/secret.ts';
import type { Transaction } from '../../foundation/database/db.ts';
import { DomainError, invalidAt } from '../../foundation/errors.ts';
import type { AccountPrincipal } from '../../foundation/principal.ts';
import { redeemProofTx, type FactorProof, type FactorUse, type SecondFactors } from './second-factors.ts';
import type { FactorRow } from './store.ts';

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

/** A passkey that was valid when it was checked. */
export interface PasskeyProof {
  readonly kind: 'passkey';
  /** Throws DomainError when another request has used the response first. */
  readonly redeemTx: (tx: Transaction, use: FactorUse) => Promise<void>;
}

export type OwnProof = FactorProof | PasskeyProof;

/** The passkeys of accounts: a later module has them. */
export interface PasskeyChecks {
  /** @returns undefined when the response is not valid @throws DomainError `passkeys_unavailable` */
  readonly check: (accountId: string, response: AuthenticationResponse) => Promise<PasskeyProof | undefined>;
  /** Records a copied passkey if the change, which redeems the proof, shows one. */
  readonly reporting: <T>(
    proof: PasskeyProof,
    account: { readonly id: string; readonly clientIp: string },
    change: () => Promise<T>,
  ) => Promise<T>;
}

/** A password and a second factor that were right when they were checked. */
export interface ProvenOwner {
  readonly account: CredentialsRow;
  readonly proof: OwnProof;
  readonly clientIp: string;
}

export interface OwnerProofsOptions {
  readonly currentPassword: CurrentPassword;
  readonly secondFactors: SecondFactors;
  readonly passkeys: PasskeyChecks;
}

export class OwnerProofs {
  readonly #options: OwnerProofsOptions;

  constructor(options: OwnerProofsOptions) {
    this.#options = options;
  }

  /**
   * Each guess is counted before it is checked.
   * @param isAllowed which kind of second factor the operation needs
   * @throws DomainError `invalid_request`, `password_wrong`, `second_factor_wrong`, `second_factor_not_enrolled`,
   *   `passkeys_unavailable`, `too_many_attempts`, `overloaded`, `invalid_access_token` when the account has been deleted
   */
  async check(
    principal: AccountPrincipal,
    { currentPassword, clientIp }: OwnerProof,
    answer: FactorAnswer,
    isAllowed: (kind: FactorRow['kind']) => boolean = () => true,
  ): Promise<ProvenOwner> {
    const { secondFactors } = this.#options;
    if ((answer.code === undefined) === (answer.passkey === undefined)) throw notOne();
    const account = await this.#options.currentPassword.check(principal, currentPassword, clientIp);
    const kind = await secondFactors.kindInForce(account.id);
    if (kind === undefined || !isAllowed(kind)) throw new DomainError('second_factor_not_enrolled');
    const proof = await this.#checkFactor(account.id, answer);
    if (!proof) throw new DomainError('second_factor_wrong');
    return { account, proof, clientIp };
  }

  /** @throws DomainError `invalid_request`, `too_many_attempts`, `passkeys_unavailable` */
  async #checkFactor(accountId: string, { code, passkey }: FactorAnswer): Promise<OwnProof | undefined> {
    const { secondFactors, passkeys } = this.#options;
    if (code !== undefined && passkey === undefined) return secondFactors.check(accountId, code);
    if (code === undefined && passkey !== undefined)
      return (await secondFactors.reserve(accountId)) ? passkeys.check(accountId, passkey) : undefined;
    throw notOne();
  }

  /**
   * Runs a change whose transaction calls {@link redeemOwnProofTx}. A passkey that is rejected there is a wrong second factor, as
   * a code that was used meanwhile.
   */
  async redeeming<T>({ account, proof, clientIp }: ProvenOwner, change: () => Promise<T>): Promise<T> {
    if (proof.kind !== 'passkey') return change();
    try {
      return await this.#options.passkeys.reporting(proof, { id: account.id, clientIp }, change);
    } catch (error) {
      throw error instanceof DomainError && error.code === 'passkey_rejected'
        ? new DomainError('second_factor_wrong', { cause: error })
        : error;
    }
  }

  /** Resets the count of guesses, after the operation has committed. */
  async succeed({ account }: ProvenOwner): Promise<void> {
    await this.#options.secondFactors.succeed(account.id);
  }
}

/**
 * @returns the number of remaining recovery codes, if the proof was one
 * @throws DomainError `second_factor_wrong` when another request has used the code, `passkey_rejected`
 */
export async function redeemOwnProofTx(
  tx: Transaction,
  principal: AccountPrincipal,
  proof: OwnProof,
  now: number,
): Promise<{ readonly codesLeft?: number }> {
  // No sign-in: it does not vouch for the factor.
  const use = { now, from: null };
  if (proof.kind === 'passkey') {
    await proof.redeemTx(tx, use);
    return {};
  }
  const redeemed = await redeemProofTx(tx, principal, proof, use);
  if (!redeemed) throw new DomainError('second_factor_wrong');
  return redeemed;
}

const notOne = (): DomainError => invalidAt('/code', 'Expected either `code` or `passkey`.');
