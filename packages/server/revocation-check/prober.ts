/** Verifies keys at any instance by any method, and reports each verification to the checker. */
import { setTimeout } from 'node:timers/promises';
import { limits } from '@keyreeve/contract';
import { monotonicMs } from '../src/foundation/clock.ts';
import type { CanaryKey } from './canaries.ts';
import type { Checker } from './checker.ts';
import type { Asked, AskedOfKey } from './condition.ts';
import type { ObservedResult } from './history.ts';
import type { HttpResponse, Instance } from './instance.ts';
import { pick, randomInt } from './random.ts';
import { describeRequest, verificationMethods, type VerificationMethod } from './verification-methods.ts';

export interface Target {
  readonly instance: Instance;
  readonly method: VerificationMethod;
}

/** How many of the last deleted keys are verified again. */
const deletedMax = 512;
/** A quarter of a full batch: more would leave less time for deletions. */
const batchKeys = limits.credentialsPerBatchMax / 4;
/** After a missing response: otherwise an instance that refuses connections causes a busy loop. */
const pauseMs = 20;

export { pick };

export class Prober {
  readonly targets: readonly Target[];
  /** For keys without the scope of a caller. */
  readonly #targetsForOrdinaryKeys: readonly Target[];
  /** Keys that may be valid. */
  readonly live = new Set<CanaryKey>();
  readonly #deleted: CanaryKey[] = [];
  readonly #checker: Checker;
  readonly #caller: CanaryKey;

  /** @param caller the key that authenticates the requests */
  constructor(instances: readonly Instance[], checker: Checker, caller: CanaryKey) {
    this.targets = instances.flatMap((instance) => verificationMethods.map((method) => ({ instance, method })));
    this.#targetsForOrdinaryKeys = this.targets.filter(({ method }) => !method.isForCallers);
    this.#checker = checker;
    this.#caller = caller;
  }

  /** Verifies a deleted key again from time to time, while it is among the last 512. */
  markDeleted(key: CanaryKey): void {
    this.live.delete(key);
    this.#deleted.push(key);
    if (this.#deleted.length > deletedMax) this.#deleted.shift();
  }

  /** Verifies the key, or in one of eight cases a deleted one, at a random target; a batch is filled with other keys. */
  async probeAnywhere(key: CanaryKey): Promise<void> {
    const first = this.#deleted.length > 0 && randomInt(8) === 0 ? pick(this.#deleted) : key;
    const target = pick(this.targetsOf(first));
    const results = await this.probe(target, [first, ...this.#otherKeys(target.method.keysMax - 1)]);
    if (results[0] === 'unknown') await setTimeout(pauseMs);
  }

  /** Verifies many keys, valid and recently deleted ones, in one request. */
  async probeBatch(): Promise<void> {
    const batches = this.targets.filter(({ method }) => method.keysMax > 1);
    const results = await this.probe(pick(batches), this.#otherKeys(batchKeys));
    if (results.length === 0 || results[0] === 'unknown') await setTimeout(pauseMs);
  }

  /** Verifies the key at all its targets. All requests start before this method returns. */
  async probeEverywhere(key: CanaryKey): Promise<void> {
    await Promise.all(this.targetsOf(key).map((target) => this.probe(target, [key])));
  }

  targetsOf({ kind }: CanaryKey): readonly Target[] {
    return kind === 'caller' ? this.targets : this.#targetsForOrdinaryKeys;
  }

  async probe({ instance, method }: Target, keys: readonly CanaryKey[]): Promise<readonly ObservedResult[]> {
    const request = method.request(keys, this.#caller);
    const source = `${describeRequest(method, request)} at ${instance.url}`;
    const startedAt = monotonicMs();
    const response = await instance.send(request).catch(() => undefined);
    const endedAt = monotonicMs();
    const read = response && readSafely(method, response, keys);
    if (read === 'caller rejected') {
      this.#checker.verified(this.#caller.id, { result: 'rejected', source, startedAt, endedAt });
    }
    const results = typeof read === 'object' ? read : keys.map((): ObservedResult => 'unknown');
    for (const [index, { id, asked }] of keys.entries()) {
      const result = results[index] ?? 'unknown';
      this.#checker.verified(
        id,
        { result, source, startedAt, endedAt },
        asked && conditionsOf(asked, method, instance),
      );
      if (result !== 'unknown') instance.verifications++;
    }
    return results;
  }

  #otherKeys(count: number): CanaryKey[] {
    if (count <= 0) return [];
    const live = [...this.live];
    return Array.from({ length: count }, (_, index) => {
      const from = index % 2 === 0 || this.#deleted.length === 0 ? live : this.#deleted;
      return from.length === 0 ? [] : [pick(from)];
    }).flat();
  }
}

/** The conditions of a verification of this key by this method. */
function conditionsOf(
  { secret, scope, conditions }: AskedOfKey,
  { asksForScope, reportsAddress }: VerificationMethod,
  { trustsForwardedFor }: Instance,
): Asked {
  const isReported = reportsAddress === 'member' || (reportsAddress === 'header' && trustsForwardedFor);
  return {
    secret,
    enabled: conditions.enabled,
    unexpired: conditions.unexpired,
    address: isReported ? conditions.address : conditions.anywhere,
    scope: asksForScope && scope !== undefined ? conditions.scope : undefined,
  };
}

/** A response that violates the contract has an unknown result. */
function readSafely(
  method: VerificationMethod,
  response: HttpResponse,
  keys: readonly CanaryKey[],
): ReturnType<VerificationMethod['read']> {
  try {
    return method.read(response, keys);
  } catch {
    return keys.map(() => 'unknown');
  }
}
