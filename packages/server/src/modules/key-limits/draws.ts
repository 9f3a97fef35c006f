/**
 * What a limiter sends to draw tokens, and what it gets: plain data without functions. They survive a structured clone, so the
 * process that draws can be another one than that of the limiter. JSON has no infinite numbers.
 *
 * Monotonic times are durations, because each process has its own origin.
 */
import type { LeftTokens } from './budget.ts';
import type { Meter } from './definition.ts';

export interface Draws {
  /**
   * Draws in one transaction, and resolves after its commit.
   * @throws DomainError `unavailable`; with an unknown outcome if the tokens may have been drawn
   */
  draw(request: DrawRequest): Promise<DrawResult>;
}

export interface DrawRequest {
  /** Each row occurs once. */
  readonly limits: readonly LimitRequest[];
  /** In the order in which they are decided. */
  readonly questions: readonly QuestionRequest[];
}

export interface LimitRequest {
  readonly meter: Meter;
  /** Whether the limiter has drawn from it before: then its row exists, unless it was deleted. */
  readonly isStored: boolean;
  /** Tokens of an earlier draw, which are spent first. */
  readonly held: number;
  /** How long they are valid after the request was sent; at most 0 without them. */
  readonly heldMs: number;
  /** Tokens to draw for later verifications. */
  readonly forecast: number;
}

/** A verification that waits. */
export interface QuestionRequest {
  /** Indexes of {@link DrawRequest.limits}. */
  readonly limits: readonly number[];
  /** Tokens from each of them; 0 only reads whether the limits have one. */
  readonly cost: number;
}

export interface DrawResult {
  /**
   * From the receipt of the request to the transaction. The limiter adds it to the time at which it has sent the request, which
   * is earlier, so tokens are never valid longer than they should.
   */
  readonly waitedMs: number;
  /** As in the request. */
  readonly limits: readonly LimitResult[];
  /** For each question, the index of the limit that has too few tokens. */
  readonly lacking: readonly (number | undefined)[];
}

export interface LimitResult {
  /** Tokens that the draw has taken from the limit. */
  readonly drawn: number;
  /** Tokens that the questions have left for later verifications. */
  readonly held: number;
  /** How long they are valid after the request was sent; infinite for a quota without periods. */
  readonly heldMs: number;
  /** Whether the limit had too few tokens for a question. */
  readonly hasRejected: boolean;
  readonly left: LeftTokens;
}
