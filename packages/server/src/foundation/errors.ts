/** The one type of expected failure. `http/problem.ts` turns it into an answer, `cli/run.ts` into a line. */
import { errors, type ErrorCode } from '@keyreeve/contract';

export interface FieldError {
  /** JSON pointer (RFC 6901) into the body. */
  readonly pointer: string;
  readonly detail: string;
}

export interface DomainErrorOptions {
  /** Public text about this occurrence; without it the registry's meaning. */
  readonly detail?: string;
  readonly errors?: readonly FieldError[];
  readonly retryAfterSeconds?: number;
  /** For the RateLimit and RateLimit-Policy fields of a 429. */
  readonly rate?: { readonly policy: string; readonly quota: number; readonly windowSeconds: number };
  /** The methods that would have been allowed. */
  readonly allowed?: readonly string[];
  /** Scopes that would have been needed. */
  readonly scopes?: readonly string[];
  /** Those of them that the credential lacks. */
  readonly missing?: readonly string[];
  /** The change that was asked for may have happened all the same. */
  readonly isOutcomeUnknown?: boolean;
  /** For the log only. */
  readonly cause?: unknown;
}

export class DomainError extends Error {
  readonly code: ErrorCode;
  readonly options: DomainErrorOptions;

  constructor(code: ErrorCode, options: DomainErrorOptions = {}) {
    super(options.detail ?? errors[code].meaning, options.cause === undefined ? {} : { cause: options.cause });
    this.name = 'DomainError';
    this.code = code;
    this.options = options;
  }
}
