/**
 * Verifies a password that a request contains beside an access token or a one-time code. Each check is counted before it
 * runs (ASVS 5.0 6.2.3, 7.5.1), per session or per code, so that another client cannot use up the owner's limit.
 */
import type { AccountPrincipal } from '../../foundation/principal.ts';
import type { PasswordHasher } from '../../foundation/crypto/password.ts';
import type { Secret } from '../../foundation/crypto/secret.ts';
import type { Db } from '../../foundation/database/db.ts';
import { DomainError } from '../../foundation/errors.ts';
import type { SecondFactorLimits } from '../rate-limits/second-factor-limits.ts';
import type { SignInAttempt } from '../rate-limits/sign-in-limits.ts';
import type { PasswordChecks } from '../rate-limits/password-checks.ts';
import type { RequestLimits } from '../rate-limits/request-limits.ts';
import { normalizePassword } from './password-rules.ts';
import * as store from './store.ts';

export interface CurrentPasswordOptions {
  readonly db: Db;
  readonly hasher: PasswordHasher;
  readonly checks: PasswordChecks;
  readonly secondFactorLimits: SecondFactorLimits;
  readonly requests: RequestLimits;
}

export class CurrentPassword {
  readonly #options: CurrentPasswordOptions;

  constructor(options: CurrentPasswordOptions) {
    this.#options = options;
  }

  /**
   * Verifies the password of the account that the access token belongs to.
   * @returns the account as of the check
   * @throws DomainError `password_wrong`, `too_many_attempts`, `overloaded`, `invalid_access_token` when the account has been deleted
   */
  async check(
    { accountId, sessionId }: AccountPrincipal,
    password: Secret,
    clientIp: string,
  ): Promise<store.CredentialsRow> {
    const { db, checks, secondFactorLimits } = this.#options;
    const account = await store.findCredentialsById(db, accountId);
    if (!account) throw new DomainError('invalid_access_token');
    const session = { sessionId };
    await checks.run({ canonicalEmail: account.canonicalEmail, clientIp, isTrusted: true }, async () => {
      await secondFactorLimits.reserve(session);
      const isRight = await this.#matches(password, account.passwordHash).catch(async (error: unknown) => {
        await secondFactorLimits.release(session);
        throw error;
      });
      if (!isRight) throw new DomainError('password_wrong');
      await secondFactorLimits.succeed(session);
    });
    return account;
  }

  /**
   * Verifies the password of the account, or of the sign-up, that a one-time code was sent for.
   * @param codeHash of a valid code
   * @param attempt email and client IP, for the limits of sign-ins
   * @param hash empty when there is no password; no password matches it
   * @throws DomainError `invalid_credentials`, `too_many_requests`, `too_many_attempts`, `overloaded`
   */
  async checkWithCode(codeHash: Buffer, attempt: SignInAttempt, password: Secret, hash: string): Promise<void> {
    const { checks, requests } = this.#options;
    await checks.run({ ...attempt, isTrusted: true }, async () => {
      await requests.countCodeTry(codeHash);
      if (!(await this.#matches(password, hash))) throw new DomainError('invalid_credentials');
    });
  }

  #matches(password: Secret, hash: string): Promise<boolean> {
    const typed = password.reveal();
    return this.#options.hasher.verify(normalizePassword(typed), hash, typed);
  }
}
