/** The verification result of a credential: its types, and the strict reading of the service's answer. */

/** The remaining tokens of a limit, for `RateLimit` and `RateLimit-Policy` of your own response. */
export interface RemainingLimit {
  /** `key-rate`, `key-quota`, `account-rate` or `account-quota`. */
  readonly policy: string;
  /** Tokens in a window or period. */
  readonly limit: number;
  /** Absent for a quota without an end. */
  readonly windowSeconds?: number;
  readonly remaining: number;
  /** Until the limit is full again. Absent for a quota without an end. */
  readonly resetSeconds?: number;
}

/** Members that do not apply are null: an access token has no key, nickname or scopes. */
export interface AcceptedCredential {
  readonly valid: true;
  readonly type: 'api_key' | 'access_token';
  readonly accountId: string;
  readonly keyId: number | null;
  readonly nickname: string | null;
  readonly scopes: readonly string[] | null;
  /** RFC 3339. */
  readonly expiresAt: string | null;
  /** Absent if the installation has no environments. */
  readonly environment?: string;
  /** Absent if the key has no metadata. */
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** Absent if neither the key nor its account has limits. */
  readonly limits?: readonly RemainingLimit[];
}

export type RefusalCode =
  | 'malformed'
  | 'wrong_kind'
  | 'not_found'
  | 'expired'
  | 'disabled'
  | 'wrong_environment'
  | 'address_required'
  | 'address_not_allowed'
  | 'insufficient_scope'
  | 'rate_limited'
  | 'quota_exceeded'
  | 'enrolment_required';

export interface RefusedCredential {
  readonly valid: false;
  /** A later version of the service can have other codes. */
  readonly code: RefusalCode | (string & {});
  /** With `rate_limited` and `quota_exceeded`. Absent if the request can never succeed. */
  readonly retryAfterSeconds?: number;
  /** With `quota_exceeded`, in RFC 3339. Absent if the request can never succeed. */
  readonly resetsAt?: string;
  readonly limits?: readonly RemainingLimit[];
}

export type VerificationResult = AcceptedCredential | RefusedCredential;

/** The code of a batch item that the service cannot verify now. No caller of `verify` receives it as a result. */
export const unavailableCode = 'unavailable';

/**
 * Reads the body of a batch's answer.
 * @param count of the questions; the results are matched to them by position
 * @throws Error if the text is not exactly one result for each question
 */
export function readResults(text: string, count: number): readonly VerificationResult[] {
  const results = membersOf(JSON.parse(text))['results'];
  if (!Array.isArray(results)) throw new Error('the answer has no list of results');
  if (results.length !== count) throw new Error(`the answer has ${results.length} results for ${count} questions`);
  for (const result of results) assertResult(membersOf(result));
  return results as VerificationResult[];
}

function assertResult({ valid, type, accountId, code }: Readonly<Record<string, unknown>>): void {
  const isAccepted = valid === true && (type === 'api_key' || type === 'access_token') && isName(accountId);
  const isRefused = valid === false && isName(code);
  if (!isAccepted && !isRefused) throw new Error('the answer has a result that is neither accepted nor refused');
}

const isName = (value: unknown): boolean => typeof value === 'string' && value !== '';

const membersOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
