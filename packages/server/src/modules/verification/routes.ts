/** HTTP of verification for backends: one credential, many, or after RFC 7662. `forward.ts` is the one for proxies. */
import * as contract from '@keyreeve/contract';
import { splitScopes } from '../api-keys/api-keys.ts';
import { toInstant } from '../../foundation/clock.ts';
import { route, type Route } from '../../http/route.ts';
import type { BatchVerdict, Verdict, Verifier } from './verify.ts';

/**
 * The caller has been authenticated as a service.
 * @param onFailure called with the cause of each credential of a batch about which nothing can be known
 */
export function verificationRoutes(verifier: Verifier, onFailure: (error: unknown) => void): readonly Route[] {
  return [
    route(contract.verify, async ({ body }) => ({
      status: 200,
      body: toResult(await verifier.verify(body.credential)),
    })),
    route(contract.verifyBatch, async ({ body }) => {
      const verdicts = await verifier.verifyMany(body.credentials, onFailure);
      return { status: 200, body: { results: verdicts.map(toBatchResult) } };
    }),
    route(contract.introspect, async ({ body }) => ({
      status: 200,
      body: toIntrospection(await verifier.verify(body.token)),
    })),
  ];
}

const toBatchResult = (verdict: BatchVerdict): contract.BatchResult =>
  !verdict.valid && verdict.code === 'unavailable' ? { valid: false, code: 'unavailable' } : toResult(verdict);

function toResult(verdict: Verdict): contract.VerifyResult {
  if (!verdict.valid) return { valid: false, code: verdict.code };
  const isKey = verdict.type === 'api_key';
  return {
    valid: true,
    type: verdict.type,
    accountId: verdict.accountId,
    keyId: isKey ? verdict.keyId : null,
    nickname: isKey ? verdict.nickname : null,
    scopes: isKey ? splitScopes(verdict.scopes) : null,
    expiresAt: verdict.expiresAt === null ? null : toInstant(verdict.expiresAt),
  };
}

/** Nothing but `{"active": false}` for whatever is not live: not even why (RFC 7662 section 2.2). */
function toIntrospection(verdict: Verdict): contract.Introspection {
  if (!verdict.valid) return { active: false };
  return {
    active: true,
    sub: verdict.accountId,
    ...(verdict.type === 'api_key' && verdict.scopes !== '' ? { scope: verdict.scopes } : {}),
    ...(verdict.expiresAt === null ? {} : { exp: Math.floor(verdict.expiresAt / 1000) }),
    iat: Math.floor(verdict.issuedAt / 1000),
    token_type: verdict.type,
  };
}
