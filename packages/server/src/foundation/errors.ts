/** The type of all expected failures. `http/problem.ts` converts it into a response, `cli/run.ts` into a line of text. */
import type { FieldCode, RequestOptions, SecondFactorMethod } from '@keyreeve/contract';
import { errors, type ErrorCode } from '@keyreeve/contract/errors';

export interface FieldError {
  /** JSON pointer (RFC 6901) into the body. */
  readonly pointer: string;
  readonly detail: string;
  /** Default: `invalid`. */
  readonly code?: FieldCode;
  /** As in the contract. */
  readonly limit?: number;
  readonly expected?: string;
}

/** A limit of a key or an account, for the header fields RateLimit and RateLimit-Policy. */
export interface RateLimitState {
  readonly policy: string;
  readonly quota: number;
  /** Infinite for a quota that never resets. */
  readonly windowSeconds: number;
  readonly remaining: number;
  /** Until all of the quota is available again. */
  readonly resetSeconds: number;
}

export interface DomainErrorOptions {
  /** Public text about this occurrence. The default is the meaning of the code. */
  readonly detail?: string;
  readonly errors?: readonly FieldError[];
  readonly retryAfterSeconds?: number;
  /** For the header fields RateLimit and RateLimit-Policy of a 429 response. */
  readonly rate?: { readonly policy: string; readonly quota: number; readonly windowSeconds: number };
  /** The same for several limits. */
  readonly rateLimits?: readonly RateLimitState[];
  /** Whether the status is 403 instead of that of the code, which is then in a header: for proxies that pass on no other. */
  readonly isForbidden?: boolean;
  /** Whether the challenge of a 401 response also names Basic. */
  readonly offersBasic?: boolean;
  /** Methods that the path allows. */
  readonly allowed?: readonly string[];
  /** Required scopes. */
  readonly scopes?: readonly string[];
  /** Required scopes that the credential does not have. */
  readonly missing?: readonly string[];
  /** What proves the second factor that a sign-in lacks. */
  readonly methods?: readonly SecondFactorMethod[];
  /** The options for a passkey as that second factor. */
  readonly passkey?: RequestOptions | undefined;
  /** Of a problem document of an OAuth endpoint, if it is not that of the status. */
  readonly oauthError?: 'slow_down';
  /** The requested change may have been committed. */
  readonly isOutcomeUnknown?: boolean;
  /** With `isOutcomeUnknown`: the change may also have been rejected, because its checks had no result. */
  readonly mayBeRejected?: boolean;
  /** Only for the log. */
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

/**
 * One wrong member of a request.
 * @param pointer as in {@link FieldError}; for a query, `/` and the name of the parameter
 * @param reason for clients
 */
export const invalidAt = (
  pointer: string,
  detail: string,
  reason: Pick<FieldError, 'code' | 'limit'> = {},
): DomainError => new DomainError('invalid_request', { errors: [{ pointer, detail, ...reason }] });
