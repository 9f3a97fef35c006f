/**
 * The first administrator: there is no default account, and whoever signs up first is an account like any other.
 * Who can write a file on the machine gets a code; who has the code makes the account, once.
 */
import { limits } from '@keyreeve/contract';
import { acceptNewPassword, type PasswordRules } from '../accounts/password-rules.ts';
import { parseEmail } from '../accounts/email.ts';
import type { Clock } from '../../foundation/clock.ts';
import type { OneTimeCodes } from '../one-time-codes/one-time-codes.ts';
import { findCode } from '../one-time-codes/store.ts';
import type { PasswordHasher } from '../../foundation/crypto/password.ts';
import { randomId, type Secret } from '../../foundation/crypto/secret.ts';
import type { Db } from '../../foundation/database/db.ts';
import { DomainError } from '../../foundation/errors.ts';
import * as store from './store.ts';

export interface FirstAdministratorOptions {
  readonly db: Db;
  readonly clock: Clock;
  readonly codes: OneTimeCodes;
  readonly hasher: PasswordHasher;
  readonly rules: PasswordRules;
}

export class FirstAdministrator {
  readonly #options: FirstAdministratorOptions;

  constructor(options: FirstAdministratorOptions) {
    this.#options = options;
  }

  /**
   * A code that replaces those before.
   * @param keep puts it where its owner finds it; when that fails there is no code
   * @throws DomainError `administrator_exists`
   */
  async makeCode(keep: (text: Secret) => void): Promise<{ expiresAt: number }> {
    const { db, clock, codes } = this.#options;
    const { text, hash } = codes.make();
    const now = clock.now();
    const expiresAt = now + limits.firstAdministratorCodeSeconds * 1000;
    keep(text);
    await store.insertFirstCode(db, { hash, purpose: 'first_administrator', accountId: null, now, expiresAt });
    return { expiresAt };
  }

  /**
   * The code is looked at before anything costly is done, and taken with the account's making.
   * @throws DomainError `code_invalid` also while there is an administrator, `email_invalid`, `password_…`,
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
    const account = {
      id,
      email: email.email,
      canonicalEmail: email.canonicalEmail,
      passwordHash,
      role: 'admin',
      now,
    } as const;
    // Who has the code has the machine's word for it.
    if (!(await store.createFirst(db, { kind: 'operator' }, codeHash, account))) throw new DomainError('code_invalid');
    return { id, email: account.email, role: account.role };
  }
}
