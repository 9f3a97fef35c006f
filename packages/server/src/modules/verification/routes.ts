/** Verification for backends: one credential, a batch, or introspection (RFC 7662). `forward.ts` serves proxies. */
import * as contract from '@keyreeve/contract';
import type { Environments } from '../api-keys/environments.ts';
import { splitScopes } from '../api-keys/scopes.ts';
import { monotonicMs, toInstant } from '../../foundation/clock.ts';
import type { LatencyHistogram } from '../../foundation/latency-histogram.ts';
import { route, type Route } from '../../http/route.ts';
import { DomainError } from '../../foundation/errors.ts';
import { isIpAddress } from '../../foundation/ip-address.ts';
import type { LimitOutcome } from '../key-limits/key-limits.ts';
import type { CanaryPrincipal } from '../../foundation/principal.ts';
import type {
  AcceptedKey,
  BatchVerificationResult,
  Conditions,
  Question,
  VerificationResult,
  Verifier,
} from './verify.ts';

/**
 * The caller is already authenticated as a service, or by the credential of a revocation check, which verifies its canary keys
 * only: every other credential has the result of an unknown one.
 * @param onFailure called with the cause of each credential of a batch that has no result
 */
export function verificationRoutes(verifier: Verifier, onFailure: (error: unknown) => void): readonly Route[] {
  const { byEndpoint } = verifier.durations;
  return [
    route(contract.verify, async ({ body, principal }) => {
      const conditions = conditionsFor(principal, conditionsOf(body, '', verifier.environments));
      const result = await timed(byEndpoint.verify, () => verifier.verify(body.credential, conditions));
      return { status: 200, body: toResult(visibleTo(principal, result)) };
    }),
    route(contract.verifyBatch, async ({ body, principal }) => {
      const questions = questionsFor(principal, questionsOf(body, verifier.environments));
      const results = await timed(byEndpoint.verify_batch, () => verifier.verifyMany(questions, onFailure));
      return { status: 200, body: { results: results.map((result) => toBatchResult(visibleTo(principal, result))) } };
    }),
    route(contract.introspect, async ({ body, principal }) => {
      const conditions = conditionsFor(principal, undefined);
      const result = await timed(byEndpoint.introspect, () => verifier.verify(body.token, conditions));
      return { status: 200, body: toIntrospection(visibleTo(principal, result)) };
    }),
  ];
}

/** The conditions of a question. Those of a canary credential have the IP address of canary keys, and spend no limit. */
function conditionsFor(
  principal: CanaryPrincipal | undefined,
  conditions: Conditions | undefined,
): Conditions | undefined {
  return principal ? canaryConditions(principal, conditions) : conditions;
}

const canaryConditions = ({ address }: CanaryPrincipal, conditions: Conditions | undefined): Conditions => ({
  scopes: [],
  ...conditions,
  clientIp: () => address,
  isUnlimited: true,
});

const questionsFor = (principal: CanaryPrincipal | undefined, questions: Question[]): Question[] =>
  principal
    ? questions.map(({ text, conditions }) => ({ text, conditions: canaryConditions(principal, conditions) }))
    : questions;

/** The result that the caller may see. */
function visibleTo<R extends BatchVerificationResult>(
  principal: CanaryPrincipal | undefined,
  result: R,
): R | typeof notFound {
  if (!principal || (!result.valid && result.code === 'unavailable')) return result;
  return result.valid && result.type === 'api_key' && isCanaryOf(principal, result) ? result : notFound;
}

const notFound = { valid: false, code: 'not_found' } as const;

const isCanaryOf = ({ accountId, addresses }: CanaryPrincipal, key: AcceptedKey): boolean =>
  key.accountId === accountId && key.addresses === addresses && key.scopes === '';

/** Adds the duration of a verification, also of one that fails. */
async function timed<T>(durations: LatencyHistogram, verify: () => Promise<T>): Promise<T> {
  const startedMs = monotonicMs();
  try {
    return await verify();
  } finally {
    durations.add(monotonicMs() - startedMs);
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
    throw new DomainError('invalid_request', {
      errors: [
        { pointer: `${pointer}/address`, detail: 'Expected an IP address without a port, such as 203.0.113.7.' },
      ],
    });
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
