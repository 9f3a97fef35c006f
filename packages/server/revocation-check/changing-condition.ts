/**
 * The history of a condition that changes in both directions: an account is disabled and enabled, a key loses a scope and
 * gets it again. Each change takes effect at one moment between its start and its end. An observation between two changes
 * must fit the state between them. An observation during a change narrows the moment at which the change took effect.
 *
 * Changes of one condition are sequential. If a change begins while the outcome of the previous one is unknown, every later
 * observation is possible, so the checker stops checking the condition there.
 */
import type { ChangeableCondition, KeyConditions } from './condition.ts';
import { describe, gap, type Change, type Interval, type Observation, type Rule, type Violation } from './history.ts';

type State = Change['to'];

export class ChangingCondition implements ChangeableCondition {
  /** For explanations: `account acc_1`. */
  readonly #subject: string;
  readonly #ruleOfAcceptance: Rule;
  /** Without changes to the current state, so their targets alternate. */
  readonly #changes: Change[] = [];
  /** Includes changes to the current state: with an unknown outcome, such a change may undo a later one. */
  #lastBegun: Change | undefined;
  #checkedUntil = Infinity;

  /** @param ruleOfAcceptance the rule that an acceptance violates while the condition is unmet */
  constructor(subject: string, ruleOfAcceptance: Rule) {
    this.#subject = subject;
    this.#ruleOfAcceptance = ruleOfAcceptance;
  }

  beginChange(change: Change): void {
    const before = this.#lastBegun;
    this.#lastBegun = change;
    if (before?.endedAt === Infinity) this.#checkedUntil = Math.min(this.#checkedUntil, change.startedAt);
    else if (change.to !== (this.#changes.at(-1)?.to ?? 'met')) this.#changes.push(change);
  }

  withdraw(change: Change): Violation | undefined {
    if (this.#lastBegun === change) this.#lastBegun = undefined;
    const index = this.#changes.indexOf(change);
    if (index < 0) return undefined;
    this.#changes.splice(index, 1);
    return change.observedBy === Infinity ? undefined : this.#unexplained(change, 'which was rejected');
  }

  confine(change: Change, { startedAt, endedAt }: Interval): Violation | undefined {
    change.startedAt = startedAt;
    change.endedAt = endedAt;
    return change.observedBy < startedAt ? this.#unexplained(change, 'before its time') : undefined;
  }

  mayBeUnmet(interval: Interval): boolean {
    const { startedAt, endedAt } = interval;
    if (endedAt > this.#checkedUntil) return true;
    return this.#during(interval).length > 0 || this.#stateAt(startedAt) === 'unmet';
  }

  observedMet(observation: Observation): Violation | undefined {
    return this.#observed('met', observation);
  }

  observedUnmet(observation: Observation): Violation | undefined {
    return this.#observed('unmet', observation);
  }

  unmetSince(time: number): number {
    const change = this.#lastChangeBefore(time);
    return change?.to === 'unmet' ? change.endedAt : Infinity;
  }

  #observed(state: State, observation: Observation): Violation | undefined {
    const { startedAt, endedAt } = observation;
    if (endedAt > this.#checkedUntil) return undefined;
    const [change, ...more] = this.#during(observation);
    if (!change) return this.#stateAt(startedAt) === state ? undefined : this.#contradiction(state, observation);
    // An interval that overlaps two changes contains both states.
    if (more.length > 0) return undefined;
    if (state === change.to) {
      change.observedBy = Math.min(change.observedBy, endedAt);
      return undefined;
    }
    if (startedAt <= change.observedBy) return undefined;
    return {
      rule: change.to === 'unmet' ? 'came_back' : 'refused_without_cause',
      explanation: `${this.#describe(observation)}, ${gap(change.observedBy, startedAt)} after the effect of ${describe(change)} was observed`,
    };
  }

  /** The last change whose response arrived before `time`. */
  #lastChangeBefore(time: number): Change | undefined {
    return this.#changes.findLast(({ endedAt }) => endedAt <= time);
  }

  /** The changes that overlap the interval, latest first: observations arrive close to the end of the list. */
  #during({ startedAt, endedAt }: Interval): Change[] {
    const found: Change[] = [];
    for (let i = this.#changes.length - 1; i >= 0; i--) {
      const change = this.#changes[i];
      if (!change || change.endedAt < startedAt) break;
      if (change.startedAt <= endedAt) found.push(change);
    }
    return found;
  }

  #stateAt(time: number): State {
    return this.#lastChangeBefore(time)?.to ?? 'met';
  }

  #contradiction(state: State, observation: Observation): Violation {
    const change = this.#lastChangeBefore(observation.startedAt);
    const when = change
      ? `, ${gap(change.endedAt, observation.startedAt)} after the response to ${describe(change)}`
      : ', without a request that explains it';
    return {
      rule: state === 'met' ? this.#ruleOfAcceptance : 'refused_without_cause',
      explanation: this.#describe(observation) + when,
    };
  }

  #unexplained(change: Change, why: string): Violation {
    return {
      rule: change.to === 'met' ? this.#ruleOfAcceptance : 'refused_without_cause',
      explanation: `${this.#subject}: the effect of ${describe(change)}, ${why}, was observed by ${change.observedBy.toFixed(3)} ms`,
    };
  }

  #describe(observation: Observation): string {
    return `${this.#subject}: ${observation.observed} by ${describe(observation)}`;
  }
}

/** The conditions of one key, all met. */
export function newKeyConditions(id: number): Readonly<Record<keyof KeyConditions, ChangingCondition>> {
  const condition = (): ChangingCondition => new ChangingCondition(`key ${id}`, 'accepted_after_narrowing');
  return {
    enabled: condition(),
    unexpired: condition(),
    scope: condition(),
    address: condition(),
    anywhere: condition(),
  };
}
