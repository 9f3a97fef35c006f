/**
 * Creates and removes the accounts and keys of the revocation check. Accounts are created directly in the database, because
 * sign-up needs mail. So are callers' keys, whose scope an account cannot give itself, and imported keys, which no endpoint
 * creates. All other keys are created over HTTP (`key-source.ts`).
 */
import { createHash } from 'node:crypto';
import type { IssuerChangeBody, NewIssuerBody } from '@keyreeve/contract';
import { generatePassword, type Accounts } from '../src/modules/accounts/accounts.ts';
import type { ApiKeys } from '../src/modules/api-keys/api-keys.ts';
import { manageScope, verifyScope } from '../src/modules/api-keys/scopes.ts';
import type { Principal } from '../src/foundation/principal.ts';
import { randomBase62 } from '../src/foundation/crypto/secret.ts';
import { DomainError } from '../src/foundation/errors.ts';
import type { AskedOfKey } from './condition.ts';
import type { AccountState, KeyKind } from './history.ts';

export interface CanaryAccount {
  readonly id: string;
  readonly email: string;
  readonly password: string;
}

export interface CanaryKey {
  readonly id: number;
  readonly secret: string;
  readonly accountId: string;
  readonly kind: KeyKind;
  /** See `Key` in verification-methods.ts. */
  readonly isElsewhere?: boolean;
  /** The key expires after this time, in milliseconds of `monotonicMs`. Absent for a key that does not expire. */
  readonly usableUntilMs?: number;
  /** For a key that is changed; absent for a key that is only deleted. */
  readonly asked?: AskedOfKey;
}

/** Changes of the scope catalogue. @throws DomainError; the outcome may be unknown */
export interface CatalogueChanges {
  readonly setEntitlements: (accountId: string, names: readonly string[]) => Promise<void>;
  readonly setScope: (name: string, entitled: boolean) => Promise<void>;
  readonly deleteScope: (name: string) => Promise<void>;
}

/** Changes of issuers whose tokens the check signs. @throws DomainError; the outcome may be unknown */
export interface IssuerChanges {
  /** @returns its id */
  readonly add: (issuer: NewIssuerBody) => Promise<number>;
  readonly change: (id: number, change: IssuerChangeBody) => Promise<void>;
  readonly remove: (id: number) => Promise<void>;
}

/** Changes of programs that sign in as devices. @throws DomainError; the outcome may be unknown */
export interface ProgramChanges {
  readonly add: (id: string) => Promise<void>;
  /** With all of its keys. @returns false if it has been removed before, with its keys */
  readonly remove: (id: string) => Promise<boolean>;
}

/** A backend with a management key and a service account. */
export interface CanaryTenant {
  readonly account: CanaryAccount;
  readonly key: CanaryKey;
  readonly serviceAccountId: string;
  readonly externalId: string;
}

/** Changes of service accounts, in the database. @throws DomainError; the outcome may be unknown */
export interface ServiceAccountChanges {
  /** @returns its id */
  readonly create: (creatorId: string, externalId: string) => Promise<string>;
  /** If it exists. */
  readonly remove: (creatorId: string, externalId: string) => Promise<void>;
}

export interface CanariesOptions {
  readonly accounts: Accounts;
  readonly apiKeys: ApiKeys;
  /** The number of deletions that the audit log records, by the key's id. */
  readonly deletionsRecorded: (accountId: string) => Promise<ReadonlyMap<number, number>>;
  /**
   * Imports one key by its SHA-256 in hexadecimal; false if the import rejects it. Undefined if the installation has no
   * imported keys: then the service does not look up such keys, and the check must not change that.
   */
  readonly importKey: ((accountId: string, nickname: string, hash: string) => Promise<boolean>) | undefined;
  /** Undefined if the service does not enforce the scope catalogue. */
  readonly catalogue: CatalogueChanges | undefined;
  readonly issuers: IssuerChanges;
  readonly programs: ProgramChanges;
  readonly serviceAccounts: ServiceAccountChanges;
}

const operator: Principal = { kind: 'operator' };

export class Canaries {
  readonly #options: CanariesOptions;
  /** Includes accounts whose creation failed: without a response they may exist. */
  readonly #emails = new Set<string>();
  /** URL → id. */
  readonly #issuers = new Map<string, number>();
  /** Ids. Includes programs whose addition failed: without a response they may exist. */
  readonly #programs = new Set<string>();
  /** External id → creator. Includes service accounts whose creation failed: without a response they may exist. */
  readonly #tenants = new Map<string, string>();
  /** Names of the catalogue. */
  readonly #scopes = new Set<string>();
  #nicknames = 0;

  constructor(options: CanariesOptions) {
    this.#options = options;
  }

  get importsKeys(): boolean {
    return this.#options.importKey !== undefined;
  }

  /** Undefined if the service does not enforce the scope catalogue. */
  get catalogue(): CatalogueChanges | undefined {
    return this.#options.catalogue;
  }

  get issuers(): Pick<IssuerChanges, 'change'> {
    return this.#options.issuers;
  }

  /** Keys of all accounts may trust the issuer. @returns its id @throws DomainError */
  async addIssuer(issuer: NewIssuerBody): Promise<number> {
    const id = await this.#options.issuers.add(issuer);
    this.#issuers.set(issuer.url, id);
    return id;
  }

  /** @throws DomainError */
  async removeIssuer(url: string): Promise<void> {
    const id = this.#issuers.get(url);
    if (id !== undefined) await this.#options.issuers.remove(id);
    this.#issuers.delete(url);
  }

  /** @throws DomainError */
  async addProgram(id: string): Promise<void> {
    this.#programs.add(id);
    await this.#options.programs.add(id);
  }

  /** With all of its keys. @returns false if it has been removed before, with its keys @throws DomainError */
  async removeProgram(id: string): Promise<boolean> {
    const isRemoved = await this.#options.programs.remove(id);
    this.#programs.delete(id);
    return isRemoved;
  }

  /** Deletes the scope from the catalogue at the end. */
  addScope(name: string): void {
    this.#scopes.add(name);
  }

  /** Declares scopes that canary keys need. Nothing without an enforced catalogue. @throws DomainError */
  async declareScopes(names: readonly string[]): Promise<void> {
    for (const name of this.catalogue ? names : []) {
      this.addScope(name);
      await this.catalogue?.setScope(name, false);
    }
  }

  async newAccount(): Promise<CanaryAccount> {
    const email = `canary-${randomBase62(16)}@prove-revocation.invalid`;
    const password = generatePassword();
    this.#emails.add(email);
    const { id } = await this.#options.accounts.create(operator, email, password, 'user');
    return { id, email, password: password.reveal() };
  }

  /** Unique among the keys of all canary accounts. */
  newNickname(): string {
    return `canary ${++this.#nicknames}`;
  }

  /** A key that may call `/auth/verify` and introspection. @throws DomainError */
  async newCallerKey(accountId: string): Promise<CanaryKey> {
    const request = { nickname: this.newNickname(), scopes: [verifyScope] };
    const { id, secret } = await this.#options.apiKeys.create(operator, accountId, request);
    return { id, secret: secret.reveal(), accountId, kind: 'caller' };
  }

  /** @throws DomainError */
  async newTenant(): Promise<CanaryTenant> {
    const account = await this.newAccount();
    const request = { nickname: this.newNickname(), scopes: [manageScope] };
    const { id, secret } = await this.#options.apiKeys.create(operator, account.id, request);
    const externalId = `canary ${randomBase62(16)}`;
    this.#tenants.set(externalId, account.id);
    const serviceAccountId = await this.#options.serviceAccounts.create(account.id, externalId);
    const key: CanaryKey = { id, secret: secret.reveal(), accountId: account.id, kind: 'created' };
    return { account, key, serviceAccountId, externalId };
  }

  /** The service account, if it exists. @throws DomainError */
  async removeTenant(externalId: string): Promise<void> {
    const creatorId = this.#tenants.get(externalId);
    if (creatorId !== undefined) await this.#options.serviceAccounts.remove(creatorId, externalId);
    this.#tenants.delete(externalId);
  }

  /** @returns undefined if the import rejects the key @throws DomainError */
  async importKey(accountId: string): Promise<CanaryKey | undefined> {
    const { apiKeys, importKey } = this.#options;
    const secret = `canary.${randomBase62(32)}`;
    const nickname = this.newNickname();
    const hash = createHash('sha256').update(secret).digest('hex');
    if ((await importKey?.(accountId, nickname, hash)) !== true) return undefined;
    const id = (await apiKeys.list(accountId)).find((key) => key.nickname === nickname)?.id;
    return id === undefined ? undefined : { id, secret, accountId, kind: 'imported' };
  }

  async change(accountId: string, to: AccountState): Promise<void> {
    const { accounts } = this.#options;
    await (to === 'disabled' ? accounts.disable(operator, accountId) : accounts.enable(operator, accountId));
  }

  deletionsRecorded(accountId: string): Promise<ReadonlyMap<number, number>> {
    return this.#options.deletionsRecorded(accountId);
  }

  /** Deletes keys whose creation got no response: they count towards the limit of keys per account. */
  async deleteUnknownKeys(accountId: string, isKnown: (id: number) => boolean): Promise<void> {
    for (const { id } of await this.#options.apiKeys.list(accountId)) {
      if (!isKnown(id)) await this.#options.apiKeys.delete(operator, accountId, id);
    }
  }

  /** @returns the email addresses of the accounts, the URLs of the issuers, the names of scopes and programs, and the external ids of service accounts, that could not be removed */
  async removeAll(): Promise<readonly string[]> {
    // Before their creators, by which they are found.
    for (const externalId of this.#tenants.keys()) {
      try {
        await this.removeTenant(externalId);
      } catch (error) {
        if (!(error instanceof DomainError)) throw error;
      }
    }
    for (const email of this.#emails) {
      try {
        const { accounts } = this.#options;
        await accounts.delete(operator, (await accounts.find(email)).id);
        this.#emails.delete(email);
      } catch (error) {
        if (error instanceof DomainError && error.code === 'account_not_found') this.#emails.delete(email);
      }
    }
    for (const name of this.#scopes) {
      try {
        await this.catalogue?.deleteScope(name);
        this.#scopes.delete(name);
      } catch (error) {
        if (error instanceof DomainError && error.code === 'scope_not_found') this.#scopes.delete(name);
      }
    }
    for (const url of this.#issuers.keys()) {
      try {
        await this.removeIssuer(url);
      } catch (error) {
        if (error instanceof DomainError && error.code === 'issuer_not_found') this.#issuers.delete(url);
      }
    }
    for (const id of this.#programs) {
      try {
        await this.removeProgram(id);
      } catch (error) {
        if (!(error instanceof DomainError)) throw error;
      }
    }
    return [...this.#emails, ...this.#issuers.keys(), ...this.#scopes, ...this.#programs, ...this.#tenants.keys()];
  }
}
