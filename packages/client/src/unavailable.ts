/** The error of a verification whose result is not known, and the reasons in messages. */

interface UnavailableDetails {
  readonly cause?: unknown;
  readonly status?: number;
  readonly code?: string | undefined;
  readonly retryAfterSeconds?: number | undefined;
}

/** The credential is neither accepted nor refused. Reject it now. `cause` has the failure of the connection. */
export class KeyreeveUnavailable extends Error {
  /** Of the service's problem document, such as `invalid_credential` for the service key. `unavailable` without one. */
  readonly code: string;
  /** Of the service's response. 0 without a response. */
  readonly status: number;
  /** Of Retry-After. */
  readonly retryAfterSeconds: number | undefined;

  constructor(reason: string, { cause, status = 0, code = 'unavailable', retryAfterSeconds }: UnavailableDetails = {}) {
    super(`Keyreeve is unavailable: ${reason}`, cause === undefined ? {} : { cause });
    this.name = 'KeyreeveUnavailable';
    this.code = code;
    this.status = status;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

const causesMax = 5;

/** The messages of an error and of its causes, such as `no response: connect ECONNREFUSED 127.0.0.1:443`. */
export function reasonOf(error: unknown): string {
  const messages: string[] = [];
  let next = error as Partial<AggregateError> | undefined;
  for (let depth = 0; depth < causesMax && typeof next === 'object' && next !== null; depth++) {
    if (next.message) messages.push(next.message);
    // Node has tried several addresses of the host.
    else if (next.errors) messages.push(next.errors.map(reasonOf).join(', '));
    next = next.cause as typeof next;
  }
  return messages.join(': ') || 'the request failed';
}

/** @returns undefined for a date, and without the field */
export const secondsOf = (retryAfter: string | null | undefined): number | undefined =>
  /^\d{1,9}$/.test(retryAfter ?? '') ? Number(retryAfter) : undefined;
