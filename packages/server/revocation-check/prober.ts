/** Verifies keys at any instance in any way, and records each verification with the checker. */
import { randomInt } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { limits } from '@keyreeve/contract';
import { monotonicMs } from '../src/foundation/clock.ts';
import type { CanaryKey } from './canaries.ts';
import type { Checker } from './checker.ts';
import type { Verdict } from './history.ts';
import type { HttpAnswer, Instance } from './instance.ts';
import { describeRequest, questions, type Question } from './questions.ts';

/** Where and how. */
export interface Target {
  readonly instance: Instance;
  readonly question: Question;
}

/** What is asked anew after its deletion: the last ones. */
const buriedMax = 512;
/** A quarter of what one request may hold: more would leave less room for deletions. */
const manyKeys = limits.credentialsPerBatchMax / 4;
/** After no answer: an instance that is down refuses connections faster than anybody needs to know. */
const pauseMs = 20;

export const pick = <T>(values: readonly T[]): T => values[randomInt(values.length)] as T;

export class Prober {
  readonly targets: readonly Target[];
  /** For keys that are not callers' keys. */
  readonly #targetsOfOthers: readonly Target[];
  /** Keys that may live. */
  readonly live = new Set<CanaryKey>();
  readonly #buried: CanaryKey[] = [];
  readonly #checker: Checker;
  readonly #service: CanaryKey;

  /** @param service the key that the askers themselves present */
  constructor(instances: readonly Instance[], checker: Checker, service: CanaryKey) {
    this.targets = instances.flatMap((instance) => questions.map((question) => ({ instance, question })));
    this.#targetsOfOthers = this.targets.filter(({ question }) => !question.isForCallers);
    this.#checker = checker;
    this.#service = service;
  }

  /** A deleted key, to be asked about now and then for as long as it is one of the last. */
  bury(key: CanaryKey): void {
    this.live.delete(key);
    this.#buried.push(key);
    if (this.#buried.length > buriedMax) this.#buried.shift();
  }

  /** About the key, and about others where there is room; sometimes about a deleted one instead. */
  async askSomewhere(key: CanaryKey): Promise<void> {
    const own = this.#buried.length > 0 && randomInt(8) === 0 ? pick(this.#buried) : key;
    const target = pick(this.targetsOf(own));
    const verdicts = await this.ask(target, [own, ...this.#others(target.question.keysMax - 1)]);
    if (verdicts[0] === 'unknown') await setTimeout(pauseMs);
  }

  /** About many, those that may live and those that were deleted lately, in one request. */
  async askMany(): Promise<void> {
    const batches = this.targets.filter(({ question }) => question.keysMax > 1);
    const verdicts = await this.ask(pick(batches), this.#others(manyKeys));
    if (verdicts.length === 0 || verdicts[0] === 'unknown') await setTimeout(pauseMs);
  }

  /** At all instances, in all ways, all started before this returns. */
  async askEverywhere(key: CanaryKey): Promise<void> {
    await Promise.all(this.targetsOf(key).map((target) => this.ask(target, [key])));
  }

  targetsOf({ kind }: CanaryKey): readonly Target[] {
    return kind === 'caller' ? this.targets : this.#targetsOfOthers;
  }

  async ask({ instance, question }: Target, keys: readonly CanaryKey[]): Promise<readonly Verdict[]> {
    const request = question.request(keys, this.#service);
    const source = `${describeRequest(question, request)} at ${instance.url}`;
    const startedAt = monotonicMs();
    const answer = await instance.ask(request).catch(() => undefined);
    const endedAt = monotonicMs();
    const read = answer && readSafely(question, answer, keys);
    if (read === 'caller refused') {
      this.#checker.verified(this.#service.id, { verdict: 'refused', source, startedAt, endedAt });
    }
    const verdicts = typeof read === 'object' ? read : keys.map((): Verdict => 'unknown');
    for (const [index, { id }] of keys.entries()) {
      const verdict = verdicts[index] ?? 'unknown';
      this.#checker.verified(id, { verdict, source, startedAt, endedAt });
      if (verdict !== 'unknown') instance.verdicts++;
    }
    return verdicts;
  }

  #others(count: number): CanaryKey[] {
    if (count <= 0) return [];
    const live = [...this.live];
    return Array.from({ length: count }, (_, index) => {
      const from = index % 2 === 0 || this.#buried.length === 0 ? live : this.#buried;
      return from.length === 0 ? [] : [pick(from)];
    }).flat();
  }
}

/** What isn't in the contract's form is no answer. */
function readSafely(question: Question, answer: HttpAnswer, keys: readonly CanaryKey[]): ReturnType<Question['read']> {
  try {
    return question.read(answer, keys);
  } catch {
    return keys.map(() => 'unknown');
  }
}
