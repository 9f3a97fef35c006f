/** One key after the other: created, verified while it is deleted over HTTP, and verified everywhere after that. */
import { randomInt } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { monotonicMs } from '../src/foundation/clock.ts';
import { DomainError } from '../src/foundation/errors.ts';
import { pick } from './prober.ts';
import { Probing } from './probing.ts';
import type { CanaryAccount, CanaryKey } from './canaries.ts';
import type { DeletionOutcome, KeyKind } from './history.ts';
import type { HttpAnswer, Instance } from './instance.ts';
import { KeySource, type KeySourceOptions } from './key-source.ts';

export interface ScenarioOptions extends KeySourceOptions {
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

/** One key in so many is deleted as soon as it exists. */
const keysPerShortLife = 3;
/** The order in which a lane creates its keys, so that a short run sees every kind. */
const kinds: readonly KeyKind[] = ['created', 'caller', 'imported', 'created', 'created', 'caller'];

export class DeletionScenario {
  readonly #options: ScenarioOptions;
  /** By account: a new one when the last may create no more keys in this minute. */
  readonly #sources = new Map<string, KeySource>();
  #source: KeySource;
  #keys = 0;

  constructor(account: CanaryAccount, options: ScenarioOptions) {
    this.#options = options;
    this.#source = this.#addSource(account);
  }

  get sources(): readonly KeySource[] {
    return [...this.#sources.values()];
  }

  async run(): Promise<void> {
    const { isOver } = this.#options;
    let key = await this.#newKey();
    while (!isOver()) {
      // The next one is created meanwhile: nothing waits for its commit.
      [key] = await Promise.all([this.#newKey(), key ? this.#lifeOf(key) : setTimeout(pauseMs)]);
    }
  }

  /** Compares an account's list, as an instance returns it now. */
  async list(source: KeySource, instance: Instance): Promise<void> {
    const startedAt = monotonicMs();
    const listed = await source.list(instance);
    if (!listed) return;
    const ids = new Set(listed);
    const interval = { startedAt, endedAt: monotonicMs() };
    this.#options.checker.listed(source.session.account.id, interval, `GET /auth/api-keys at ${instance.url}`, ids);
  }

  #addSource(account: CanaryAccount): KeySource {
    const source = new KeySource(account, this.#options);
    this.#sources.set(account.id, source);
    return source;
  }

  /** Undefined when the outcome is not known: the key may exist. */
  async #newKey(): Promise<CanaryKey | undefined> {
    const { canaries } = this.#options;
    const kind = kinds[this.#keys++ % kinds.length] ?? 'created';
    try {
      if (this.#source.isExhausted) this.#source = this.#addSource(await canaries.newAccount());
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      return undefined;
    }
    return this.#source.newKey(kind === 'imported' && !canaries.importsKeys ? 'created' : kind);
  }

  async #lifeOf(key: CanaryKey): Promise<void> {
    const { asker, askers, asksMax, instances } = this.#options;
    const asking = new Probing(askers, () => asker.askSomewhere(key));
    // A key that was created just now: what remembers a creation has not forgotten it.
    if (randomInt(keysPerShortLife) > 0) await asking.more(1 + randomInt(asksMax));
    // Whatever could remember an acceptance anywhere has just seen one.
    const before = asker.askEverywhere(key);
    if (await this.#delete(key)) await asker.askEverywhere(key);
    await before;
    asker.bury(key);
    if (randomInt(deletionsPerList) === 0) await this.list(this.#sourceOf(key), pick(instances));
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
  async #deleteOnce(key: CanaryKey): Promise<DeletionOutcome | undefined> {
    const { instances, checker, onDeleted } = this.#options;
    const { session } = this.#sourceOf(key);
    const instance = pick(instances);
    // Signed in before the clock starts.
    if (!(await session.ready(instance))) return undefined;
    const { id } = key;
    const source = `DELETE /auth/api-keys/:id at ${instance.url}`;
    const deletion = checker.beginDeletion(id, source, monotonicMs());
    const answer = await session.ask(instance, 'DELETE', `/auth/api-keys/${id}`);
    const outcome = outcomeOf(answer);
    checker.endDeletion(id, deletion, outcome, monotonicMs());
    if (outcome === 'deleted') onDeleted?.(checker.deletions);
    return outcome;
  }

  #sourceOf({ accountId }: CanaryKey): KeySource {
    return this.#sources.get(accountId) ?? this.#source;
  }
}

function outcomeOf(answer: HttpAnswer | undefined): DeletionOutcome {
  if (answer?.status === 200) return 'deleted';
  if (answer?.status === 404) return 'not_found';
  return answer?.status === 401 ? 'refused' : 'unknown';
}
