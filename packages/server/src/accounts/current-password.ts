/** The password at hand, for what a session alone isn't enough for (ASVS 5.0 6.2.3, 7.5.1). */
import type { AccountPrincipal } from '../audit/audit.ts';
import type { PasswordHasher } from '../crypto/password.ts';
import type { Secret } from '../crypto/secret.ts';
import type { Db } from '../db/db.ts';
import { DomainError } from '../errors.ts';
import type { LoginThrottle } from '../throttle/login-throttle.ts';
import { normalizePassword } from './password-rules.ts';
import * as store from './store.ts';

export interface CurrentPasswordOptions {
  readonly db: Db;
  readonly hasher: PasswordHasher;
  readonly throttle: LoginThrottle;
}

export class CurrentPassword {
  readonly #options: CurrentPasswordOptions;

  constructor(options: CurrentPasswordOptions) {
    this.#options = options;
  }

  /**
   * Counted like a sign-in, before it is looked at.
   * @param address of the client
   * @returns the account, as it was
   * @throws DomainError `password_wrong`, `too_many_attempts`, `overloaded`, `invalid_access_token` when the account is gone
   */
  async check({ accountId }: AccountPrincipal, password: Secret, address: string): Promise<store.AccountRow> {
    const { db, hasher, throttle } = this.#options;
    hasher.assertCapacity();
    const account = await store.findAccount(db, accountId, '');
    if (!account) throw new DomainError('invalid_access_token');
    const attempt = { emailKey: account.emailKey, address };
    await throttle.reserve(attempt);
    const isRight = await this.#isRight(account, password.reveal()).catch(async (error: unknown) => {
      await throttle.release(attempt);
      throw error;
    });
    if (!isRight) throw new DomainError('password_wrong');
    // Not forgiven: it is no sign-in, so what failed before goes on counting.
    await throttle.release(attempt);
    return account;
  }

  async #isRight({ id, emailKey }: store.AccountRow, password: string): Promise<boolean> {
    const { db, hasher } = this.#options;
    const found = await store.findCredentials(db, emailKey);
    // The email may have become another account's meanwhile. Empty while an invited account has none.
    const hash = found?.id === id ? found.passwordHash : '';
    return hasher.verify(normalizePassword(password), hash || undefined, password);
  }
}
