/** Accounts: creation, lookup, changes by operators and administrators, and the verification of passwords. */
import { limits } from '@keyreeve/contract';
import type { Guard, Principal } from '../../foundation/principal.ts';
import { monotonicMs } from '../../foundation/clock.ts';
import { matchedKinds, type MatchedKind } from '../../foundation/crypto/imported-work.ts';
import type { PasswordHasher } from '../../foundation/crypto/password.ts';
import { randomBase62, randomId, Secret } from '../../foundation/crypto/secret.ts';
import { recordingChanges, runNarrowing } from '../deletion-journal/run-narrowing.ts';
import type { RecordingCore } from '../deletion-journal/revocation.ts';
import { DomainError } from '../../foundation/errors.ts';
import type { SignInLimits } from '../rate-limits/sign-in-limits.ts';
import { AccountRevocations } from './account-revocations.ts';
import { replacePasswordHash, setPasswordHash } from './credentials-store.ts';
import { parseEmail, type Email } from './email.ts';
import { findImportedRecipes } from './imported-hash-store.ts';
import { acceptNewPassword, normalizePassword, type PasswordRules } from './password-rules.ts';
import { lockAdministrationTx } from './administrators-store.ts';
import * as store from './store.ts';
import { confirmAccountEmail } from './unconfirmed-email-store.ts';

export type Account = store.AccountRow;
export type ListedAccount = store.ListedAccountRow;
export type { Role } from './store.ts';

/** An account whose password has been verified, and the epoch that its new session must have. */
export interface AuthenticatedAccount {
  readonly id: string;
  readonly sessionEpoch: number;
  readonly role: store.Role;
}

export interface AccountsOptions extends RecordingCore {
  readonly hasher: PasswordHasher;
  readonly rules: PasswordRules;
  readonly signInLimits: SignInLimits;
  /** Checks the changes that accounts make. Without it, no account may make any. */
  readonly guard?: Guard;
  /** Whether administrators sign in with single sign-on only: their passwords are then rejected. */
  readonly rejectsAdministrators: boolean;
}

/** Characters of a generated password: 178 bits. */
const generatedPasswordChars = 30;
/** No index has this order, so each page reads all accounts. */
const accountsPerPage = 5_000;

export class Accounts {
  /** Changes that every instance must apply immediately, and that are retried when their outcome is unknown. */
  readonly revocations: AccountRevocations;
  readonly #options: AccountsOptions;
  #importedKinds: Promise<readonly MatchedKind[]> = Promise.resolve([]);
  #importedKindsUntilMs = 0;

  constructor(options: AccountsOptions) {
    this.#options = options;
    this.revocations = new AccountRevocations(options);
  }

  /** @throws DomainError `email_invalid`, `password_…`, `account_exists` */
  async create(principal: Principal, text: string, password: Secret, role: store.Role): Promise<Account> {
    const { db, clock, hasher } = this.#options;
    const email = acceptEmail(text);
    const passwordHash = await hasher.hash(this.#acceptPassword(password, email));
    const id = randomId('acc');
    const now = clock.now();
    const account = { id, ...email, passwordHash, role, now };
    if (!(await store.createAccount(db, principal, account))) throw new DomainError('account_exists');
    return this.find(id);
  }

  /** By id or email. @throws DomainError `account_not_found` */
  async find(idOrEmail: string): Promise<Account> {
    const account = await store.findAccount(this.#options.db, idOrEmail, parseEmail(idOrEmail)?.canonicalEmail ?? '');
    if (!account) throw notFound(idOrEmail);
    return account;
  }

  /** @throws DomainError `account_not_found` also for the email of an account */
  async findById(id: string): Promise<Account> {
    const account = await store.findAccount(this.#options.db, id, '');
    if (!account) throw notFound(id);
    return account;
  }

  /** By id, for operations that a service account does not have. @throws DomainError `account_not_found`, `service_account` */
  async findPerson(id: string): Promise<Account> {
    const account = await this.findById(id);
    if (account.kind === 'service') throw new DomainError('service_account');
    return account;
  }

  /** All accounts, oldest first, in pages of bounded memory. */
  async *list(): AsyncGenerator<ListedAccount> {
    let last: ListedAccount | undefined;
    for (;;) {
      const page = await store.listAccounts(this.#options.db, last, accountsPerPage);
      yield* page;
      if (page.length < accountsPerPage) return;
      last = page.at(-1);
    }
  }

  /** Ends every session and clears the email's trusted address ranges. @throws DomainError `account_not_found`, `password_…` */
  async setPassword(principal: Principal, id: string, password: Secret): Promise<void> {
    const { db, clock, hasher, signInLimits, revocations } = this.#options;
    const { email, canonicalEmail } = await this.findPerson(id);
    const hash = await hasher.hash(this.#acceptPassword(password, { email, canonicalEmail }));
    const now = clock.now();
    const isSet = await recordingChanges(revocations, { accountId: id, at: now }, () =>
      setPasswordHash(db, principal, { id, hash, now }, (tx) => signInLimits.clearTrustedRangesTx(tx, canonicalEmail)),
    );
    if (!isSet) throw notFound(id);
  }

  /**
   * Ends the account's sessions and rejects its keys from now on. Nothing when it is disabled already.
   * @throws DomainError `account_not_found`, `last_administrator`, `invalid_access_token`, `unavailable`
   */
  async disable(principal: Principal, id: string): Promise<void> {
    if (!(await this.revocations.disable(principal, id))) await this.findById(id);
  }

  /** Accepts the account's keys again. Its sessions stay ended. @throws DomainError `account_not_found`, `invalid_access_token` */
  async enable(principal: Principal, id: string): Promise<void> {
    if (!(await this.revocations.enable(principal, id))) await this.findById(id);
  }

  /**
   * Also deletes the account's sessions and keys. The email is free again; the id is never used again.
   * @throws DomainError `account_not_found`, `last_administrator`, `invalid_access_token`, `unavailable`
   */
  async delete(principal: Principal, id: string): Promise<void> {
    // A deletion of an unknown account is rejected by a read, without the writer.
    await this.findById(id);
    if (!(await this.revocations.delete(principal, id))) throw notFound(id);
  }

  /**
   * The role applies from the next request on. If administrators sign in with single sign-on only, the sessions of a new one
   * end: they began with a password or a passkey.
   * @param endsSessions whether the change, if there is one, ends all sessions of the account in any case
   * @throws DomainError `account_not_found`, `service_account`, `account_unverified`, `last_administrator`, `invalid_access_token`
   */
  async setRole(principal: Principal, id: string, role: store.Role, endsSessions = false): Promise<void> {
    const { clock, guard, rejectsAdministrators } = this.#options;
    const now = clock.now();
    const roleChange = { id, role, now, endsSessions: endsSessions || (rejectsAdministrators && role === 'admin') };
    const isChanged = await runNarrowing(this.#options, {
      changeTx: (tx) => store.setAccountRoleTx(tx, principal, roleChange, guard),
      recordedOf: () => [{ accountId: id, at: now }],
      // A lost role takes scopes from keys. None of the keys is accepted until no change of administrators is in progress
      // and the last one is durable. The caller repeats this one.
      repetition: {
        pending: this.revocations.unfinished,
        of: () => [{ id, kind: 'role', txs: [lockAdministrationTx] }],
      },
    });
    if (!isChanged && (await this.findById(id)).role !== role) throw new DomainError('account_unverified');
  }

  /**
   * After a restore has brought back an earlier email address: the operator has asked the owner which one is right.
   * @throws DomainError `account_not_found`
   */
  async confirmEmail(principal: Principal, id: string): Promise<void> {
    const { db, clock } = this.#options;
    await this.findPerson(id);
    if (!(await confirmAccountEmail(db, principal, id, clock.now()))) await this.findById(id);
  }

  /** Ends all sessions. @throws DomainError `account_not_found`, `invalid_access_token` */
  async endSessions(principal: Principal, id: string): Promise<void> {
    const { db, clock, guard } = this.#options;
    if (!(await store.endAccountSessions(db, { principal, now: clock.now(), guard }, id))) throw notFound(id);
  }

  /** The requirement applies from the account's next sign-in on. @throws DomainError `account_not_found`, `invalid_access_token` */
  async requireSecondFactor(principal: Principal, id: string, isRequired: boolean): Promise<void> {
    const { db, clock, guard, revocations } = this.#options;
    const now = clock.now();
    const isChanged = await recordingChanges(revocations, { accountId: id, at: now }, () =>
      store.requireSecondFactor(db, { principal, now, guard }, id, isRequired),
    );
    if (!isChanged) await this.findById(id);
  }

  /**
   * Verifies an email and a password. An unknown email, a wrong password and a disabled account take the same work.
   * @param onFound called, for the log, with the id of the account that has the email, also if the password is wrong
   * @returns undefined for an unknown email, a wrong password, a disabled account, and an administrator who must use single
   *   sign-on, alike
   * @throws DomainError `overloaded` before anything is hashed
   */
  async authenticate(
    emailText: string,
    password: Secret,
    onFound?: (id: string) => void,
  ): Promise<AuthenticatedAccount | undefined> {
    const { db, hasher, rejectsAdministrators } = this.#options;
    const key = parseEmail(emailText)?.canonicalEmail;
    const account = key === undefined ? undefined : await store.findCredentials(db, key);
    if (account) onFound?.(account.id);
    const normal = normalizePassword(password.reveal());
    const typed = password.reveal();
    const isRight = await hasher.verifyAlike(normal, account?.passwordHash, typed, await this.#matchedKinds());
    if (!account || !isRight || account.disabledAt !== null) return undefined;
    // After the hash, so that the response shows neither the role nor that the password was right.
    if (rejectsAdministrators && account.role === 'admin') return undefined;
    if (hasher.isOutdated(account.passwordHash)) void this.#rehash(account, normal, typed);
    return { id: account.id, sessionEpoch: account.sessionEpoch, role: account.role };
  }

  /** Cached for seconds: an import takes longer, and a kind disappears with the first sign-in of its last account. */
  #matchedKinds(): Promise<readonly MatchedKind[]> {
    const now = monotonicMs();
    if (now >= this.#importedKindsUntilMs) {
      this.#importedKindsUntilMs = now + limits.importedRecipesLookSeconds * 1000;
      this.#importedKinds = findImportedRecipes(this.#options.db, limits.importedRecipesMax).then(matchedKinds);
      // A failed read fails this sign-in. The next one reads again.
      this.#importedKinds.catch(() => (this.#importedKindsUntilMs = 0));
    }
    return this.#importedKinds;
  }

  /** Runs after the response, so that its time does not reveal old parameters. If it fails, the next sign-in tries again. */
  async #rehash(account: store.CredentialsRow, password: string, typed: string): Promise<void> {
    const { db, hasher, clock } = this.#options;
    try {
      const hash = await hasher.renew(password, account.passwordHash, typed);
      await replacePasswordHash(db, account, hash, clock.now());
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
    }
  }

  #acceptPassword(password: Secret, email: Email): string {
    return acceptNewPassword(password.reveal(), email, this.#options.rules);
  }
}

/** A random password, for an operator who does not choose one. */
export const generatePassword = (): Secret => new Secret(randomBase62(generatedPasswordChars));

const notFound = (idOrEmail: string): DomainError =>
  new DomainError('account_not_found', { detail: `There is no account ${idOrEmail}.` });

/** @throws DomainError `email_invalid` */
export function acceptEmail(text: string): Email {
  const email = parseEmail(text);
  if (!email)
    throw new DomainError('email_invalid', {
      detail: `“${text.slice(0, limits.emailCharsMax)}” is not an email address.`,
    });
  return email;
}
