/** The only failure that drivers throw. The database's own message goes to the log, not into responses. */
import { DomainError } from '../errors.ts';

const retryAfterSeconds = 1;

/** @param isUnknown whether a commit may have happened */
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

export const isUnavailable = (error: unknown): error is DomainError =>
  error instanceof DomainError && error.code === 'unavailable';

/** Another process has kept the lock of an SQLite file for the time that an attempt waits. */
export class FileLockedError extends Error {}

export const isFileLocked = (error: unknown): boolean =>
  error instanceof DomainError && error.cause instanceof FileLockedError;

/** Whether the database role lacks a privilege (PostgreSQL: insufficient_privilege). */
export const isForbidden = (error: unknown): boolean => hasCause(error, '42501');

/** Whether a row violates a unique constraint (PostgreSQL: unique_violation). */
export const isUniqueViolation = (error: unknown): boolean => hasCause(error, '23505');

/** Whether a wait for locks ended without them (PostgreSQL: lock_not_available, query_canceled, deadlock_detected). */
export const isLockNotAvailable = (error: unknown): boolean =>
  ['55P03', '57014', '40P01'].some((sqlState) => hasCause(error, sqlState));

const hasCause = (error: unknown, sqlState: string): boolean =>
  error instanceof DomainError &&
  error.cause instanceof Error &&
  'code' in error.cause &&
  error.cause.code === sqlState;

/** Whether a failed change may have been committed. */
export const isOutcomeUnknown = (error: unknown): boolean =>
  error instanceof DomainError && error.options.isOutcomeUnknown === true;

/** Whether a change of unknown outcome may also have been rejected. */
export const mayBeRejected = (error: unknown): boolean =>
  error instanceof DomainError && error.options.mayBeRejected === true;
