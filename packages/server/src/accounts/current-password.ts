/**
 * A password that is asked for beside an access token or a code: counted before it is looked at, as at a sign-in (ASVS 5.0
 * 6.2.3, 7.5.1).
 */
import type { AccountPrincipal } from '../audit/audit.ts';
import type { PasswordHasher } from '../crypto/password.ts';
import type { Secret } from '../crypto/secret.ts';
import type { Db } from '../db/db.ts';
import { DomainError } from '../errors.ts';
import type { LoginAttempt, LoginThrottle } from '../throttle/login-throttle.ts';
import { normalizePassword } from './password-rules.ts';
import * as store from './store.ts';

export interface CurrentPasswordOptions {
  readonly db: Db;
  readonly hasher: PasswordHasher;
  readonly throttle: LoginThrottle;
}

export interface PasswordCheck extends LoginAttempt {
  readonly password: Secret;
  /** What it is compared with; empty when there is none, and then nothing matches. */
  readonly hash: string;
  /** What a wrong one is answered with. */
  readonly refusal: 'password_wrong' | 'invalid_credentials';
}

export class CurrentPassword {
  readonly #options: CurrentPasswordOptions;

  constructor(options: CurrentPasswordOptions) {
    this.#options = options;
  }

  /**
   * Of the account that asks.
   * @param address of the client
   * @returns the account, as it was when it had this password
   * @throws DomainError `password_wrong`, `too_many_attempts`, `overloaded`, `invalid_access_token` when the account is gone
   */
  async check({ accountId }: AccountPrincipal, password: Secret, address: string): Promise<store.CredentialsRow> {
    const account = await store.findCredentialsById(this.#options.db, accountId);
    if (!account) throw new DomainError('invalid_access_token');
    const { emailKey, passwordHash: hash } = account;
    await this.assertMatches({ emailKey, address, password, hash, refusal: 'password_wrong' });
    return account;
  }

  /** @throws DomainError the refusal, `too_many_attempts`, `overloaded` */
  async assertMatches({ password, hash, refusal, ...attempt }: PasswordCheck): Promise<void> {
    const { hasher, throttle } = this.#options;
    hasher.assertCapacity();
    await throttle.reserve(attempt);
    const typed = password.reveal();
    const isRight = await hasher.verify(normalizePassword(typed), hash, typed).catch(async (error: unknown) => {
      await throttle.release(attempt);
      throw error;
    });
    if (!isRight) throw new DomainError(refusal);
    // Not forgiven: it is no sign-in, so what failed before goes on counting.
    await throttle.release(attempt);
  }
}
