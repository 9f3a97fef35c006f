/** Accounts: making them, finding them, and judging whether an email and a password belong together. */
import { limits } from '@keyreeve/contract';
import type { Principal } from '../audit/audit.ts';
import { findAbilityEvent } from '../audit/store.ts';
import type { Clock } from '../clock.ts';
import type { PasswordHasher } from '../crypto/password.ts';
import { randomBase62, randomId, Secret } from '../crypto/secret.ts';
import type { Db } from '../db/db.ts';
import { revocationsOf, type Revocations } from '../deletion-journal/revocation.ts';
import { DomainError } from '../errors.ts';
import type { LoginThrottle } from '../throttle/login-throttle.ts';
import { parseEmail, type Email } from './email.ts';
import { acceptNewPassword, normalizePassword, type PasswordRules } from './password-rules.ts';
import * as store from './store.ts';

export type Account = store.AccountRow;
export type { Role } from './store.ts';

/** An account whose password was right, with what a session must carry. */
export interface AuthenticatedAccount {
  readonly id: string;
  readonly sessionEpoch: number;
}

export interface AccountsOptions {
  readonly db: Db;
  readonly clock: Clock;
  readonly hasher: PasswordHasher;
  readonly rules: PasswordRules;
  readonly throttle: LoginThrottle;
  /** None where no journal is kept. */
  readonly revocations?: Revocations | undefined;
}

/** Characters of a generated password: 178 bits. */
const generatedPasswordChars = 30;
/** No index serves this order, so each page costs a pass over all. */
const accountsPerPage = 5_000;

export class Accounts {
  readonly #options: AccountsOptions;

  constructor(options: AccountsOptions) {
    this.#options = options;
  }

  /** @throws DomainError `email_invalid`, `password_…`, `account_exists` */
  async create(principal: Principal, text: string, password: Secret, role: store.Role): Promise<Account> {
    const { db, clock, hasher } = this.#options;
    const email = acceptEmail(text);
    const passwordHash = await hasher.hash(this.#acceptPassword(password, email));
    const id = randomId('acc');
    const now = clock.now();
    const account = { id, email: email.address, emailKey: email.key, passwordHash, role, now };
    if (!(await store.createAccount(db, principal, account))) throw new DomainError('account_exists');
    return this.find(id);
  }

  /** By id or email. @throws DomainError `account_not_found` */
  async find(idOrEmail: string): Promise<Account> {
    const account = await store.findAccount(this.#options.db, idOrEmail, parseEmail(idOrEmail)?.key ?? '');
    if (!account) throw new DomainError('account_not_found', { detail: `There is no account ${idOrEmail}.` });
    return account;
  }

  /** All accounts, oldest first, in pages of bounded memory. */
  async *list(): AsyncGenerator<Account> {
    let last: Account | undefined;
    for (;;) {
      const page = await store.listAccounts(this.#options.db, last, accountsPerPage);
      yield* page;
      if (page.length < accountsPerPage) return;
      last = page.at(-1);
    }
  }

  /** Ends every session and forgets failed sign-ins. @throws DomainError `account_not_found`, `password_…` */
  async setPassword(principal: Principal, idOrEmail: string, password: Secret): Promise<Account> {
    const { db, clock, hasher, throttle } = this.#options;
    const account = await this.find(idOrEmail);
    const email = { address: account.email, key: account.emailKey };
    const hash = await hasher.hash(this.#acceptPassword(password, email));
    if (!(await store.setPasswordHash(db, principal, account.id, hash, clock.now())))
      throw new DomainError('account_not_found');
    await throttle.forgive(account.emailKey);
    return this.find(account.id);
  }

  /** Ends its sessions and pauses its keys, at once. Disabling twice changes nothing. */
  async disable(principal: Principal, idOrEmail: string): Promise<Account> {
    const { id } = await this.find(idOrEmail);
    await store.disableAccount(this.#options.db, principal, id, this.#options.clock.now());
    await this.#recordAbility(id);
    return this.find(id);
  }

  /** Its keys work again; its sessions don't come back. */
  async enable(principal: Principal, idOrEmail: string): Promise<Account> {
    const { id } = await this.find(idOrEmail);
    await store.enableAccount(this.#options.db, principal, id, this.#options.clock.now());
    await this.#recordAbility(id);
    return this.find(id);
  }

  /** With its sessions and keys. The email is free again; the id is never used again. */
  async delete(principal: Principal, idOrEmail: string): Promise<Account> {
    const { db, clock, revocations } = this.#options;
    const account = await this.find(idOrEmail);
    const at = clock.now();
    if (!(await store.deleteAccount(db, principal, account.id, at))) throw new DomainError('account_not_found');
    await revocations?.record([{ kind: 'account', id: account.id, at }]);
    return account;
  }

  /**
   * The account of this email and password; undefined for an unknown email, a wrong password and a disabled account
   * alike, after the same work (SECURITY.md B4).
   * @throws DomainError `overloaded` before anything is hashed
   */
  async authenticate(emailText: string, password: Secret): Promise<AuthenticatedAccount | undefined> {
    const { db, hasher } = this.#options;
    const key = parseEmail(emailText)?.key;
    const account = key === undefined ? undefined : await store.findCredentials(db, key);
    const normal = normalizePassword(password.reveal());
    // Empty while an invited account has none.
    const isRight = await hasher.verify(normal, account?.passwordHash || undefined, password.reveal());
    if (!account || !isRight || account.disabledAt !== null) return undefined;
    if (hasher.isOutdated(account.passwordHash)) void this.#rehash(account, normal);
    return { id: account.id, sessionEpoch: account.sessionEpoch };
  }

  /** What the trail says last: of two at once, each may find the other's, and so the later one's is recorded. */
  async #recordAbility(accountId: string): Promise<void> {
    const { db, revocations } = this.#options;
    const event = revocations && (await findAbilityEvent(db, accountId));
    if (event) await revocations.record(revocationsOf(event));
  }

  /** After the answer, so that old parameters don't show in its time. Failing is no harm: the next sign-in tries again. */
  async #rehash(account: store.CredentialsRow, password: string): Promise<void> {
    const { db, hasher, clock } = this.#options;
    try {
      const hash = await hasher.hash(password);
      await store.replacePasswordHash(db, account.id, account.passwordHash, hash, clock.now());
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
    }
  }

  #acceptPassword(password: Secret, email: Email): string {
    return acceptNewPassword(password.reveal(), email, this.#options.rules);
  }
}

/** A password nobody has to think of. */
export const generatePassword = (): Secret => new Secret(randomBase62(generatedPasswordChars));

function acceptEmail(text: string): Email {
  const email = parseEmail(text);
  if (!email)
    throw new DomainError('email_invalid', {
      detail: `“${text.slice(0, limits.emailCharsMax)}” is not an email address.`,
    });
  return email;
}
