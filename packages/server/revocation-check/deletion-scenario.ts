/** Creates keys one after the other, verifies each while deleting it over HTTP, and verifies it everywhere after that. */
import { randomInt } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { monotonicMs } from '../src/foundation/clock.ts';
import { DomainError } from '../src/foundation/errors.ts';
import { pick } from './prober.ts';
import { ProbeLoops } from './probe-loops.ts';
import type { CanaryAccount, CanaryKey } from './canaries.ts';
import type { KeyKind } from './history.ts';
import type { Instance } from './instance.ts';
import { deleteKey, deleteOnce, pauseMs } from './key-deletion.ts';
import { KeySource } from './key-source.ts';
import type { ScenarioOptions } from './scenario-options.ts';

/** One deletion in so many is followed by a list. */
const deletionsPerList = 4;
/** One deletion in so many is repeated, and must fail. */
const deletionsPerRepetition = 4;

/** One key in so many is deleted immediately after its creation. */
const keysPerShortLife = 3;
/** The order in which a scenario creates its keys: a short run contains every kind. */
const kinds: readonly KeyKind[] = ['created', 'caller', 'imported', 'created', 'created', 'caller'];

export class DeletionScenario {
  readonly #options: ScenarioOptions;
  /** By account. An account that has reached its limit of new keys per minute is replaced. */
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
      // The next key is created in the meantime, so that no deletion waits for a creation.
      [key] = await Promise.all([this.#newKey(), key ? this.#verifyAndDelete(key) : setTimeout(pauseMs)]);
    }
  }

  /** Requests an account's list at an instance, and reports it to the checker. */
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

  /** @returns undefined if the outcome is unknown: the key may exist */
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

  #sourceOf({ accountId }: CanaryKey): KeySource {
    return this.#sources.get(accountId) ?? this.#source;
  }
}
