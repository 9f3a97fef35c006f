/**
 * What every guard does, whatever the framework: it reads exactly one credential, asks the service, and answers with the
 * service's problem document. It lets a request through only with an accepted result.
 */
import type { Verifier } from './client.ts';
import { problemResponse, refusalResponse, unavailableResponse, type Refusal } from './problem.ts';
import { assertOptions, isIpAddress } from './question.ts';
import { credentialOf, type CredentialHeaders } from './request-credential.ts';
import type { AcceptedCredential } from './verification-result.ts';

export interface GuardOptions {
  /** The credential must have all of them; an access token has none. At most 32. */
  readonly scopes?: readonly string[] | undefined;
  /** The accepted environments, 1 to 8. Default: the first one of the installation. */
  readonly environments?: readonly string[] | undefined;
  /** Tokens that a request spends from each limit, 0 to 10,000. Default: 1. */
  readonly cost?: number | undefined;
  /** Called with the cause of each 503, for the log. */
  readonly onUnavailable?: ((error: unknown) => void) | undefined;
}

export interface GuardedRequest {
  readonly headers: CredentialHeaders;
  /** The client IP. Text that is not an IP address counts as none. */
  readonly address: string | undefined;
}

/** Exactly one member is set. */
export type Outcome =
  | { readonly result: AcceptedCredential; readonly refusal?: never }
  | { readonly refusal: Refusal; readonly result?: never };

/** @throws TypeError when the guard is created, for options that the service rejects */
export function newGuard(
  verifier: Verifier,
  { onUnavailable, ...conditions }: GuardOptions,
): (request: GuardedRequest) => Promise<Outcome> {
  assertOptions(conditions);
  const { scopes = [] } = conditions;
  return async ({ headers, address }) => {
    const presented = credentialOf(headers);
    if (presented.kind === 'none') return { refusal: problemResponse('missing_credential') };
    if (presented.kind === 'ambiguous') return { refusal: problemResponse('ambiguous_credentials') };
    if (!('text' in presented)) return { refusal: problemResponse('invalid_credential') };
    try {
      const known = address !== undefined && isIpAddress(address) ? { address } : {};
      const result = await verifier.verify(presented.text, { ...conditions, ...known });
      if (!result.valid) return { refusal: refusalResponse(result, scopes) };
      // As at `/auth/forward`: X-API-Key is for API keys only.
      const isMisplaced = presented.kind === 'api_key_header' && result.type !== 'api_key';
      return isMisplaced ? { refusal: problemResponse('invalid_credential') } : { result };
    } catch (error) {
      onUnavailable?.(error);
      return { refusal: unavailableResponse() };
    }
  };
}
