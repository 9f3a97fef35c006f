/**
 * Verification of second factors in two steps. `check` verifies a code and keeps it. The transaction of the operation then
 * redeems it: a code is used if and only if the operation commits, and only one of several concurrent requests succeeds.
 */
import { limits } from '@keyreeve/contract';
import type { AccountPrincipal } from '../../foundation/principal.ts';
import { recordEventTx } from '../audit/audit.ts';
import type { Core } from '../../foundation/core.ts';
import type { KeyedHash } from '../../foundation/crypto/keyed-hash.ts';
import type { Sealer } from '../../foundation/crypto/seal.ts';
import type { Secret } from '../../foundation/crypto/secret.ts';
import type { Transaction } from '../../foundation/database/db.ts';
import { DomainError } from '../../foundation/errors.ts';
import type { SecondFactorLimits } from '../rate-limits/second-factor-limits.ts';
import { makeRecoveryCode, recoveryCodeHash } from './recovery-code.ts';
import * as store from './store.ts';
import { isTotpCode, newTotpSecret, stepOf, totpUri } from './totp.ts';

/** A code that was valid when it was checked. */
export type FactorProof =
  | { readonly kind: 'totp'; readonly step: number }
  | { readonly kind: 'recovery_code'; readonly hash: Uint8Array };

/** An enrolment whose code was valid when it was checked. */
export interface FactorConfirmation {
  readonly sealed: Uint8Array;
  readonly step: number;
}

export interface SecondFactorsOptions extends Core {
  readonly seal: Sealer;
  readonly codeHash: KeyedHash;
  readonly secondFactorLimits: SecondFactorLimits;
  /** Shown by the user's authenticator app. */
  readonly issuer: string;
}

export class SecondFactors {
  readonly #options: SecondFactorsOptions;

  constructor(options: SecondFactorsOptions) {
    this.#options = options;
  }

  /** @returns undefined when no second factor is in force: a sign-in needs none */
  async kindInForce(accountId: string): Promise<store.FactorRow['kind'] | undefined> {
    const factor = await store.findFactor(this.#options.db, accountId);
    return factor && factor.confirmedAt !== null ? factor.kind : undefined;
  }

  /**
   * Counts an attempt to sign in with a passkey as second factor, as a code is counted. {@link succeed} resets the count.
   * @returns false when no second factor is in force
   * @throws DomainError `too_many_attempts`
   */
  async reserve(accountId: string): Promise<boolean> {
    const { db, secondFactorLimits } = this.#options;
    const factor = await store.findFactor(db, accountId);
    if (!factor || factor.confirmedAt === null) return false;
    await secondFactorLimits.reserve(factor);
    return true;
  }

  /**
   * Checks an authenticator code or a recovery code and keeps it. Authenticator codes are counted first, against guessing.
   * @returns undefined when the code is wrong, or no second factor is in force
   * @throws DomainError `too_many_attempts`
   */
  async check(accountId: string, text: string): Promise<FactorProof | undefined> {
    const { db, clock, seal, codeHash, secondFactorLimits } = this.#options;
    if (text.length > limits.oneTimePasswordCharsMax) return undefined;
    if (!isTotpCode(text)) {
      const hash = recoveryCodeHash(codeHash, accountId, text);
      const isHeld = hash !== undefined && (await store.hasRecoveryCode(db, accountId, hash));
      return isHeld ? { kind: 'recovery_code', hash } : undefined;
    }
    const factor = await store.findFactor(db, accountId);
    if (!factor || factor.confirmedAt === null) return undefined;
    await secondFactorLimits.reserve(factor);
    if (factor.secret === null) return undefined;
    const step = stepOf(seal.open(accountId, factor.secret), text, clock.now());
    return step === undefined || step <= factor.lastStep ? undefined : { kind: 'totp', step };
  }

  /** Resets the count of guesses, after the operation has committed. */
  async succeed(accountId: string): Promise<void> {
    const { db, secondFactorLimits } = this.#options;
    const factor = await store.findFactor(db, accountId);
    if (factor) await secondFactorLimits.succeed(factor);
  }

  /** @returns a new secret: as text, as URI for a QR code, and encrypted for its row */
  newSecret(accountId: string, label: string): { secret: string; uri: string; sealed: Buffer } {
    const { seal, issuer } = this.#options;
    const secret = newTotpSecret();
    return { secret, uri: totpUri(secret, issuer, label), sealed: seal.seal(accountId, secret) };
  }

  /**
   * Checks the code that finishes an enrolment. Guesses are counted first.
   * @throws DomainError `second_factor_not_enrolled`, `second_factor_wrong`, `too_many_attempts`
   */
  async checkNew(accountId: string, code: string): Promise<FactorConfirmation> {
    const { db, clock, seal, secondFactorLimits } = this.#options;
    if (!isTotpCode(code)) throw new DomainError('second_factor_wrong');
    const factor = await store.findFactor(db, accountId);
    const now = clock.now();
    const begun = factor && begunEnrolment(factor);
    if (!begun || now - begun.at > limits.secondFactorEnrolmentSeconds * 1000)
      throw new DomainError('second_factor_not_enrolled');
    await secondFactorLimits.reserve(factor);
    const step = stepOf(seal.open(accountId, begun.sealed), code, now);
    if (step === undefined) throw new DomainError('second_factor_wrong');
    return { sealed: begun.sealed, step };
  }

  newRecoveryCodes(accountId: string): { texts: readonly Secret[]; hashes: readonly Buffer[] } {
    const texts = Array.from({ length: limits.recoveryCodesMax }, makeRecoveryCode);
    const hashes = texts.map((text) => recoveryCodeHash(this.#options.codeHash, accountId, text.reveal()));
    return { texts, hashes: hashes.filter((hash) => hash !== undefined) };
  }
}

/** @returns the secret to confirm, and the time at which the enrolment began; undefined when none has begun */
function begunEnrolment(factor: store.FactorRow): { sealed: Uint8Array; at: number } | undefined {
  const { confirmedAt, secret, createdAt, pendingSecret, pendingAt } = factor;
  if (confirmedAt === null) return secret === null ? undefined : { sealed: secret, at: createdAt };
  return pendingSecret === null || pendingAt === null ? undefined : { sealed: pendingSecret, at: pendingAt };
}

export interface FactorUse {
  /** Milliseconds. */
  readonly now: number;
  /** The client IP range of a sign-in, which vouches for the factor; null: it does not. */
  readonly from: string | null;
}

/** @returns undefined when another request has used the code; otherwise the number of remaining recovery codes, if it was one */
export async function redeemProofTx(
  tx: Transaction,
  principal: AccountPrincipal,
  proof: FactorProof,
  { now, from }: FactorUse,
): Promise<{ readonly codesLeft?: number } | undefined> {
  const { accountId } = principal;
  if (proof.kind === 'totp') return (await store.acceptStepTx(tx, accountId, proof.step, from)) ? {} : undefined;
  if (!(await store.redeemRecoveryCodeTx(tx, accountId, proof.hash))) return undefined;
  const codesLeft = await store.countRecoveryCodesTx(tx, accountId);
  // The keyed hash of the code: a restore of an older backup removes this code again (deletion-journal/).
  const details = { left: codesLeft, code: Buffer.from(proof.hash).toString('hex') };
  await recordEventTx(tx, { at: now, principal, action: 'recovery_code.used', accountId, details });
  return { codesLeft };
}
