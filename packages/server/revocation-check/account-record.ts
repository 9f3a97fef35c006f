/**
 * What the checker keeps of one account: when it was disabled and enabled. Each change takes effect at one moment
 * between its start and its end. What is seen between two changes must fit the state between them; what is seen while
 * one runs narrows the moment at which it took effect.
 *
 * Changes of one account come one after the other. A change that begins while the one before it has no known outcome
 * makes everything possible, so from there on nothing is judged.
 */
import { tell, type AccountChange, type AccountState, type Observation, type Violation } from './history.ts';
import { gap } from './key-record.ts';

export class AccountRecord {
  readonly id: string;
  /** Only those that changed something: their targets alternate. */
  readonly #changes: AccountChange[] = [];
  /** Also one that changes nothing now: without a known outcome it may undo what comes later. */
  #lastBegun: AccountChange | undefined;
  #judgedUntil = Infinity;

  constructor(id: string) {
    this.id = id;
  }

  beginChange(change: AccountChange): void {
    const before = this.#lastBegun;
    this.#lastBegun = change;
    if (before?.endedAt === Infinity) this.#judgedUntil = Math.min(this.#judgedUntil, change.startedAt);
    else if (change.to !== (this.#changes.at(-1)?.to ?? 'enabled')) this.#changes.push(change);
  }

  /** Whether it may have been in the state at a moment of the interval. */
  mayBe(state: AccountState, { startedAt, endedAt }: Pick<Observation, 'startedAt' | 'endedAt'>): boolean {
    if (endedAt > this.#judgedUntil) return true;
    return this.#during(startedAt, endedAt).length > 0 || this.#stateAt(startedAt) === state;
  }

  /** @returns the violation, if it can’t have been in this state at any moment of the interval */
  saw(state: AccountState, observation: Observation): Violation | undefined {
    const { startedAt, endedAt } = observation;
    if (endedAt > this.#judgedUntil) return undefined;
    const [change, ...more] = this.#during(startedAt, endedAt);
    if (!change) return this.#stateAt(startedAt) === state ? undefined : this.#contradiction(state, observation);
    // Between two changes lies a time in the one state, and before or after it one in the other.
    if (more.length > 0) return undefined;
    if (state === change.to) {
      change.seenBy = Math.min(change.seenBy, endedAt);
      return undefined;
    }
    if (startedAt <= change.seenBy) return undefined;
    return {
      rule: change.to === 'disabled' ? 'came_back' : 'refused_without_cause',
      explanation: `${this.#told(observation)}, ${gap(change.seenBy, startedAt)} after the effect of ${tell(change)} had been seen`,
    };
  }

  /** The last change that was answered before then. */
  lastChangeBefore(startedAt: number): AccountChange | undefined {
    return this.#changes.findLast(({ endedAt }) => endedAt <= startedAt);
  }

  /** Those that ran at some moment of the interval. The last ones come first, and there they are. */
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
      ? `, ${gap(change.endedAt, observation.startedAt)} after the answer of ${tell(change)}`
      : ', though nobody had disabled it';
    return {
      rule: state === 'enabled' ? 'accepted_while_disabled' : 'refused_without_cause',
      explanation: this.#told(observation) + when,
    };
  }

  #told(observation: Observation): string {
    return `account ${this.id}: ${observation.saw} by ${tell(observation)}`;
  }
}
