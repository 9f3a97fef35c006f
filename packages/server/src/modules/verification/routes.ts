/** Verification for backends: one credential, a batch, or introspection (RFC 7662). `forward.ts` serves proxies. */
import * as contract from '@keyreeve/contract';
import type { Environments } from '../api-keys/environments.ts';
import { splitScopes } from '../api-keys/scopes.ts';
import { monotonicMs, toInstant } from '../../foundation/clock.ts';
import type { LatencyHistogram } from '../../foundation/latency-histogram.ts';
import { route, type Route, type ServiceCaller } from '../../http/route.ts';
import { invalidAt } from '../../foundation/errors.ts';
import { isUnavailable } from '../../foundation/database/unavailable.ts';
import { isIpAddress } from '../../foundation/ip-address.ts';
import type { LimitOutcome } from '../key-limits/key-limits.ts';
import type { CanaryPrincipal } from '../../foundation/principal.ts';
import {
  unconditional,
  type BatchVerificationResult,
  type Conditions,
  type Question,
  type Restriction,
  type VerificationResult,
} from './conditions.ts';
import type { Verifier } from './verify.ts';

/**
 * The caller is a service, or the credential of a revocation check, which verifies its canary keys only: every other credential
 * has the result of an unknown one. Until the caller is known, a verification only reads.
 * @param onFailure called with the cause of each credential of a batch that has no result
 */
export function verificationRoutes(verifier: Verifier, onFailure: (error: unknown) => void): readonly Route[] {
  const { byEndpoint } = verifier.durations;
  return [
    route(contract.verify, async ({ body, principal }) => {
      const conditions = { ...conditionsOf(body, '', verifier.environments), restriction: restrictionFor(principal) };
      const result = await timed(byEndpoint.verify, principal, () => verifier.verify(body.credential, conditions));
      return { status: 200, body: toResult(visibleTo(await principal, result)) };
    }),
    route(contract.verifyBatch, async ({ body, principal }) => {
      const caller = await principal;
      const questions = questionsFor(caller, questionsOf(body, verifier.environments));
      const results = await timed(byEndpoint.verify_batch, principal, () => verifier.verifyMany(questions, onFailure));
      return { status: 200, body: { results: results.map((result) => toBatchResult(visibleTo(caller, result))) } };
    }),
    route(contract.introspect, async ({ body, principal }) => {
      const conditions = { ...unconditional, restriction: restrictionFor(principal) };
      const result = await timed(byEndpoint.introspect, principal, () => verifier.verify(body.token, conditions));
      return { status: 200, body: toIntrospection(visibleTo(await principal, result)) };
    }),
  ];
}

function restrictionFor(caller: ServiceCaller): Promise<Restriction | undefined> {
  const restriction = caller.then((principal) => principal && restrictionTo(principal));
  // The verification reads first. Without this handler, a rejection that precedes the result of the read would be unhandled.
  restriction.catch(() => undefined);
  return restriction;
}

/** A canary credential verifies from the IP address of its canary keys, and spends no limit. */
const restrictionTo = (principal: CanaryPrincipal): Restriction => ({
  clientIp: () => principal.address,
  isUnlimited: true,
  mayVerify: (key) => isCanaryOf(principal, key),
});

const questionsFor = (caller: CanaryPrincipal | undefined, questions: Question[]): Question[] =>
  caller
    ? questions.map(({ text, conditions = unconditional }) => ({
        text,
        conditions: { ...conditions, ...restrictionTo(caller) },
      }))
    : questions;

/** The result that the caller may see: to a canary credential, every rejection is that of an unknown credential. */
function visibleTo<R extends BatchVerificationResult>(
  caller: CanaryPrincipal | undefined,
  result: R,
): R | typeof notFound {
  return !caller || result.valid || result.code === 'unavailable' ? result : notFound;
}

const notFound = { valid: false, code: 'not_found' } as const;

const isCanaryOf = ({ accountId, addresses }: CanaryPrincipal, key: Parameters<Restriction['mayVerify']>[0]): boolean =>
  key.accountId === accountId && key.addresses === addresses && key.scopes === '';

/** Adds the duration of a verification, also of one that fails, unless the caller was rejected. */
async function timed<T>(durations: LatencyHistogram, caller: ServiceCaller, verify: () => Promise<T>): Promise<T> {
  const startedMs = monotonicMs();
  try {
    return await verify();
  } finally {
    const ms = monotonicMs() - startedMs;
    if (await caller.then(() => true, isUnavailable)) durations.add(ms);
  }
}

/** The schema allows exactly one of the two members. @throws DomainError `invalid_request` */
function questionsOf({ credentials = [], questions }: contract.VerifyBatchBody, known: Environments): Question[] {
  if (!questions) return credentials.map((text) => ({ text }));
  return questions.map((question, index) => ({
    text: question.credential,
    conditions: conditionsOf(question, `/questions/${index}`, known),
  }));
}

/** @param pointer of the question @throws DomainError `invalid_request` for text that is not an IP address */
function conditionsOf(
  { address, environments, scopes = [], cost = 1 }: contract.VerifyBody,
  pointer: string,
  known: Environments,
): Conditions {
  if (address !== undefined && !isIpAddress(address))
    throw invalidAt(`${pointer}/address`, 'Expected an IP address without a port, such as 203.0.113.7.');
  for (const [index, name] of (environments ?? []).entries())
    known.assertKnown(name, `${pointer}/environments/${index}`);
  return { clientIp: () => address, scopes, cost, environments };
}

const toBatchResult = (result: BatchVerificationResult): contract.BatchResult =>
  !result.valid && result.code === 'unavailable' ? { valid: false, code: 'unavailable' } : toResult(result);

function toResult(result: VerificationResult): contract.VerifyResult {
  if (!result.valid) {
    const { code, outcome } = result;
    return { valid: false, code, ...(outcome ? { ...toWait(outcome), ...toLimits(outcome) } : {}) };
  }
  const isKey = result.type === 'api_key';
  return {
    valid: true,
    type: result.type,
    accountId: result.accountId,
    keyId: isKey ? result.keyId : null,
    nickname: isKey ? result.nickname : null,
    scopes: isKey ? splitScopes(result.scopes) : null,
    expiresAt: result.expiresAt === null ? null : toInstant(result.expiresAt),
    ...(result.environment === undefined ? {} : { environment: result.environment }),
    ...(isKey && result.metadata !== null ? { metadata: JSON.parse(result.metadata) as object } : {}),
    ...(isKey && result.outcome ? toLimits(result.outcome) : {}),
  };
}

function toWait({ exceeded, retryAfterSeconds, retryAt }: LimitOutcome): {
  retryAfterSeconds?: number;
  resetsAt?: string;
} {
  if (!Number.isFinite(retryAfterSeconds)) return {};
  return { retryAfterSeconds, ...(exceeded?.kind === 'quota' ? { resetsAt: toInstant(retryAt) } : {}) };
}

const toLimits = ({ states }: LimitOutcome): { limits: contract.RemainingLimit[] } => ({
  limits: states.map(({ policy, quota, windowSeconds, remaining, resetSeconds }) => ({
    policy,
    limit: quota,
    ...(Number.isFinite(windowSeconds) ? { windowSeconds } : {}),
    remaining,
    ...(Number.isFinite(resetSeconds) ? { resetSeconds } : {}),
  })),
});

/** Only `{"active": false}` for a rejected credential, without the reason (RFC 7662 section 2.2). */
function toIntrospection(result: VerificationResult): contract.Introspection {
  if (!result.valid) return { active: false };
  return {
    active: true,
    sub: result.accountId,
    ...(result.type === 'api_key' && result.scopes !== '' ? { scope: result.scopes } : {}),
    ...(result.expiresAt === null ? {} : { exp: Math.floor(result.expiresAt / 1000) }),
    iat: Math.floor(result.issuedAt / 1000),
    token_type: result.type,
  };
}
