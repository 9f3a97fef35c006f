/** Errors of the database as plain data, which other processes get in messages. */
import type { ErrorCode } from '@keyreeve/contract';
import { DomainError } from '../errors.ts';

export interface PlainError {
  /** Undefined for a defect. */
  readonly code: ErrorCode | undefined;
  /** Of the cause, if there is one: only for the log. */
  readonly message: string;
  readonly retryAfterSeconds: number | undefined;
  readonly isOutcomeUnknown: boolean;
}

export function toPlain(error: unknown): PlainError {
  const { code, options } = error instanceof DomainError ? error : { code: undefined, options: {} };
  const { cause = error, retryAfterSeconds, isOutcomeUnknown = false } = options;
  return { code, message: cause instanceof Error ? cause.message : String(cause), retryAfterSeconds, isOutcomeUnknown };
}

export function fromPlain({ code, message, retryAfterSeconds, isOutcomeUnknown }: PlainError): Error {
  const cause = new Error(message);
  if (code === undefined) return cause;
  const retry = retryAfterSeconds === undefined ? {} : { retryAfterSeconds };
  return new DomainError(code, { cause, isOutcomeUnknown, ...retry });
}
