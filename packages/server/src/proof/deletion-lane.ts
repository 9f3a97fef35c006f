/** One key after the other: made, verified while it is deleted over HTTP, and verified everywhere once it is. */
import { randomInt } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { monotonicMs } from '../clock.ts';
import { DomainError } from '../errors.ts';
import { AccountSession } from './account-session.ts';
import { pick, type Asker } from './asker.ts';
import { Asking } from './asking.ts';
import type { Canaries, CanaryAccount, CanaryKey } from './canaries.ts';
import type { Checker } from './checker.ts';
import type { DeletionOutcome } from './history.ts';
import type { HttpAnswer, Instance } from './instance.ts';

export interface LaneOptions {
  readonly instances: readonly Instance[];
  readonly canaries: Canaries;
  readonly checker: Checker;
  readonly asker: Asker;
  /** Verifications under way at once. */
  readonly askers: number;
  /** Of a key before its deletion is asked for at most, and as many after it is answered. */
  readonly asksMax: number;
  readonly isOver: () => boolean;
  /** A deletion was acknowledged. */
  readonly onDeleted?: (deletions: number) => void;
}

/** Before what has failed is tried again. */
const pauseMs = 50;
/** One deletion in so many is followed by a list. */
const deletionsPerList = 4;
/** One in so many is asked for once more: a key dies once. */
const deletionsPerRepetition = 4;

export class DeletionLane {
  readonly account: CanaryAccount;
  readonly #options: LaneOptions;
  readonly #session: AccountSession;

  constructor(account: CanaryAccount, options: LaneOptions) {
    this.account = account;
    this.#options = options;
    this.#session = new AccountSession(account);
  }

  async run(): Promise<void> {
    const { isOver } = this.#options;
    let key = await this.#newKey();
    while (!isOver()) {
      // The next one is made meanwhile: nothing waits for its commit.
      [key] = await Promise.all([this.#newKey(), key ? this.#lifeOf(key) : setTimeout(pauseMs)]);
    }
  }

  /** The account's list, as an instance shows it now. */
  async list(instance: Instance): Promise<void> {
    if (!(await this.#session.ready(instance))) return;
    const startedAt = monotonicMs();
    const answer = await this.#session.ask(instance, 'GET', '/auth/api-keys');
    const interval = { startedAt, endedAt: monotonicMs() };
    if (answer?.status !== 200) return;
    const { apiKeys } = JSON.parse(answer.text) as { apiKeys: { id: number }[] };
    const ids = new Set(apiKeys.map(({ id }) => id));
    this.#options.checker.listed(this.account.id, interval, `GET /auth/api-keys at ${instance.url}`, ids);
  }

  /** Undefined when the database couldn't be reached: the key may be there all the same. */
  async #newKey(): Promise<CanaryKey | undefined> {
    const { canaries, checker, asker } = this.#options;
    const { id: accountId } = this.account;
    try {
      const key = await canaries.newKey(accountId);
      checker.addKey(key.id, accountId, monotonicMs());
      asker.live.add(key);
      return key;
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      if (error.code === 'key_limit_reached') await this.#removeStrays();
      return undefined;
    }
  }

  /** Keys whose creation was never answered fill the account. What fails is tried again at the next key. */
  async #removeStrays(): Promise<void> {
    const { canaries, checker } = this.#options;
    try {
      await canaries.removeStrays(this.account.id, (id) => checker.hasKey(id));
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
    }
  }

  async #lifeOf(key: CanaryKey): Promise<void> {
    const { asker, askers, asksMax, instances } = this.#options;
    const asking = new Asking(askers, () => asker.askSomewhere(key));
    await asking.more(1 + randomInt(asksMax));
    // Whatever could remember an acceptance anywhere has just seen one.
    const before = asker.askEverywhere(key);
    if (await this.#delete(key)) await asker.askEverywhere(key);
    await before;
    asker.bury(key);
    if (randomInt(deletionsPerList) === 0) await this.list(pick(instances));
    if (randomInt(deletionsPerRepetition) === 0) await this.#deleteOnce(key);
    await asking.more(1 + randomInt(asksMax));
    await asking.stop();
  }

  /** Until it is known to be dead. @returns false when the end came first */
  async #delete(key: CanaryKey): Promise<boolean> {
    for (;;) {
      const outcome = await this.#deleteOnce(key);
      if (outcome === 'deleted' || outcome === 'not_found') return true;
      if (this.#options.isOver()) return false;
      await setTimeout(pauseMs);
    }
  }

  /** At some instance. @returns undefined when nobody could be asked */
  async #deleteOnce({ id }: CanaryKey): Promise<DeletionOutcome | undefined> {
    const { instances, checker, onDeleted } = this.#options;
    const instance = pick(instances);
    // Signed in before the clock starts.
    if (!(await this.#session.ready(instance))) return undefined;
    const source = `DELETE /auth/api-keys/:id at ${instance.url}`;
    const deletion = checker.beginDeletion(id, source, monotonicMs());
    const answer = await this.#session.ask(instance, 'DELETE', `/auth/api-keys/${id}`);
    const outcome = outcomeOf(answer);
    checker.endDeletion(id, deletion, outcome, monotonicMs());
    if (outcome === 'deleted') onDeleted?.(checker.deletions);
    return outcome;
  }
}

function outcomeOf(answer: HttpAnswer | undefined): DeletionOutcome {
  if (answer?.status === 200) return 'deleted';
  if (answer?.status === 404) return 'not_found';
  return answer?.status === 401 ? 'refused' : 'unknown';
}
