/**
 * Conditions of a verification: the key exists, its account is enabled, the secret has not ended, and so on. A verification
 * is accepted if and only if all conditions are met at the moment of its read.
 */
import type { Change, Interval, Observation, Violation } from './history.ts';

export interface Condition {
  /** Whether the condition may have been unmet at a moment of the interval. */
  mayBeUnmet(interval: Interval): boolean;
  /** @returns the violation, if the condition cannot have been met at any moment of the interval */
  observedMet(observation: Observation): Violation | undefined;
  /** @returns the violation, if the condition cannot have been unmet at any moment of the interval */
  observedUnmet(observation: Observation): Violation | undefined;
  /** When the response arrived after which the condition is unmet at this time; infinite if it may be met. */
  unmetSince(time: number): number;
}

/** A condition that requests change. The caller sets the end of a change when its outcome is known. */
export interface ChangeableCondition extends Condition {
  beginChange(change: Change): void;
  /** Removes a change that had no effect. @returns the violation, if an observation needs its effect */
  withdraw(change: Change): Violation | undefined;
  /** Narrows the interval of a change. @returns the violation, if an observation precedes it */
  confine(change: Change, interval: Interval): Violation | undefined;
}

/** The conditions of one verification besides its key and account. */
export interface Asked {
  readonly secret: Condition;
  readonly enabled: Condition;
  readonly unexpired: Condition;
  /** That the key is valid from the client IP of the request; from any, if the request has none. */
  readonly address: Condition;
  /** Undefined if the request asks for no scope. */
  readonly scope: Condition | undefined;
}

/** What verifications of a key ask for, and the conditions that this adds. */
export interface AskedOfKey {
  /** Undefined for a key of a caller, whose scope cannot be added again. */
  readonly scope: string | undefined;
  /** The client IP that a proxy or a service reports. */
  readonly address: string;
  /** An entry that a client may have sent before it in X-Forwarded-For. */
  readonly forgedAddress: string;
  readonly secret: ChangeableCondition;
  readonly conditions: KeyConditions;
}

export interface KeyConditions {
  readonly enabled: ChangeableCondition;
  readonly unexpired: ChangeableCondition;
  /** That the key has the scope. */
  readonly scope: ChangeableCondition;
  /** That the key is valid from the reported client IP. */
  readonly address: ChangeableCondition;
  /** That the key is valid from any client IP, for requests that report none. */
  readonly anywhere: ChangeableCondition;
}
