/**
 * The history of one key in the checker, in constant memory: a key is created once and deleted once, so the latest start of
 * an observation as valid and the earliest end of an observation as deleted represent all verifications.
 *
 * The moment of deletion, D, lies within the successful deletion, or after the start of one with an unknown outcome. An
 * operation that observed the key as valid started before D; one that observed it as deleted ended after D. A history
 * violates a rule if no such D exists.
 */
import type { Condition } from './condition.ts';
import {
  describe,
  gap,
  type Deletion,
  type Interval,
  type KeyKind,
  type Observation,
  type Rule,
  type Violation,
} from './history.ts';

export class KeyRecord implements Condition {
  readonly id: number;
  readonly accountId: string;
  /** When the response to the creation arrived. An operation that started earlier may have missed the key. */
  readonly createdAt: number;
  readonly kind: KeyKind;
  /** The observation as valid with the latest start. */
  lastValid: Observation | undefined;
  /** The observation as deleted with the earliest end. */
  firstDeleted: Observation | undefined;
  /** Those that took effect or may take effect. */
  deletions: Deletion[] = [];
  /** The deletion that succeeded. */
  deletion: Deletion | undefined;

  constructor(id: number, accountId: string, createdAt: number, kind: KeyKind) {
    this.id = id;
    this.accountId = accountId;
    this.createdAt = createdAt;
    this.kind = kind;
  }

  beginDeletion(deletion: Deletion): void {
    this.deletions.push(deletion);
  }

  /** @param deletion with its outcome and its end */
  endDeletion(deletion: Deletion): Violation | undefined {
    const { outcome, startedAt, endedAt, source } = deletion;
    if (outcome === 'unknown') return undefined;
    if (outcome !== 'deleted') this.deletions = this.deletions.filter((other) => other !== deletion);
    if (outcome === 'not_found')
      this.observedUnmet({ by: 'deletion', observed: 'not found', source, startedAt, endedAt });
    if (outcome !== 'deleted') return undefined;
    const first = this.deletion;
    if (first) return this.#violation('deleted_twice', `${describe(first)}, and again by ${describe(deletion)}`);
    this.deletion = deletion;
    return undefined;
  }

  /** @returns the violation, if the key must have been deleted before the observation started */
  observedMet(observation: Observation): Violation | undefined {
    const { startedAt, by } = observation;
    if (this.lastValid === undefined || startedAt > this.lastValid.startedAt) this.lastValid = observation;
    const { deletion, firstDeleted } = this;
    const what = `${observation.observed} by ${describe(observation)}`;
    if (deletion !== undefined && startedAt > deletion.endedAt) {
      return this.#violation(
        ruleOf(by, 'accepted_after_deletion'),
        `${what}, ${gap(deletion.endedAt, startedAt)} after the response to ${describe(deletion)}`,
      );
    }
    if (firstDeleted !== undefined && startedAt > firstDeleted.endedAt) {
      const { endedAt, observed } = firstDeleted;
      return this.#violation(
        ruleOf(by, 'came_back'),
        `${what}, ${gap(endedAt, startedAt)} after it was ${observed} by ${describe(firstDeleted)}`,
      );
    }
    return undefined;
  }

  /** `finish` checks it, because a deletion with an unknown outcome may turn out to have had no effect. */
  observedUnmet(observation: Observation): undefined {
    if (observation.startedAt < this.createdAt) return;
    if (this.firstDeleted === undefined || observation.endedAt < this.firstDeleted.endedAt)
      this.firstDeleted = observation;
  }

  /** Whether a deletion may have taken effect by then. */
  mayBeUnmet({ endedAt }: Pick<Interval, 'endedAt'>): boolean {
    return this.deletions.some(({ startedAt }) => startedAt < endedAt);
  }

  unmetSince(time: number): number {
    const since = this.deletion?.endedAt ?? Infinity;
    return since <= time ? since : Infinity;
  }

  /** Checks that a deletion explains the observations as deleted. Requires the outcome of every operation. */
  finish(): Violation | undefined {
    const { firstDeleted, deletion } = this;
    if (firstDeleted === undefined) return undefined;
    const { by, observed, endedAt } = firstDeleted;
    if (deletion ? deletion.startedAt < endedAt : this.mayBeUnmet({ endedAt })) return undefined;
    const cause = deletion ? `before the request of ${describe(deletion)}` : 'without a request to delete the key';
    return this.#violation(ruleOf(by, 'refused_without_cause'), `${observed} by ${describe(firstDeleted)}, ${cause}`);
  }

  #violation(rule: Rule, text: string): Violation {
    return { rule, explanation: `key ${this.id}: ${text}` };
  }
}

function ruleOf(by: Observation['by'], rule: Rule): Rule {
  if (by === 'list') return 'list_disagrees';
  return by === 'audit log' ? 'audit_disagrees' : rule;
}
