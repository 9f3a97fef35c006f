/** Keys that a scenario creates one after the other: each is changed while its secrets are verified, and is deleted. */
import { setTimeout } from 'node:timers/promises';
import { DomainError } from '../src/foundation/errors.ts';
import type { CanaryKey } from './canaries.ts';
import { newKeyConditions } from './changing-condition.ts';
import type { Effect } from './checker.ts';
import type { AskedOfKey, KeyConditions } from './condition.ts';
import { deleteKey, pauseMs } from './key-deletion.ts';
import { KeyAbandoned, KeyRequests } from './key-requests.ts';
import { KeySource } from './key-source.ts';
import { pick } from './prober.ts';
import { ProbeLoops } from './probe-loops.ts';
import type { ScenarioOptions } from './scenario-options.ts';
import { SecretRecord } from './secret-record.ts';

/** IP addresses for documentation (RFC 5737). */
export const clientIpOfProbes = '203.0.113.7';
export const forgedAddress = '198.51.100.9';

/** @param scope that verifications ask for @param conditions instead of those of the key alone */
export const askedOf = (
  id: number,
  scope: string | undefined,
  conditions: Partial<KeyConditions> = {},
): AskedOfKey => ({
  scope,
  address: clientIpOfProbes,
  forgedAddress,
  secret: new SecretRecord(`secret 1 of key ${id}`),
  conditions: { ...newKeyConditions(id), ...conditions },
});

export abstract class ScenarioKey {
  /** The secrets that may be valid. */
  abstract readonly secrets: readonly CanaryKey[];
  protected readonly options: ScenarioOptions;
  protected readonly requests: KeyRequests;
  readonly #id: number;
  readonly #conditions: KeyConditions;
  readonly #source: KeySource;

  constructor(id: number, { conditions }: AskedOfKey, source: KeySource, options: ScenarioOptions) {
    this.#id = id;
    this.#conditions = conditions;
    this.#source = source;
    this.options = options;
    this.requests = new KeyRequests(id, source, { ...options, probe: () => this.probeEverywhere() });
  }

  /** @throws KeyAbandoned */
  async setDisabled(disabled: boolean): Promise<void> {
    const request = { method: 'PATCH', path: '', body: { disabled } } as const;
    await this.requests.send(disabled ? 'disabled' : 'widened', request, [this.toggle('enabled', !disabled)]);
  }

  /** Repeats the deletion until its outcome is known, or the run ends. */
  async delete(): Promise<void> {
    const before = this.probeEverywhere();
    if (await deleteKey(this.#source.session, this.#id, this.options)) await this.probeEverywhere();
    await before;
    for (const secret of this.secrets) this.options.prober.markDeleted(secret);
  }

  /** Verifies all secrets at all their targets. */
  async probeEverywhere(): Promise<void> {
    await Promise.all(this.secrets.map((secret) => this.options.prober.probeEverywhere(secret)));
  }

  protected toggle(name: keyof KeyConditions, isMet: boolean): Effect {
    return { condition: this.#conditions[name], to: isMet ? 'met' : 'unmet' };
  }
}

/** @param create returns undefined if the outcome of the creation is unknown @param change ends early with KeyAbandoned */
export async function forEachKey<Key extends ScenarioKey>(
  options: ScenarioOptions,
  create: (source: KeySource) => Promise<Key | undefined>,
  change: (key: Key, probes: ProbeLoops) => Promise<void>,
): Promise<void> {
  const { canaries, prober, loops, isOver } = options;
  let source: KeySource | undefined;
  while (!isOver()) {
    let created: Key | undefined;
    try {
      if (source === undefined || source.isExhausted) source = new KeySource(await canaries.newAccount(), options);
      created = await create(source);
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
    }
    if (created === undefined) {
      await setTimeout(pauseMs);
      continue;
    }
    const key = created;
    const probe = (): Promise<void> =>
      key.secrets.length === 0 ? setTimeout(pauseMs) : prober.probeAnywhere(pick(key.secrets));
    const probes = new ProbeLoops(loops, probe);
    try {
      await change(key, probes);
    } catch (error) {
      if (!(error instanceof KeyAbandoned)) throw error;
    } finally {
      await key.delete();
      await probes.stop();
    }
  }
}
