/** A route of the contract as data. The service and the OpenAPI document are built from it. */
import type { TSchema } from 'typebox';
import { accessTokenErrors, managementKeyErrors, managerErrors, portalSessionErrors } from './errors/groups.ts';
import type { ErrorCode } from './errors.ts';

/** The credential that a request to a route must have. */
export type RouteAuth =
  /** Nothing. */
  | 'none'
  /** HTTP Basic with email and password. */
  | 'password'
  /** A valid access token as Bearer. */
  | 'access_token'
  /** The access token of an administrator’s account. */
  | 'administrator'
  /** A one-time code in the body. */
  | 'one_time_code'
  /** A refresh token in the body. */
  | 'refresh_token'
  /** An API key with the scope `keyreeve:verify`. */
  | 'service_key'
  /** The access token of a person, or a management key. The format of the text decides. */
  | 'manager'
  /** A management key: an API key with the scope `keyreeve:keys`. */
  | 'management_key'
  /** The credential of a revocation check from outside: an API key with the scope `keyreeve:canary`. */
  | 'canary_credential'
  /** The secret of a portal session as Bearer. */
  | 'portal_session'
  /** The session cookie of the console. */
  | 'console_session'
  /** Email and password in the body of a request of the console. */
  | 'console_sign_in'
  /** The credential that the route verifies. */
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
  /** Whether the operation requires a sign-in within `limits.recentSignInSeconds`. */
  readonly needsRecentSignIn?: boolean;
  /**
   * Whether the operation removes rights: a deletion, the end of a session, a new password. Such requests have reserved
   * capacity, so that a caller can revoke a stolen credential under any load.
   */
  readonly isNarrowing?: boolean;
  /** Whether the operation may read many rows of one account. A few such requests run at once, and accounts take turns. */
  readonly isExpensive?: boolean;
  /** Whether a GET without a credential reads the database each time. */
  readonly readsDatabase?: boolean;
  /**
   * Whether an account can call it before it has enrolled a required second factor: what the enrolment needs, and the
   * deletion of keys and the end of sessions, so that a stolen credential ends without delay.
   */
  readonly isOpenBeforeEnrolment?: boolean;
  /** For the document. Handlers receive text. */
  readonly params?: TSchema;
  readonly query?: TSchema;
  /** Request headers other than those of the credential. Handlers receive text. */
  readonly headers?: TSchema;
  readonly body?: {
    /** `raw`: JSON that the handler gets as bytes, because it verifies a signature over them before it parses them. */
    readonly type: 'json' | 'form' | 'raw';
    readonly schema: TSchema;
    readonly bytesMax?: number;
    /** Whether a request without a body counts as one with an empty object. */
    readonly isOptional?: boolean;
  };
  readonly success: {
    readonly status: number;
    readonly description: string;
    readonly schema?: TSchema;
    /** Names and descriptions. */
    readonly headers?: Readonly<Record<string, string>>;
    /** For content other than JSON. */
    readonly contentType?: string;
    /** Further ones that a request can choose. */
    readonly otherContentTypes?: readonly string[];
    /** Whether the content is the same for every client. It has an ETag, and a client that has it gets 304. */
    readonly isFixed?: boolean;
  };
  /**
   * `oauth`: responses with the status 400 and 401 have the format of RFC 6749 section 5.2, and problem documents have its member `error`.
   * Default: problem documents.
   */
  readonly errorFormat?: 'oauth';
  /** Codes of this route, with those of its credential; `errorsOf` adds those of any request. */
  readonly errors: readonly ErrorCode[];
}

/** Whether the error responses of a route with this status have the format of RFC 6749 section 5.2. */
export const isOAuthStatus = (errorFormat: RouteContract['errorFormat'], status: number): boolean =>
  errorFormat === 'oauth' && (status === 400 || status === 401);

/** Codes of each route with such a credential. */
export const credentialErrors: Partial<Record<RouteAuth, readonly ErrorCode[]>> = {
  access_token: accessTokenErrors,
  administrator: [...accessTokenErrors, 'administrator_required'],
  manager: managerErrors,
  management_key: managementKeyErrors,
  service_key: ['invalid_service_key', 'insufficient_scope', 'ambiguous_credentials'],
  canary_credential: ['invalid_service_key', 'ambiguous_credentials'],
  portal_session: portalSessionErrors,
  // `not_found`: the console is off.
  console_session: ['console_session_required', 'ambiguous_credentials', 'cross_origin_request', 'not_found'],
};

type Rest = Omit<RouteContract, 'id' | 'method' | 'path' | 'errors'> & Partial<Pick<RouteContract, 'errors'>>;

/**
 * Defines a route with literal types, from which the console derives the types of its requests.
 * @param at method and path, such as `GET /auth/account`
 * @param rest a member that routes do not have is a compile error: a misspelt flag would have no effect. The errors of the
 * credential and of a missing recent sign-in are added
 */
export function route<
  const Id extends string,
  const M extends RouteContract['method'],
  const P extends string,
  const R extends Rest,
>(id: Id, at: `${M} ${P}`, rest: R & Readonly<Record<Exclude<keyof R, keyof Rest>, never>>) {
  const [method, path] = at.split(' ') as [M, P];
  const { auth, needsRecentSignIn, errors = [] }: Rest = rest;
  const required: ErrorCode[] = needsRecentSignIn ? ['reauth_required'] : [];
  const all: readonly ErrorCode[] = [...(credentialErrors[auth] ?? []), ...required, ...errors];
  return { id, method, path, ...(rest as Omit<R, 'errors'>), errors: all };
}

/**
 * Whether the requests in progress are bounded per credential, account and client IP range. Verifications have their own
 * queue. Other pages and documents are computed once, and only start in turn.
 */
export const isBounded = ({
  auth,
  method,
  readsDatabase = false,
}: Pick<RouteContract, 'auth' | 'method' | 'readsDatabase'>): boolean =>
  auth !== 'service_key' && auth !== 'any_credential' && (auth !== 'none' || method !== 'GET' || readsDatabase);
