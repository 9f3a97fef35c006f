/**
 * Creates the first administrator with a one-time code. There is no default account, and the first sign-up gets no rights.
 * The command line writes the code to a file, so access to the machine authorizes the creation.
 */
import { limits } from '@keyreeve/contract';
import { acceptNewPassword, type PasswordRules } from '../accounts/password-rules.ts';
import { hasAdministrator } from '../accounts/administrators-store.ts';
import { parseEmail } from '../accounts/email.ts';
import type { Core } from '../../foundation/core.ts';
import type { OneTimeCodes } from '../one-time-codes/one-time-codes.ts';
import { findCode } from '../one-time-codes/store.ts';
import type { PasswordHasher } from '../../foundation/crypto/password.ts';
import { randomId, type Secret } from '../../foundation/crypto/secret.ts';
import { DomainError } from '../../foundation/errors.ts';
import * as store from './store.ts';

export interface FirstAdministratorOptions extends Core {
  readonly codes: OneTimeCodes;
  readonly hasher: PasswordHasher;
  readonly rules: PasswordRules;
  /** Called when the first administrator has been created. */
  readonly onCreated?: () => void;
}

export class FirstAdministrator {
  readonly #options: FirstAdministratorOptions;

  constructor(options: FirstAdministratorOptions) {
    this.#options = options;
  }

  /**
   * Creates a code, which replaces earlier ones.
   * @param save stores the code for the operator; if it throws, no code is created
   * @throws DomainError `administrator_exists`
   */
  async createCode(save: (text: Secret) => void): Promise<{ expiresAt: number }> {
    const { text, row } = this.#newCode();
    save(text);
    await store.insertFirstCode(this.#options.db, row);
    return { expiresAt: row.expiresAt };
  }

  /**
   * Creates a code only if it is needed: an operator who has a valid code can use it.
   * @param save as for {@link createCode}; what it has saved is not valid if the result is undefined
   * @returns undefined if an administrator or a valid code exists
   */
  async createOnlyCode(save: (text: Secret) => void): Promise<{ expiresAt: number } | undefined> {
    const { text, row } = this.#newCode();
    save(text);
    return (await store.insertOnlyFirstCode(this.#options.db, row)) ? { expiresAt: row.expiresAt } : undefined;
  }

  /** @returns the time until which the code is valid; undefined if it is not valid */
  async validUntil(text: Secret): Promise<number | undefined> {
    const { db, clock, codes } = this.#options;
    const hash = codes.hashOf(text.reveal());
    return hash && (await findCode(db, hash, 'first_administrator', clock.now()))?.expiresAt;
  }

  administratorExists(): Promise<boolean> {
    return hasAdministrator(this.#options.db);
  }

  #newCode() {
    const { text, hash } = this.#options.codes.make();
    const now = this.#options.clock.now();
    const expiresAt = now + limits.firstAdministratorCodeSeconds * 1000;
    return { text, row: { hash, purpose: 'first_administrator', accountId: null, now, expiresAt } as const };
  }

  /**
   * Verifies the code before the password is hashed, and uses it up in the transaction that creates the account.
   * @throws DomainError `code_invalid` (also if an administrator exists), `email_invalid`, `password_…`,
   *   `account_exists`, `overloaded`
   */
  async create(codeText: string, emailText: string, password: Secret) {
    const { db, clock, codes, hasher, rules } = this.#options;
    const codeHash = codes.hashOf(codeText);
    const isKnown = codeHash && (await findCode(db, codeHash, 'first_administrator', clock.now()));
    if (!codeHash || !isKnown) throw new DomainError('code_invalid');
    const email = parseEmail(emailText);
    if (!email) throw new DomainError('email_invalid');
    const passwordHash = await hasher.hash(acceptNewPassword(password.reveal(), email, rules));
    const id = randomId('acc');
    const now = clock.now();
    const account = { id, ...email, passwordHash, role: 'admin', now } as const;
    // The command line issued the code, so the actor is the operator.
    if (!(await store.createFirst(db, { kind: 'operator' }, codeHash, account))) throw new DomainError('code_invalid');
    this.#options.onCreated?.();
    return { id, email: account.email, role: account.role };
  }
}
