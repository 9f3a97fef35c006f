/**
 * Identities at the OpenID provider and their accounts. An identity is the issuer and the subject. It is never linked by its
 * email address: an operator links it, or its first sign-in creates an account (docs/decisions/09-sign-in.md).
 */
import type { Accounts, AuthenticatedAccount } from '../accounts/accounts.ts';
import { lockAccountTx } from '../accounts/credentials-store.ts';
import { createAccountTx, endAccountSessionsTx } from '../accounts/store.ts';
import { recordEventTx } from '../audit/audit.ts';
import { randomId } from '../../foundation/crypto/secret.ts';
import { system, type Principal } from '../../foundation/principal.ts';
import { recordingChanges } from '../deletion-journal/run-narrowing.ts';
import type { RecordingCore } from '../deletion-journal/revocation.ts';
import type { Email } from '../accounts/email.ts';
import type { Person } from './claims.ts';
import { Refusal } from './refusal.ts';
import * as store from './store.ts';

export interface IdentitiesOptions extends RecordingCore {
  readonly accounts: Accounts;
  readonly issuer: string;
}

/** An account that may sign in, and its identity. */
export interface Resolved {
  readonly identityId: string;
  readonly account: AuthenticatedAccount;
}

export class Identities {
  readonly #options: IdentitiesOptions;

  constructor(options: IdentitiesOptions) {
    this.#options = options;
  }

  get issuer(): string {
    return this.#options.issuer;
  }

  /**
   * Finds or creates the account of a person, and gives it the role that the provider states.
   * @param onFound called, for the log, with the id of the account
   * @throws Refusal `role_missing`, `not_linked`, `account_disabled`
   */
  async resolve(person: Person, onFound: (accountId: string) => void): Promise<Resolved> {
    const found = await this.#find(person.subject);
    if (!found) return this.#provision(person, onFound);
    onFound(found.accountId);
    if (!person.isAdministrator) return this.#removeRole(found);
    if (found.disabledAt !== null) throw new Refusal('account_disabled');
    return found.role === 'admin' ? resolved(found) : this.#giveRole(found, person.subject);
  }

  /**
   * Links an identity to an account.
   * @returns false when the identity is linked already, or the account has one of this issuer
   * @throws DomainError `account_not_found`, `service_account`
   */
  async link(principal: Principal, accountId: string, subject: string): Promise<boolean> {
    const { db, clock, accounts, issuer } = this.#options;
    await accounts.findPerson(accountId);
    const [id, now] = [randomId('idn'), clock.now()];
    return db.transaction(async (tx) => {
      const isLinked = await store.insertIdentityTx(tx, { id, accountId, issuer, subject, isProvisioned: false, now });
      if (isLinked) await recordEventTx(tx, { ...linked(principal, accountId, id, now), details: { issuer } });
      return isLinked;
    });
  }

  /** Removes the identities of an account, of every issuer, and ends its sessions. @returns whether it had any */
  async unlink(principal: Principal, accountId: string): Promise<boolean> {
    const { db, clock, revocations } = this.#options;
    const now = clock.now();
    return recordingChanges(revocations, { accountId, at: now }, () =>
      db.transaction(async (tx) => {
        // As a sign-in, which locks the account's row first.
        await lockAccountTx(tx, accountId);
        const ids = await store.removeIdentitiesTx(tx, accountId);
        for (const target of ids)
          await recordEventTx(tx, { at: now, principal, action: 'identity.unlinked', accountId, target });
        if (ids.length > 0) await endAccountSessionsTx(tx, { principal, now }, accountId);
        return ids.length > 0;
      }),
    );
  }

  #find(subject: string): Promise<store.IdentityRow | undefined> {
    return store.findIdentity(this.#options.db, this.#options.issuer, subject);
  }

  /** The role of an account that single sign-on created belongs to the provider. Another account keeps its role. */
  async #removeRole({ isProvisioned, accountId, role }: store.IdentityRow): Promise<never> {
    if (isProvisioned === 1 && role === 'admin') await this.#options.accounts.setRole(system, accountId, 'user', true);
    throw new Refusal('role_missing');
  }

  /** Sessions that began without the role end: the provider did not authenticate them. */
  async #giveRole({ accountId }: store.IdentityRow, subject: string): Promise<Resolved> {
    await this.#options.accounts.setRole(system, accountId, 'admin', true);
    const row = await this.#find(subject);
    if (row?.role !== 'admin') throw new Refusal('role_missing');
    return resolved(row);
  }

  /** Creates an account without a password, if the email address is verified and no account has it. */
  async #provision(
    { subject, isAdministrator, email }: Person,
    onFound: (accountId: string) => void,
  ): Promise<Resolved> {
    if (!isAdministrator) throw new Refusal('role_missing', { shown: subject });
    if (email) await this.#create(subject, email);
    // Also after a failed creation: a concurrent sign-in of the same person may have created the account.
    const row = email && (await this.#find(subject));
    if (!row) throw new Refusal('not_linked', { shown: subject });
    onFound(row.accountId);
    if (row.disabledAt !== null) throw new Refusal('account_disabled');
    return resolved(row);
  }

  #create(subject: string, { email, canonicalEmail }: Email): Promise<boolean> {
    const { db, clock, issuer } = this.#options;
    const [accountId, id, now] = [randomId('acc'), randomId('idn'), clock.now()];
    const account = { id: accountId, email, canonicalEmail, passwordHash: '', role: 'admin', now } as const;
    return db.transaction(async (tx) => {
      if (!(await createAccountTx(tx, system, account))) return false;
      // A concurrent sign-in with another email address was first: the rollback removes this account.
      if (!(await store.insertIdentityTx(tx, { id, accountId, issuer, subject, isProvisioned: true, now })))
        throw new Refusal('not_linked', { shown: subject });
      await recordEventTx(tx, {
        ...linked(system, accountId, id, now),
        details: { issuer, created: true },
      });
      return true;
    });
  }
}

const linked = (principal: Principal, accountId: string, target: string, at: number) =>
  ({ at, principal, action: 'identity.linked', accountId, target }) as const;

const resolved = ({ id: identityId, accountId, sessionEpoch, role }: store.IdentityRow): Resolved => ({
  identityId,
  account: { id: accountId, sessionEpoch, role },
});
