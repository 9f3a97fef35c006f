/** The errors of each route, and the error responses in the OpenAPI document. */
import { accessTokenErrors, managerErrors } from './errors/groups.ts';
import { errors, type ErrorCode } from './errors.ts';
import { schemaOf, type Json } from './json-schema.ts';
import { Problem } from './schemas.ts';
import { OAuthError } from './token-exchange.ts';
import { credentialErrors, isBounded, isOAuthStatus, type RouteAuth, type RouteContract } from './route.ts';

/** Codes of any request. */
const commonErrors: readonly ErrorCode[] = [
  'malformed_request',
  'request_timeout',
  'headers_too_large',
  'internal_error',
  'unavailable',
];
/** Codes of any request except to `/auth/forward`, where the proxy checks the URL and the protocol. */
const urlErrors: readonly ErrorCode[] = ['https_required', 'url_too_long'];
const bodyErrors = {
  json: ['invalid_request', 'malformed_json', 'body_too_large', 'unsupported_media_type'],
  form: ['invalid_request', 'body_too_large', 'unsupported_media_type'],
  raw: ['body_too_large', 'unsupported_media_type'],
} as const satisfies Record<string, readonly ErrorCode[]>;

/** Authentication by an access token of an account. */
const accountAuths: readonly RouteAuth[] = ['access_token', 'administrator', 'manager'];

/** All codes of a route's responses. */
export const errorsOf = ({
  auth,
  method,
  needsRecentSignIn = false,
  isOpenBeforeEnrolment = false,
  params,
  body,
  errors: own,
}: RouteContract): readonly ErrorCode[] => [
  ...new Set([
    ...(credentialErrors[auth] ?? []),
    ...(needsRecentSignIn ? (['reauth_required'] as const) : []),
    ...(accountAuths.includes(auth) && !isOpenBeforeEnrolment ? (['second_factor_enrolment_required'] as const) : []),
    ...own,
    // Invalid percent-encoding in a parameter.
    ...(params ? (['not_found'] as const) : []),
    ...(body ? bodyErrors[body.type] : []),
    ...(isBounded({ auth, method }) ? (['too_many_in_progress'] as const) : []),
    ...(auth === 'any_credential' ? [] : urlErrors),
    ...commonErrors,
  ]),
];

/** Codes that the operations share as their `default` response. */
export const defaultErrors: readonly ErrorCode[] = [...commonErrors, ...urlErrors];

/** Named responses and their codes. A route refers to one if it has exactly these codes with their status. */
const groups: Readonly<Record<string, readonly ErrorCode[]>> = {
  InvalidBody: ['invalid_request', 'malformed_json'],
  InvalidBodyOrCode: ['code_invalid', 'invalid_request', 'malformed_json'],
  InvalidBodyOrEmail: ['email_invalid', 'invalid_request', 'malformed_json'],
  InvalidBodyOfKey: ['nickname_invalid', 'scope_invalid', 'invalid_request', 'malformed_json'],
  InvalidRequest: ['invalid_request'],
  AccessTokenRejected: accessTokenErrors,
  ManagementKeyRejected: ['invalid_management_key', 'ambiguous_credentials'],
  ServiceKeyRejected: ['invalid_service_key', 'ambiguous_credentials'],
  AdministratorRequired: ['administrator_required', 'second_factor_enrolment_required'],
  RecentAdministratorRequired: ['administrator_required', 'reauth_required', 'second_factor_enrolment_required'],
  EnrolmentRequired: ['second_factor_enrolment_required'],
  ScopeRequired: ['insufficient_scope'],
  ScopeOrManagementKeyRequired: ['insufficient_scope', 'management_key_required'],
  ScopeOrEnrolmentRequired: ['insufficient_scope', 'second_factor_enrolment_required'],
  ManagerRejected: managerErrors.filter((code) => code !== 'insufficient_scope'),
  ManagerOrKeyOwnerRequired: [...managerErrors.filter((code) => code !== 'insufficient_scope'), 'not_key_owner'],
  ConsoleSessionRequired: ['console_session_required', 'ambiguous_credentials'],
  PortalSessionEnded: ['portal_session_ended', 'ambiguous_credentials'],
  PortalCapabilityRequired: ['portal_capability_required'],
  CrossOrigin: ['cross_origin_request'],
  KeyOwnerRequired: ['missing_access_token', 'invalid_access_token', 'ambiguous_credentials', 'not_key_owner'],
  PathNotFound: ['not_found'],
  AccountNotFound: ['account_not_found', 'not_found'],
  KeyNotFound: ['key_not_found', 'not_found'],
  AccountOrKeyNotFound: ['account_not_found', 'key_not_found', 'not_found'],
  KeyOrAccountNotFound: ['key_not_found', 'account_not_found', 'not_found'],
  IssuerNotFound: ['issuer_not_found', 'not_found'],
  IssuerOrAccountNotFound: ['issuer_not_found', 'account_not_found', 'not_found'],
  WebhookNotFound: ['webhook_not_found', 'not_found'],
  NotForServiceAccounts: ['service_account'],
  MailNotConfigured: ['mail_not_configured'],
  TooManyInProgress: ['too_many_in_progress'],
  TooManyChangesOrInProgress: ['too_many_changes', 'too_many_in_progress'],
  TooManyCreationsOrInProgress: ['too_many_creations', 'too_many_in_progress'],
  TooManyAttempts: ['too_many_attempts'],
  TooManyAttemptsOrInProgress: ['too_many_attempts', 'too_many_in_progress'],
  TooManyRequests: ['too_many_requests'],
  TooManyRequestsOrInProgress: ['too_many_requests', 'too_many_in_progress'],
  BodyTooLarge: ['body_too_large'],
  UnsupportedMediaType: ['unsupported_media_type'],
  Overloaded: ['overloaded'],
};

/** Responses for other combinations of codes, which the operation's own description lists. */
const byStatus: Readonly<Record<number, string>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  405: 'MethodNotAllowed',
  409: 'Conflict',
  413: 'ContentTooLarge',
  429: 'RateLimited',
  503: 'ServiceUnavailable',
};

const wwwAuthenticate = 'The schemes that the endpoint accepts, and the error (RFC 6750 section 3)';
const allow = 'The methods of the resource';
const retryAfter = { 'Retry-After': 'Seconds until a retry can succeed' };
/** draft-ietf-httpapi-ratelimit-headers-11. */
const rateLimit = {
  'Retry-After':
    'Seconds after which the request can succeed; absent with `rate_limited` and `quota_exceeded` if it never can',
  RateLimit: 'The remaining tokens of each limit; absent with `too_many_in_progress`',
  'RateLimit-Policy': 'The limits and their windows; absent with `too_many_in_progress`',
};
const headersByStatus: Readonly<Record<number, Readonly<Record<string, string>>>> = {
  401: { 'WWW-Authenticate': wwwAuthenticate },
  405: { Allow: allow },
  429: rateLimit,
  503: retryAfter,
};

/** `components.headers`: those of error responses. */
export const sharedHeaders: Readonly<Record<string, Json>> = {
  RetryAfter: headerObject(retryAfter['Retry-After']),
  RetryAfterOfLimits: headerObject(rateLimit['Retry-After']),
  RateLimit: headerObject(rateLimit.RateLimit),
  RateLimitPolicy: headerObject(rateLimit['RateLimit-Policy']),
  Allow: headerObject(allow),
  WwwAuthenticate: headerObject(wwwAuthenticate),
};

/** `components.responses`: those that the routes refer to. */
export function problemComponents(routes: readonly RouteContract[]): Json {
  const responses: Record<string, Json> = {};
  for (const { name, codes } of routes.flatMap((route) => referencesOf(route)))
    responses[name] ??= component(name in groups ? inWords(codes) : 'The operation names the codes', codes);
  const others = defaultErrors.map((code) => `${errors[code].status} \`${code}\``).join(', ');
  responses['Default'] = component(`Any request can meet: ${others}`, ['internal_error']);
  return Object.fromEntries(Object.entries(responses).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** One response per status, which names each code of the route itself; the other codes are those of the default. */
export function problemResponses(route: RouteContract): Json {
  const responses = referencesOf(route).map(({ status, name, codes }) => [
    String(status),
    // OpenAPI 3.1: a description beside a reference replaces the one of the response that is referred to.
    isOAuthStatus(route.errorFormat, status)
      ? oauthResponse(status, codes)
      : { $ref: `#/components/responses/${name}`, ...(name in groups ? {} : { description: inWords(codes) }) },
  ]);
  return { ...Object.fromEntries(responses), default: { $ref: '#/components/responses/Default' } };
}

/** RFC 6749 section 5.2: the member `error` has the code. */
const oauthResponse = (status: number, codes: readonly ErrorCode[]): Json => ({
  description: inWords(codes),
  ...(status === 401 ? { headers: headerReferences({ 'WWW-Authenticate': wwwAuthenticate }) } : {}),
  content: { 'application/json': { schema: schemaOf(OAuthError, 'response') } },
});

interface Reference {
  readonly status: number;
  readonly name: string;
  readonly codes: readonly ErrorCode[];
}

function referencesOf(route: RouteContract): Reference[] {
  const own = errorsOf(route).filter((code) => !defaultErrors.includes(code) || route.errors.includes(code));
  return [...Map.groupBy(own, (code) => errors[code].status)].map(([status, codes]) => {
    const group = Object.entries(groups).find(([, ofGroup]) => inWords(ofGroup) === inWords(codes));
    const name = group?.[0] ?? byStatus[status];
    if (name === undefined) throw new Error(`Name the response ${status} in problem-responses.ts`);
    return { status, name, codes };
  });
}

const inWords = (codes: readonly ErrorCode[]): string => codes.map((code) => `\`${code}\``).join(', ');

function component(description: string, codes: readonly ErrorCode[]): Json {
  const [first = 'internal_error'] = codes;
  const headers = codes.join() === 'too_many_in_progress' ? retryAfter : headersByStatus[errors[first].status];
  return {
    description,
    ...(headers ? { headers: headerReferences(headers) } : {}),
    content: { 'application/problem+json': { schema: schemaOf(Problem, 'response') } },
  };
}

export const headerObjects = (headers: Readonly<Record<string, string>>): Json =>
  Object.fromEntries(Object.entries(headers).map(([name, description]) => [name, headerObject(description)]));

function headerObject(description: string): Json {
  return { description, schema: { type: 'string' } };
}

function headerReferences(headers: Readonly<Record<string, string>>): Json {
  const nameOf = (description: string) =>
    Object.entries(sharedHeaders).find(([, header]) => header['description'] === description)?.[0];
  return Object.fromEntries(
    Object.entries(headers).map(([name, description]) => [
      name,
      { $ref: `#/components/headers/${nameOf(description)}` },
    ]),
  );
}
