/** Results of verifications as bodies of responses to services. */
import type * as contract from '@keyreeve/contract';
import { toInstant } from '../../foundation/clock.ts';
import { splitScopes } from '../api-keys/scopes.ts';
import type { LimitOutcome } from '../key-limits/key-limits.ts';
import type { BatchVerificationResult, VerificationResult } from './conditions.ts';

export const toBatchResult = (result: BatchVerificationResult): contract.BatchResult =>
  !result.valid && result.code === 'unavailable' ? { valid: false, code: 'unavailable' } : toResult(result);

export function toResult(result: VerificationResult): contract.VerifyResult {
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
export function toIntrospection(result: VerificationResult): contract.Introspection {
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
