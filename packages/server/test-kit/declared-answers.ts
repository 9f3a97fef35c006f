/** Asserts that responses and webhook messages have exactly the members that the contract declares. */
import assert from 'node:assert/strict';
import type { TSchema } from 'typebox';
import { Compile } from 'typebox/schema';
import {
  allRoutes,
  consoleApiPath,
  errorsOf,
  forward,
  isOAuthStatus,
  OAuthError,
  Problem,
  webhookMessages,
  type ErrorCode,
  type RouteContract,
  type WebhookMessageType,
} from '@keyreeve/contract';

export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The body as JSON; undefined for an empty one. */
  readonly json: unknown;
}

/** Errors of requests without a route. */
const withoutRoute: readonly ErrorCode[] = ['not_found', 'method_not_allowed', 'url_too_long', 'headers_too_large'];

/** Further errors of the routes below `/console/api`, which need the session cookie; there are not all routes. */
const mirrorErrors: readonly ErrorCode[] = [
  'console_session_required',
  'cross_origin_request',
  'ambiguous_credentials',
  'not_found',
  'method_not_allowed',
];

const compiled = new Map<TSchema, ReturnType<typeof Compile>>();

/** Asserts that the route declares the error code, or the status, headers and body. */
export function assertDeclared(method: string, target: string, answer: Answered): void {
  const { pathname } = new URL(target, 'http://localhost');
  const isMirrored = pathname.startsWith(`${consoleApiPath}/`);
  const path = isMirrored ? pathname.slice(consoleApiPath.length) : pathname;
  const route = routeOf(method, path);
  if (answer.status < 400) {
    // HEAD requests and preflights have no own route.
    if (route) assertSuccess(route, answer);
    return;
  }
  const codes = [...(route ? errorsOf(route) : withoutRoute), ...(isMirrored ? mirrorErrors : [])];
  // The response to a HEAD request has no body, and so no code.
  if (method === 'HEAD') return;
  const isOAuth = isOAuthStatus(route?.errorFormat, answer.status);
  const code = isOAuth ? (answer.json as OAuthError).error : (answer.json as Problem).code;
  assert.ok(codes.includes(code), `${method} ${path} answers ${code}, which it doesn’t name`);
  assertFits(isOAuth ? OAuthError : Problem, answer.json, code);
}

/** Asserts that a successful response has the status, headers and schema of its route. */
export function assertSuccess({ id, success }: RouteContract, answer: Answered): void {
  assert.equal(answer.status, success.status, `${id} ${answer.text}`);
  for (const header of Object.keys(success.headers ?? {})) assert.ok(answer.headers.has(header), `${id} ${header}`);
  const { schema } = success;
  if (!schema) {
    const types: readonly (string | null)[] = [success.contentType ?? null, ...(success.otherContentTypes ?? [])];
    assert.ok(types.includes(answer.headers.get('content-type')), `${id} ${answer.headers.get('content-type')}`);
    if (!success.contentType) assert.equal(answer.text, '', id);
    return;
  }
  assert.equal(answer.headers.get('content-type'), 'application/json; charset=utf-8', id);
  assertFits(schema, answer.json, id);
}

/** Asserts that the body of a delivery has the members of its type. */
export function assertWebhookMessage(message: { readonly type: string }): void {
  assertFits(webhookMessages[message.type as WebhookMessageType], message, message.type);
}

function assertFits(schema: TSchema, value: unknown, what: string): void {
  const check = compiled.get(schema) ?? Compile(schema);
  compiled.set(schema, check);
  assert.ok(check.Check(value), `${what} ${JSON.stringify(check.Errors(value))}`);
}

function routeOf(method: string, path: string): RouteContract | undefined {
  if (path === forward.path || path.startsWith(`${forward.path}/`)) return forward;
  return allRoutes.find((candidate) => candidate.method === method && toPattern(candidate.path).test(path));
}

const toPattern = (path: string): RegExp => new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/:\w+/g, '[^/]+')}$`);
