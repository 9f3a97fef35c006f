/** The one failure that drivers let out: what the database says is for the log, not for the public. */
import { DomainError } from '../errors.ts';

const retryAfterSeconds = 1;

/** @param isUnknown whether a commit may have happened all the same */
export function unavailable(cause: unknown, isUnknown = false): DomainError {
  if (!(cause instanceof DomainError)) {
    return new DomainError('unavailable', { cause, retryAfterSeconds, isOutcomeUnknown: isUnknown });
  }
  return isUnknown && !isOutcomeUnknown(cause) ? unavailable(cause.options.cause ?? cause.message, true) : cause;
}

export function orUnavailable<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw unavailable(error);
  }
}

/** Whether the database said that the role may not do that (PostgreSQL: insufficient_privilege). */
export const isForbidden = (error: unknown): boolean =>
  error instanceof DomainError && error.cause instanceof Error && 'code' in error.cause && error.cause.code === '42501';

/** Whether a row would have had what another has (PostgreSQL: unique_violation). */
export const isUniqueViolation = (error: unknown): boolean =>
  error instanceof DomainError && error.cause instanceof Error && 'code' in error.cause && error.cause.code === '23505';

/** Whether a change may have happened although it failed. */
export const isOutcomeUnknown = (error: unknown): boolean =>
  error instanceof DomainError && error.options.isOutcomeUnknown === true;
