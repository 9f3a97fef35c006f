/** Verification for backends: one credential, a batch, or introspection (RFC 7662). `forward.ts` serves proxies. */
import * as contract from '@keyreeve/contract';
import { splitScopes } from '../api-keys/scopes.ts';
import { toInstant } from '../../foundation/clock.ts';
import { route, type Route } from '../../http/route.ts';
import { DomainError } from '../../foundation/errors.ts';
import { isIpAddress } from '../../foundation/ip-address.ts';
import type { BatchVerificationResult, ClientIp, VerificationResult, Verifier } from './verify.ts';

/**
 * The caller is already authenticated as a service.
 * @param onFailure called with the cause of each credential of a batch that has no result
 */
export function verificationRoutes(verifier: Verifier, onFailure: (error: unknown) => void): readonly Route[] {
  return [
    route(contract.verify, async ({ body }) => ({
      status: 200,
      body: toResult(await verifier.verify(body.credential, addressOf(body))),
    })),
    route(contract.verifyBatch, async ({ body }) => {
      const results = await verifier.verifyMany(body.credentials, onFailure);
      return { status: 200, body: { results: results.map(toBatchResult) } };
    }),
    route(contract.introspect, async ({ body }) => ({
      status: 200,
      body: toIntrospection(await verifier.verify(body.token)),
    })),
  ];
}

/** @throws DomainError `invalid_request` for text that is not an IP address */
function addressOf({ address }: contract.VerifyBody): ClientIp {
  if (address !== undefined && !isIpAddress(address))
    throw new DomainError('invalid_request', {
      errors: [{ pointer: '/address', detail: 'Expected an IP address, such as 203.0.113.7.' }],
    });
  return () => address;
}

const toBatchResult = (result: BatchVerificationResult): contract.BatchResult =>
  !result.valid && result.code === 'unavailable' ? { valid: false, code: 'unavailable' } : toResult(result);

function toResult(result: VerificationResult): contract.VerifyResult {
  if (!result.valid) return { valid: false, code: result.code };
  const isKey = result.type === 'api_key';
  return {
    valid: true,
    type: result.type,
    accountId: result.accountId,
    keyId: isKey ? result.keyId : null,
    nickname: isKey ? result.nickname : null,
    scopes: isKey ? splitScopes(result.scopes) : null,
    expiresAt: result.expiresAt === null ? null : toInstant(result.expiresAt),
    ...(isKey && result.metadata !== null ? { metadata: JSON.parse(result.metadata) as object } : {}),
  };
}

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
