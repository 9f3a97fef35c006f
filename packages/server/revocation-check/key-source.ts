/** Creates the keys of one canary account: over HTTP, or in the database for kinds that no endpoint creates. */
import { monotonicMs } from '../src/foundation/clock.ts';
import { DomainError } from '../src/foundation/errors.ts';
import { AccountSession, type KeySession } from './account-session.ts';
import { pick, type Prober } from './prober.ts';
import type { Canaries, CanaryAccount, CanaryKey } from './canaries.ts';
import type { AskedOfKey } from './condition.ts';
import type { Checker } from './checker.ts';
import type { KeyKind } from './history.ts';
import type { HttpResponse, Instance } from './instance.ts';

export interface KeySourceOptions {
  readonly instances: readonly Instance[];
  readonly canaries: Canaries;
  readonly checker: Checker;
  readonly prober: Prober;
}

export interface NewKeyOptions {
  /** Only for keys that are created over HTTP. */
  readonly scopes?: readonly string[];
  /** Of a key without a secret: its clients exchange tokens for secrets, which the caller verifies. */
  readonly credential?: object;
  /** For a key that is changed. */
  readonly ask?: (id: number) => AskedOfKey;
}

/** What a scenario of deletions needs of a source. */
export interface DeletableKeys {
  readonly session: KeySession;
  readonly isExhausted: boolean;
  newKey(kind: KeyKind): Promise<CanaryKey | undefined>;
  list(instance: Instance): Promise<readonly number[] | undefined>;
}

export class KeySource implements DeletableKeys {
  readonly session: AccountSession;
  /** The account has reached its limit of new keys per minute. */
  isExhausted = false;
  readonly #options: KeySourceOptions;

  constructor(account: CanaryAccount, options: KeySourceOptions) {
    this.session = new AccountSession(account);
    this.#options = options;
  }

  /** @returns undefined if the outcome is unknown: the key may exist */
  async newKey(kind: KeyKind, options: NewKeyOptions = {}): Promise<CanaryKey | undefined> {
    const { checker, prober } = this.#options;
    const { ask, credential } = options;
    try {
      const created = await this.#create(kind, options);
      if (!created) return undefined;
      const key = { ...created, ...(ask ? { asked: ask(created.id) } : {}) };
      checker.addKey(key.id, key.accountId, monotonicMs(), kind);
      if (!credential) prober.live.add(key);
      return key;
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      if (error.code === 'key_limit_reached') await this.#deleteUnknownKeys();
      return undefined;
    }
  }

  /** @returns the ids of the account's keys as the instance lists them; undefined without a list */
  async list(instance: Instance): Promise<readonly number[] | undefined> {
    if (!(await this.session.ensureSignedIn(instance))) return undefined;
    const response = await this.session.send(instance, 'GET', '/auth/api-keys');
    if (response?.status !== 200) return undefined;
    return (JSON.parse(response.text) as { apiKeys: { id: number }[] }).apiKeys.map(({ id }) => id);
  }

  /** @throws DomainError */
  async #create(kind: KeyKind, { scopes = [], credential }: NewKeyOptions): Promise<CanaryKey | undefined> {
    const { canaries, instances } = this.#options;
    const { id: accountId } = this.session.account;
    const instance = pick(instances);
    switch (kind) {
      case 'caller':
        return canaries.newCallerKey(accountId);
      case 'imported':
        return canaries.importKey(accountId);
      case 'created': {
        if (!(await this.session.ensureSignedIn(instance))) return undefined;
        const nickname = canaries.newNickname();
        const body = { nickname, ...(scopes.length === 0 ? {} : { scopes }), ...credential };
        const path = credential ? '/auth/api-keys/public' : '/auth/api-keys';
        const response = await this.session.send(instance, 'POST', path, body);
        if (response?.status !== 201) return this.#handleRejection(response);
        const { id, key: secret = '' } = JSON.parse(response.text) as { id: number; key?: string };
        return { id, secret, accountId, kind };
      }
    }
  }

  /** @throws DomainError `key_limit_reached` */
  #handleRejection(response: HttpResponse | undefined): undefined {
    if (response?.status !== 409 && response?.status !== 429) return;
    const { code } = JSON.parse(response.text) as { code: string };
    if (code === 'key_limit_reached') throw new DomainError(code);
    if (code === 'too_many_creations') this.isExhausted = true;
  }

  /** The next key that reaches the limit retries a failure. */
  async #deleteUnknownKeys(): Promise<void> {
    const { canaries, checker } = this.#options;
    try {
      await canaries.deleteUnknownKeys(this.session.account.id, (id) => checker.hasKey(id));
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
    }
  }
}
