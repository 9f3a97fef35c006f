/**
 * What the checker keeps of one key, however many verifications there are: a key lives once and dies once, so the
 * latest start at which it was alive and the earliest end at which it was dead say all that its verifications say.
 *
 * The moment of its death, D, lies within its successful deletion, or after the start of one whose outcome is unknown.
 * Whoever saw it alive started before D; whoever saw it dead ended after D. The rules are what makes such a D impossible.
 */
import {
  tell,
  type Deletion,
  type Interval,
  type KeyKind,
  type Observation,
  type Rule,
  type Violation,
} from './history.ts';

export class KeyRecord {
  readonly id: number;
  readonly accountId: string;
  /** When its creation was answered: nothing that starts earlier can be blamed for not finding it. */
  readonly createdAt: number;
  readonly kind: KeyKind;
  /** The one that started last. */
  lastAlive: Observation | undefined;
  /** The one that ended first. */
  firstDead: Observation | undefined;
  /** Those that took effect or may have. */
  deletions: Deletion[] = [];
  /** The one that was answered with success. */
  deleted: Deletion | undefined;

  constructor(id: number, accountId: string, createdAt: number, kind: KeyKind) {
    this.id = id;
    this.accountId = accountId;
    this.createdAt = createdAt;
    this.kind = kind;
  }

  beginDeletion(deletion: Deletion): void {
    this.deletions.push(deletion);
  }

  /** The deletion has its outcome and its end. */
  endDeletion(deletion: Deletion): Violation | undefined {
    const { outcome, startedAt, endedAt, source } = deletion;
    if (outcome === 'unknown') return undefined;
    if (outcome !== 'deleted') this.deletions = this.deletions.filter((other) => other !== deletion);
    if (outcome === 'not_found') this.sawDead({ by: 'deletion', saw: 'not found', source, startedAt, endedAt });
    if (outcome !== 'deleted') return undefined;
    const first = this.deleted;
    if (first) return this.#violation('deleted_twice', `${tell(first)}, and again by ${tell(deletion)}`);
    this.deleted = deletion;
    return undefined;
  }

  /** @returns the violation, if this was seen after the key had died for certain */
  sawAlive(observation: Observation): Violation | undefined {
    const { startedAt, by } = observation;
    if (this.lastAlive === undefined || startedAt > this.lastAlive.startedAt) this.lastAlive = observation;
    const { deleted, firstDead } = this;
    if (deleted !== undefined && startedAt > deleted.endedAt) {
      const late = `${observation.saw} by ${tell(observation)}, ${gap(deleted.endedAt, startedAt)} after the answer of`;
      return this.#violation(ruleOf(by, 'accepted_after_deletion'), `${late} ${tell(deleted)}`);
    }
    if (firstDead !== undefined && startedAt > firstDead.endedAt) {
      return this.#violation(
        ruleOf(by, 'came_back'),
        `${observation.saw} by ${tell(observation)}, ${gap(firstDead.endedAt, startedAt)} after it was ${firstDead.saw} by ${tell(firstDead)}`,
      );
    }
    return undefined;
  }

  sawDead(observation: Observation): void {
    if (observation.startedAt < this.createdAt) return;
    if (this.firstDead === undefined || observation.endedAt < this.firstDead.endedAt) this.firstDead = observation;
  }

  /** Whether some deletion could have taken effect by then. */
  mayBeDeletedBy(endedAt: number): boolean {
    return this.deletions.some(({ startedAt }) => startedAt < endedAt);
  }

  /** What can be told only when every outcome is known: whether something explains that it was seen dead. */
  finish(): Violation | undefined {
    const { firstDead, deleted } = this;
    if (firstDead === undefined) return undefined;
    const explained = deleted ? deleted.startedAt < firstDead.endedAt : this.mayBeDeletedBy(firstDead.endedAt);
    if (explained) return undefined;
    const cause = deleted ? `before its deletion was asked for by ${tell(deleted)}` : 'though nobody had deleted it';
    return this.#violation(
      ruleOf(firstDead.by, 'refused_without_cause'),
      `${firstDead.saw} by ${tell(firstDead)}, ${cause}`,
    );
  }

  #violation(rule: Rule, text: string): Violation {
    return { rule, explanation: `key ${this.id}: ${text}` };
  }
}

function ruleOf(by: Observation['by'], rule: Rule): Rule {
  if (by === 'list') return 'list_disagrees';
  return by === 'audit trail' ? 'audit_disagrees' : rule;
}

/** From the end of one operation to the start of a later one. */
export const gap = (from: Interval['endedAt'], to: Interval['startedAt']): string => `${(to - from).toFixed(3)} ms`;
