/**
 * Accounts and keys of a proof's own, made beside the service, and removed after it whatever happens. Keys are made
 * here and not over HTTP because that is limited to some a minute and account; what is proven is how they end.
 */
import { generatePassword, type Accounts } from '../accounts/accounts.ts';
import type { ApiKeys } from '../api-keys/api-keys.ts';
import type { Principal } from '../audit/audit.ts';
import { randomBase62 } from '../crypto/secret.ts';
import { DomainError } from '../errors.ts';
import type { AccountState } from './history.ts';

export interface CanaryAccount {
  readonly id: string;
  readonly email: string;
  readonly password: string;
}

export interface CanaryKey {
  readonly id: number;
  readonly secret: string;
  readonly accountId: string;
}

export interface CanariesOptions {
  readonly accounts: Accounts;
  readonly apiKeys: ApiKeys;
  /** How many deletions of each of the account's keys the audit trail records, by the key's id. */
  readonly deletionsRecorded: (accountId: string) => Promise<ReadonlyMap<number, number>>;
}

const operator: Principal = { kind: 'operator' };

export class Canaries {
  readonly #options: CanariesOptions;
  /** From before they are made: one whose creation was never answered may be there. */
  readonly #emails = new Set<string>();
  #keys = 0;

  constructor(options: CanariesOptions) {
    this.#options = options;
  }

  async newAccount(): Promise<CanaryAccount> {
    const email = `canary-${randomBase62(16)}@prove-revocation.invalid`;
    const password = generatePassword();
    this.#emails.add(email);
    const { id } = await this.#options.accounts.create(operator, email, password, 'user');
    return { id, email, password: password.reveal() };
  }

  async newKey(accountId: string, scopes: readonly string[] = []): Promise<CanaryKey> {
    const nickname = `canary ${++this.#keys}`;
    const { id, secret } = await this.#options.apiKeys.create(operator, accountId, { nickname, scopes });
    return { id, secret: secret.reveal(), accountId };
  }

  async change(accountId: string, to: AccountState): Promise<void> {
    const { accounts } = this.#options;
    await (to === 'disabled' ? accounts.disable(operator, accountId) : accounts.enable(operator, accountId));
  }

  deletionsRecorded(accountId: string): Promise<ReadonlyMap<number, number>> {
    return this.#options.deletionsRecorded(accountId);
  }

  /** Deletes keys whose creation was never answered: an account holds so many. */
  async removeStrays(accountId: string, isKnown: (id: number) => boolean): Promise<void> {
    for (const { id } of await this.#options.apiKeys.list(accountId)) {
      if (!isKnown(id)) await this.#options.apiKeys.delete(operator, accountId, id);
    }
  }

  /** All of them. @returns the emails of those that couldn't be removed */
  async removeAll(): Promise<readonly string[]> {
    for (const email of this.#emails) {
      try {
        await this.#options.accounts.delete(operator, email);
        this.#emails.delete(email);
      } catch (error) {
        if (error instanceof DomainError && error.code === 'account_not_found') this.#emails.delete(email);
      }
    }
    return [...this.#emails];
  }
}
