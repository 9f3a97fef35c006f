/**
 * `/auth/forward`: verifies the credential of a proxied request and returns the identity of the caller in headers.
 * Proxies call this for every request, so it is the shortest request flow: no body is read, no input is parsed twice,
 * and an acceptance is not logged.
 */
import type { IncomingMessage } from 'node:http';
import { forward, identityHeaders, limits } from '@keyreeve/contract';
import type { Environments } from '../api-keys/environments.ts';
import { monotonicMs } from '../../foundation/clock.ts';
import { DomainError } from '../../foundation/errors.ts';
import { keyOfBasic } from '../../http/basic-authentication.ts';
import { forwardedIpOf, type ProxiedRequest } from '../../http/client-ip.ts';
import { rateLimitField } from '../../http/rate-limit-fields.ts';
import { queryOf } from '../../http/response.ts';
import { credentialOf, type RequestCredential } from '../../http/request-credential.ts';
import type { RequestCounts } from '../../http/request-counts.ts';
import { endRequestSpan } from '../../http/request-span.ts';
import type { BareResponse } from '../../http/short-path.ts';
import type { Span } from '../../foundation/tracing.ts';
import type { AcceptedKey, AcceptedToken, Conditions, Refused, VerificationResult } from './conditions.ts';
import type { Verifier } from './verify.ts';

const { account, credential, keyId, nickname, scopes, environment } = identityHeaders;

/** For the Allow of a 405; any other method is accepted as well. */
const commonMethods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

/** Whether the request target is this path, with or without a query, or a path below it (Envoy appends its own path). */
export function isForwardTarget(target: string): boolean {
  if (!target.startsWith(forward.path)) return false;
  const next = target.charCodeAt(forward.path.length);
  return Number.isNaN(next) || next === 0x3f || next === 0x2f;
}

export type ForwardRequest = Pick<IncomingMessage, 'method' | 'url' | 'rawHeaders'> & ProxiedRequest;

export interface ForwardOptions {
  readonly verifier: Verifier;
  /** Networks of the proxies whose X-Forwarded-For contains the client IP. */
  readonly trustedProxies: readonly string[];
  readonly requestCounts: Pick<RequestCounts, 'countForward'>;
  /** Whether an API key may be a Basic credential: KEYREEVE_FORWARD_BASIC. */
  readonly isBasicForwarded: boolean;
}

export interface ForwardExchange {
  readonly request: ForwardRequest;
  readonly response: BareResponse;
  /** Of a recorded request. */
  readonly span: Span | undefined;
}

/** Responds to an accepted credential; `refuse` responds to everything else. */
export function answerForward(
  { verifier, trustedProxies, requestCounts, isBasicForwarded }: ForwardOptions,
  { request, response, span }: ForwardExchange,
  refuse: (error: unknown) => void,
): void {
  try {
    const presented = readCredential(request, isBasicForwarded);
    const requirements = requirementsOf(request, verifier.environments);
    const { scopes: wanted, cost, environments } = requirements;
    const conditions = {
      clientIp: () => forwardedIpOf(request, trustedProxies),
      scopes: wanted,
      cost,
      environments,
      span,
    };
    const durations = verifier.durations.byEndpoint.forward;
    const startedMs = monotonicMs();
    const answer = (result: VerificationResult): void => {
      durations.add(monotonicMs() - startedMs);
      if (!result.valid) return refuse(errorOf(result, requirements, isBasicForwarded));
      requestCounts.countForward(request.method);
      response.writeHead(200, headersOf(result)).end();
      if (span) endRequestSpan(span, { method: request.method, route: forward.path, status: 200 });
    };
    const fail = (error: unknown): void => {
      durations.add(monotonicMs() - startedMs);
      refuse(error);
    };
    if (presented.kind === 'bearer') verifier.startVerification(presented.text, conditions, answer, fail);
    else verifier.startKeyVerification(presented.text, conditions, answer, fail);
  } catch (error) {
    refuse(error);
  }
}

/** 403 and 429 show that the credential is valid under other conditions; every other rejected credential gets the same 401. */
function errorOf(
  { code, missing = [], outcome }: Refused,
  { scopes: wanted, isForbiddenIfLimited: isForbidden }: Requirements,
  offersBasic: boolean,
): DomainError {
  switch (code) {
    case 'insufficient_scope':
      return new DomainError(code, { scopes: wanted, missing });
    case 'address_required':
      return new DomainError('address_unknown');
    case 'address_not_allowed':
    case 'wrong_environment':
      return new DomainError(code);
    case 'rate_limited':
    case 'quota_exceeded': {
      const { retryAfterSeconds = Infinity, states: rateLimits = [] } = outcome ?? {};
      return new DomainError(code, {
        rateLimits,
        isForbidden,
        ...(Number.isFinite(retryAfterSeconds) ? { retryAfterSeconds } : {}),
      });
    }
    default:
      return new DomainError('invalid_credential', { offersBasic });
  }
}

function readCredential(
  { method, rawHeaders }: ForwardRequest,
  offersBasic: boolean,
): Extract<RequestCredential, { text: string }> {
  if (rawHeaders.length > limits.headerFieldsMax * 2) throw new DomainError('headers_too_large');
  if (method === 'TRACE' || method === 'CONNECT') {
    throw new DomainError('method_not_allowed', { allowed: commonMethods });
  }
  const presented = credentialOf(rawHeaders);
  if ('text' in presented) return presented;
  if (presented.kind === 'none') throw new DomainError('missing_credential', { offersBasic });
  if (presented.kind === 'ambiguous') throw new DomainError('ambiguous_credentials', { offersBasic });
  const text = offersBasic && presented.kind === 'basic' ? keyOfBasic(presented.header) : undefined;
  if (text === undefined) throw new DomainError('invalid_credential', { offersBasic });
  return { kind: 'api_key_header', text };
}

/**
 * Always the same identity headers, so that a proxy that copies them overwrites those that the client sent under the same names.
 * The environment is one of them only if environments are configured.
 * The headers that protect browsers are absent: a proxy reads this response, and no proxy passes it on.
 */
function identityOf(result: AcceptedKey | AcceptedToken): string[] {
  const isKey = result.type === 'api_key';
  return [
    'Cache-Control',
    'no-store',
    'Content-Length',
    '0',
    account,
    result.accountId,
    credential,
    result.type,
    keyId,
    isKey ? String(result.keyId) : '',
    nickname,
    isKey ? encodeURIComponent(result.nickname) : '',
    scopes,
    isKey ? result.scopes : '',
    ...(result.environment === undefined ? [] : [environment, result.environment]),
  ];
}

const headersOf = (result: AcceptedKey | AcceptedToken): string[] =>
  result.type === 'api_key' && result.outcome
    ? [...identityOf(result), ...rateLimitField(result.outcome.states)]
    : identityOf(result);

interface Requirements extends Required<Pick<Conditions, 'scopes' | 'cost' | 'environments'>> {
  /** Whether a rejection by a limit has the status 403 instead of 429. */
  readonly isForbiddenIfLimited: boolean;
}

/**
 * What the query requires. A proxy may pass on the query of its client, so a parameter can only add a scope, raise the cost,
 * remove an environment, or change the status of a rejection.
 * @throws DomainError `invalid_request`
 */
function requirementsOf(request: ForwardRequest, known: Environments): Requirements {
  if (!request.url?.includes('?')) return { ...none, environments: known.forwarded };
  const query = queryOf(request);
  return {
    scopes: scopesOf(query),
    cost: costOf(query),
    environments: environmentsOf(query, known),
    isForbiddenIfLimited: wantsForbidden(query),
  };
}

/**
 * Those that the operator accepts, if each value of the query is the same. Without KEYREEVE_ENVIRONMENTS, the parameter is
 * ignored.
 */
function environmentsOf(query: URLSearchParams, { names, forwarded }: Environments): readonly string[] {
  if (names.length === 0) return forwarded;
  const wanted = query.getAll('environment');
  if (!wanted.every((name) => names.includes(name)))
    throw new DomainError('invalid_request', {
      detail: `The parameter environment must be one of ${names.join(', ')}.`,
    });
  return forwarded.filter((name) => wanted.every((other) => other === name));
}

/**
 * The required scopes, each once. No key has more than `scopesPerKeyMax`, so one more is enough to reject every key: the
 * others are neither compared nor returned.
 */
function scopesOf(query: URLSearchParams): readonly string[] {
  const required = new Set<string>();
  for (const value of query.getAll('scope')) {
    for (const scope of value.split(' ')) {
      if (scope !== '') required.add(scope);
      if (required.size > limits.scopesPerKeyMax) return [...required];
    }
  }
  return [...required];
}

/** The largest cost, and 1 without any: a client cannot reduce the cost that the proxy names, and no cost is 0. */
function costOf(query: URLSearchParams): number {
  const costs = query.getAll('cost').map((text) => (/^[1-9]\d{0,4}$/.test(text) ? Number(text) : Number.NaN));
  if (costs.every((cost) => cost <= limits.costMax)) return Math.max(1, ...costs);
  throw new DomainError('invalid_request', {
    detail: `The parameter cost must be a whole number from 1 to ${limits.costMax}.`,
  });
}

function wantsForbidden(query: URLSearchParams): boolean {
  const statuses = query.getAll('limited');
  if (statuses.every((status) => status === '403')) return statuses.length > 0;
  throw new DomainError('invalid_request', { detail: 'The parameter limited must be 403 or absent.' });
}

const none = { scopes: [], cost: 1, isForbiddenIfLimited: false };
