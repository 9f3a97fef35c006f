/** What a route of the contract is, as data: the service is built from it, and so is the OpenAPI document. */
import type { TSchema } from 'typebox';
import type { ErrorCode } from './errors.ts';

/** Who may call a route: what the request must carry. */
export type RouteAuth =
  /** Nothing. */
  | 'none'
  /** HTTP Basic with email and password. */
  | 'password'
  /** A live access token as Bearer. */
  | 'access_token'
  /** The access token of an administrator’s account. */
  | 'administrator'
  /** A one-time code in the body. */
  | 'one_time_code'
  /** A refresh token in the body. */
  | 'refresh_token'
  /** An API key with the scope `keyreeve:verify`. */
  | 'service_key'
  /** The credential in the request is the question itself. */
  | 'any_credential';

export interface RouteContract {
  /** OpenAPI operationId. */
  readonly id: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** With `:name` for parameters. */
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  readonly auth: RouteAuth;
  /** Whether the session must have begun lately (`limits.recentSignInSeconds`). */
  readonly needsRecentSignIn?: boolean;
  /**
   * Whether it takes rights away: a deletion, a session end, a new password. Such requests have capacity reserved for
   * them, so that no other load keeps a caller from revoking what was stolen.
   */
  readonly isNarrowing?: boolean;
  /** Whether an account that must enrol a second factor and has none yet may call it. */
  readonly isOpenBeforeEnrolment?: boolean;
  /** What the document says of them. Handlers receive text. */
  readonly params?: TSchema;
  readonly query?: TSchema;
  /** Beside those of the credential. */
  readonly headers?: TSchema;
  readonly body?: {
    readonly type: 'json' | 'form';
    readonly schema: TSchema;
    readonly bytesMax?: number;
    /** Whether a request without a body counts as one with an empty object. */
    readonly isOptional?: boolean;
  };
  readonly success: {
    readonly status: number;
    readonly description: string;
    readonly schema?: TSchema;
    /** Header names with what they say. */
    readonly headers?: Readonly<Record<string, string>>;
    /** Other than JSON. */
    readonly contentType?: string;
  };
  /** Codes that this route itself can answer, beside those that any request can meet. */
  readonly errors: readonly ErrorCode[];
}

/**
 * Whether the requests in progress are bounded per credential, account and client IP range, and run in turn. Verifications
 * have their own queue, and pages are static.
 */
export const isBounded = ({ auth, method }: Pick<RouteContract, 'auth' | 'method'>): boolean =>
  auth !== 'service_key' && auth !== 'any_credential' && (auth !== 'none' || method !== 'GET');
