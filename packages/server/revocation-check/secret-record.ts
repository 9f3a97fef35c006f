/**
 * The history of one secret of a key, in constant memory besides the requests that may end it: a secret is valid until the
 * earliest of its ends, and never again. A rotation or an overlap ends it. The rules are those of a deleted key
 * (`key-record.ts`): a history violates one if no moment of the end fits all observations.
 */
import type { ChangeableCondition } from './condition.ts';
import { describe, gap, type Change, type Interval, type Observation, type Rule, type Violation } from './history.ts';

export class SecretRecord implements ChangeableCondition {
  /** For explanations: `secret 2 of key 7`. */
  readonly #subject: string;
  #ends: Change[] = [];
  /** The observation as valid with the latest start. */
  #lastMet: Observation | undefined;
  /** The observation as ended with the earliest end. */
  #firstUnmet: Observation | undefined;

  constructor(subject: string) {
    this.#subject = subject;
  }

  beginChange(end: Change): void {
    this.#ends.push(end);
  }

  withdraw(end: Change): Violation | undefined {
    this.#ends = this.#ends.filter((other) => other !== end);
    return this.#checkCause();
  }

  confine(end: Change, { startedAt, endedAt }: Interval): Violation | undefined {
    end.startedAt = startedAt;
    end.endedAt = endedAt;
    return this.#checkCause();
  }

  mayBeUnmet({ endedAt }: Interval): boolean {
    return this.#ends.some(({ startedAt }) => startedAt < endedAt);
  }

  unmetSince(time: number): number {
    const since = Math.min(...this.#ends.map(({ endedAt }) => endedAt));
    return since <= time ? since : Infinity;
  }

  observedMet(observation: Observation): Violation | undefined {
    const { startedAt } = observation;
    if (this.#lastMet === undefined || startedAt > this.#lastMet.startedAt) this.#lastMet = observation;
    const ended = this.#ends.find(({ endedAt }) => startedAt > endedAt);
    if (ended !== undefined)
      return this.#violation(
        'accepted_after_narrowing',
        observation,
        `${gap(ended.endedAt, startedAt)} after the end of the secret by ${describe(ended)}`,
      );
    const first = this.#firstUnmet;
    if (first === undefined || startedAt <= first.endedAt) return undefined;
    const text = `${gap(first.endedAt, startedAt)} after it was ${first.observed} by ${describe(first)}`;
    return this.#violation('came_back', observation, text);
  }

  observedUnmet(observation: Observation): Violation | undefined {
    const first = this.#firstUnmet;
    if (first !== undefined && observation.endedAt >= first.endedAt) return undefined;
    this.#firstUnmet = observation;
    const last = this.#lastMet;
    if (last !== undefined && last.startedAt > observation.endedAt)
      return this.#violation('came_back', last, `after it was ${observation.observed} by ${describe(observation)}`);
    return this.#checkCause();
  }

  /** Requests are reported when they begin, so a missing cause never follows. */
  #checkCause(): Violation | undefined {
    const first = this.#firstUnmet;
    if (first === undefined || this.mayBeUnmet(first)) return undefined;
    // Reported once.
    this.#firstUnmet = undefined;
    return this.#violation('refused_without_cause', first, 'before any request or time that ends the secret');
  }

  #violation(rule: Rule, observation: Observation, text: string): Violation {
    return { rule, explanation: `${this.#subject}: ${observation.observed} by ${describe(observation)}, ${text}` };
  }
}
