/** Creates keys one after the other, verifies each while deleting it over HTTP, and verifies it everywhere after that. */
import { setTimeout } from 'node:timers/promises';
import { monotonicMs } from '../src/foundation/clock.ts';
import { DomainError } from '../src/foundation/errors.ts';
import { pick, randomInt } from './random.ts';
import { ProbeLoops } from './probe-loops.ts';
import type { CanaryKey } from './canaries.ts';
import type { KeyKind } from './history.ts';
import type { Instance } from './instance.ts';
import { deleteKey, deleteOnce, pauseMs } from './key-deletion.ts';
import type { DeletableKeys } from './key-source.ts';
import type { ScenarioOptions } from './scenario-options.ts';

/** One deletion in so many is followed by a list. */
const deletionsPerList = 4;
/** One deletion in so many is repeated, and must fail. */
const deletionsPerRepetition = 4;

/** One key in so many is deleted immediately after its creation. */
const keysPerShortLife = 3;
export interface DeletionScenarioOptions extends Omit<ScenarioOptions, 'canaries'> {
  /** Replaces a source that has reached its limit of new keys per minute. @throws DomainError */
  readonly newSource: () => Promise<DeletableKeys>;
  /** The order in which the scenario creates its keys: a short run contains every kind. */
  readonly kinds: readonly KeyKind[];
}

export class DeletionScenario {
  readonly #options: DeletionScenarioOptions;
  /** By account. */
  readonly #sources = new Map<string, DeletableKeys>();
  #source: DeletableKeys;
  #keys = 0;

  constructor(source: DeletableKeys, options: DeletionScenarioOptions) {
    this.#options = options;
    this.#source = this.#addSource(source);
  }

  get sources(): readonly DeletableKeys[] {
    return [...this.#sources.values()];
  }

  async run(): Promise<void> {
    const { isOver } = this.#options;
    let key = await this.#newKey();
    while (!isOver()) {
      // The next key is created in the meantime, so that no deletion waits for a creation.
      [key] = await Promise.all([this.#newKey(), key ? this.#verifyAndDelete(key) : setTimeout(pauseMs)]);
    }
  }

  /** Requests an account's list at an instance, and reports it to the checker. */
  async list(source: DeletableKeys, instance: Instance): Promise<void> {
    const startedAt = monotonicMs();
    const listed = await source.list(instance);
    if (!listed) return;
    const ids = new Set(listed);
    const interval = { startedAt, endedAt: monotonicMs() };
    const what = `GET ${source.session.keysPath} at ${instance.url}`;
    this.#options.checker.listed(source.session.account.id, interval, what, ids);
  }

  #addSource(source: DeletableKeys): DeletableKeys {
    this.#sources.set(source.session.account.id, source);
    return source;
  }

  /** @returns undefined if the outcome is unknown: the key may exist */
  async #newKey(): Promise<CanaryKey | undefined> {
    const { kinds, newSource } = this.#options;
    const kind = kinds[this.#keys++ % kinds.length] ?? 'created';
    try {
      if (this.#source.isExhausted) this.#source = this.#addSource(await newSource());
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      return undefined;
    }
    return this.#source.newKey(kind);
  }

  async #verifyAndDelete(key: CanaryKey): Promise<void> {
    const { prober, loops, probesMax, instances } = this.#options;
    const probes = new ProbeLoops(loops, () => prober.probeAnywhere(key));
    // Without a pause, the deletion meets caches that the creation has filled.
    if (randomInt(keysPerShortLife) > 0) await probes.more(1 + randomInt(probesMax));
    // Fills any cache of acceptances just before the deletion.
    const before = prober.probeEverywhere(key);
    const { session } = this.#sourceOf(key);
    if (await deleteKey(session, key.id, this.#options)) await prober.probeEverywhere(key);
    await before;
    prober.markDeleted(key);
    if (randomInt(deletionsPerList) === 0) await this.list(this.#sourceOf(key), pick(instances));
    if (randomInt(deletionsPerRepetition) === 0) await deleteOnce(session, key.id, this.#options);
    await probes.more(1 + randomInt(probesMax));
    await probes.stop();
  }

  #sourceOf({ accountId }: CanaryKey): DeletableKeys {
    return this.#sources.get(accountId) ?? this.#source;
  }
}
