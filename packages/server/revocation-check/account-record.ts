/**
 * The history of one account in the checker: when it was disabled and enabled. Each change takes effect at one moment
 * between its start and its end. An observation between two changes must fit the state between them. An observation during
 * a change narrows the moment at which the change took effect.
 *
 * Changes of one account are sequential. If a change begins while the outcome of the previous one is unknown, every later
 * observation is possible, so the checker stops checking the account there.
 */
import { describe, type AccountChange, type AccountState, type Observation, type Violation } from './history.ts';
import { gap } from './key-record.ts';

export class AccountRecord {
  readonly id: string;
  /** Without changes to the current state, so their targets alternate. */
  readonly #changes: AccountChange[] = [];
  /** Includes changes to the current state: with an unknown outcome, such a change may undo a later one. */
  #lastBegun: AccountChange | undefined;
  #checkedUntil = Infinity;

  constructor(id: string) {
    this.id = id;
  }

  beginChange(change: AccountChange): void {
    const before = this.#lastBegun;
    this.#lastBegun = change;
    if (before?.endedAt === Infinity) this.#checkedUntil = Math.min(this.#checkedUntil, change.startedAt);
    else if (change.to !== (this.#changes.at(-1)?.to ?? 'enabled')) this.#changes.push(change);
  }

  /** Whether the account may have been in the state at a moment of the interval. */
  mayBe(state: AccountState, { startedAt, endedAt }: Pick<Observation, 'startedAt' | 'endedAt'>): boolean {
    if (endedAt > this.#checkedUntil) return true;
    return this.#during(startedAt, endedAt).length > 0 || this.#stateAt(startedAt) === state;
  }

  /** @returns the violation, if the account cannot have been in this state at any moment of the interval */
  observed(state: AccountState, observation: Observation): Violation | undefined {
    const { startedAt, endedAt } = observation;
    if (endedAt > this.#checkedUntil) return undefined;
    const [change, ...more] = this.#during(startedAt, endedAt);
    if (!change) return this.#stateAt(startedAt) === state ? undefined : this.#contradiction(state, observation);
    // An interval that overlaps two changes contains both states.
    if (more.length > 0) return undefined;
    if (state === change.to) {
      change.observedBy = Math.min(change.observedBy, endedAt);
      return undefined;
    }
    if (startedAt <= change.observedBy) return undefined;
    return {
      rule: change.to === 'disabled' ? 'came_back' : 'refused_without_cause',
      explanation: `${this.#describe(observation)}, ${gap(change.observedBy, startedAt)} after the effect of ${describe(change)} was observed`,
    };
  }

  /** The last change whose response arrived before `startedAt`. */
  lastChangeBefore(startedAt: number): AccountChange | undefined {
    return this.#changes.findLast(({ endedAt }) => endedAt <= startedAt);
  }

  /** The changes that overlap the interval, latest first: observations arrive close to the end of the list. */
  #during(startedAt: number, endedAt: number): AccountChange[] {
    const found: AccountChange[] = [];
    for (let i = this.#changes.length - 1; i >= 0; i--) {
      const change = this.#changes[i];
      if (!change || change.endedAt < startedAt) break;
      if (change.startedAt <= endedAt) found.push(change);
    }
    return found;
  }

  #stateAt(time: number): AccountState {
    return this.lastChangeBefore(time)?.to ?? 'enabled';
  }

  #contradiction(state: AccountState, observation: Observation): Violation {
    const change = this.lastChangeBefore(observation.startedAt);
    const when = change
      ? `, ${gap(change.endedAt, observation.startedAt)} after the response to ${describe(change)}`
      : ', without a request to disable the account';
    return {
      rule: state === 'enabled' ? 'accepted_while_disabled' : 'refused_without_cause',
      explanation: this.#describe(observation) + when,
    };
  }

  #describe(observation: Observation): string {
    return `account ${this.id}: ${observation.observed} by ${describe(observation)}`;
  }
}
