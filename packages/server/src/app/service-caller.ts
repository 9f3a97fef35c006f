/** Authenticates the caller of a verification: a service by an API key, or a revocation check from outside by its credential. */
import { limits } from '@keyreeve/contract';
import { DomainError } from '../foundation/errors.ts';
import { Pending } from '../foundation/pending.ts';
import type { CanaryPrincipal } from '../foundation/principal.ts';
import type { Span } from '../foundation/tracing.ts';
import { parseClient } from '../http/basic-authentication.ts';
import type { RequestCredential } from '../http/request-credential.ts';
import type { ServiceCaller } from '../http/route.ts';
import { canaryScope, verifyScope } from '../modules/api-keys/scopes.ts';
import type { CanaryAddress } from '../modules/canary-keys/address.ts';
import type { Conditions, VerificationResult } from '../modules/verification/conditions.ts';
import type { Verifier } from '../modules/verification/verify.ts';

export interface ServiceAuthenticators {
  readonly verifier: Verifier;
  readonly canaryKeys: CanaryAddress;
}

interface PresentedByService {
  readonly presented: RequestCredential;
  /** Of the calling service, whose key may be limited to IP ranges. */
  readonly clientIp: Conditions['clientIp'];
  /** Whether HTTP Basic is accepted, for RFC 7662 clients: the id of the key as user, the key as password. */
  readonly acceptsBasic: boolean;
  /** Of a recorded request. Default: the one of the current share. */
  readonly span?: Span | undefined;
}

/**
 * A limit of the key or its account does not stop a service.
 * @returns a caller that may verify canary keys only; known without a value for one that may verify all credentials. It fails
 *   with DomainError `invalid_service_key`, `insufficient_scope`, `ambiguous_credentials` or `unavailable`
 */
export function authenticateService(
  authenticators: ServiceAuthenticators,
  { presented, clientIp, acceptsBasic, span }: PresentedByService,
): ServiceCaller {
  const caller: ServiceCaller = new Pending();
  const fail = (error: unknown): void => caller.fail(error);
  const client = acceptsBasic && presented.kind === 'basic' ? parseClient(presented.header) : undefined;
  const text = 'text' in presented ? presented.text : client?.secret;
  if (text === undefined) {
    fail(new DomainError(presented.kind === 'ambiguous' ? 'ambiguous_credentials' : 'invalid_service_key'));
    return caller;
  }
  const answer = (key: VerificationResult): void => {
    if (key.valid) caller.know(undefined);
    else if (key.code === 'address_not_allowed' || key.code === 'address_required')
      void canaryOf(authenticators, text)
        .then((canary) => (canary ? caller.know(canary) : fail(new DomainError('invalid_service_key'))))
        .catch(fail);
    else fail(key.code === 'insufficient_scope' ? withoutScope() : new DomainError('invalid_service_key'));
  };
  // With another id, the key is not used: no use of it is recorded.
  const mayVerify = client && (({ id }: { id: number }) => client.id === String(id));
  const conditions = { clientIp, mayVerify, scopes: verifying, isUnlimited: true, span };
  authenticators.verifier.startKeyVerification(text, conditions, answer, fail);
  return caller;
}

/** @returns undefined unless the text is a valid credential of a revocation check */
export async function canaryOf(
  { verifier, canaryKeys }: ServiceAuthenticators,
  text: string,
): Promise<CanaryPrincipal | undefined> {
  const key = await verifier.verifyKey(text, {
    clientIp: () => canaryKeys.address,
    scopes: [canaryScope],
    isUnlimited: true,
    // A key with the scope and other IP ranges is no credential.
    mayVerify: ({ addresses }) => addresses === canaryKeys.range,
  });
  if (!key.valid || key.type !== 'api_key' || key.expiresAt === null) return undefined;
  const { keyId, accountId, expiresAt } = key;
  const { address, range: addresses } = canaryKeys;
  return { kind: 'canary', keyId, accountId, lookup: verifier.lookupOf(text), address, addresses, expiresAt };
}

const verifying = [verifyScope];

const withoutScope = (): DomainError =>
  new DomainError('insufficient_scope', {
    scopes: verifying,
    detail: `The key is valid but lacks the scope \`${verifyScope}\`. An administrator creates a key with it: POST /auth/api-keys with {"nickname":"…","scopes":["${verifyScope}"]}, within ${limits.recentSignInSeconds / 60} minutes of a sign-in. An operator creates one with \`keyreeve key create --scope ${verifyScope}\`.`,
  });
