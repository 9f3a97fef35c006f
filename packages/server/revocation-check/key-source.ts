/** Creates the keys of one canary account: over HTTP as its owner does, or beside the service where no endpoint can. */
import { monotonicMs } from '../src/foundation/clock.ts';
import { DomainError } from '../src/foundation/errors.ts';
import { AccountSession } from './account-session.ts';
import { pick, type Prober } from './prober.ts';
import type { Canaries, CanaryAccount, CanaryKey } from './canaries.ts';
import type { Checker } from './checker.ts';
import type { KeyKind } from './history.ts';
import type { HttpAnswer, Instance } from './instance.ts';

export interface KeySourceOptions {
  readonly instances: readonly Instance[];
  readonly canaries: Canaries;
  readonly checker: Checker;
  readonly asker: Prober;
}

export class KeySource {
  readonly session: AccountSession;
  /** The account may create no more keys in this minute. */
  isExhausted = false;
  readonly #options: KeySourceOptions;

  constructor(account: CanaryAccount, options: KeySourceOptions) {
    this.session = new AccountSession(account);
    this.#options = options;
  }

  /** @returns undefined without a known outcome: the key may exist */
  async newKey(kind: KeyKind): Promise<CanaryKey | undefined> {
    const { checker, asker } = this.#options;
    try {
      const key = await this.#create(kind);
      if (!key) return undefined;
      checker.addKey(key.id, key.accountId, monotonicMs(), kind);
      asker.live.add(key);
      return key;
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      if (error.code === 'key_limit_reached') await this.#removeStrays();
      return undefined;
    }
  }

  /** The ids of the account's keys, as an instance lists them now. @returns undefined without a list */
  async list(instance: Instance): Promise<readonly number[] | undefined> {
    if (!(await this.session.ready(instance))) return undefined;
    const answer = await this.session.ask(instance, 'GET', '/auth/api-keys');
    if (answer?.status !== 200) return undefined;
    return (JSON.parse(answer.text) as { apiKeys: { id: number }[] }).apiKeys.map(({ id }) => id);
  }

  /** @throws DomainError */
  async #create(kind: KeyKind): Promise<CanaryKey | undefined> {
    const { canaries, instances } = this.#options;
    const { id: accountId } = this.session.account;
    const instance = pick(instances);
    switch (kind) {
      case 'caller':
        return canaries.newCallerKey(accountId);
      case 'imported':
        return canaries.importKey(accountId);
      case 'created': {
        if (!(await this.session.ready(instance))) return undefined;
        const body = { nickname: canaries.newNickname() };
        const answer = await this.session.ask(instance, 'POST', '/auth/api-keys', body);
        if (answer?.status !== 201) return this.#understand(answer);
        const { id, key: secret } = JSON.parse(answer.text) as { id: number; key: string };
        return { id, secret, accountId, kind };
      }
    }
  }

  /** @throws DomainError `key_limit_reached` */
  #understand(answer: HttpAnswer | undefined): undefined {
    if (answer?.status !== 409 && answer?.status !== 429) return;
    const { code } = JSON.parse(answer.text) as { code: string };
    if (code === 'key_limit_reached') throw new DomainError(code);
    if (code === 'too_many_creations') this.isExhausted = true;
  }

  /** Keys whose creation got no response fill the account. A failure is tried again at the next key. */
  async #removeStrays(): Promise<void> {
    const { canaries, checker } = this.#options;
    try {
      await canaries.removeStrays(this.session.account.id, (id) => checker.hasKey(id));
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
    }
  }
}
