/**
 * The check of a request, for any framework: reads exactly one credential, asks the service, and returns the verification result, or
 * a response with the service's problem document. All guards are built on it.
 */
import type { Verifier } from './client.ts';
import {
  limitFields,
  problemResponse,
  refusalResponse,
  unavailableResponse,
  withBasic,
  type Refusal,
} from './problem.ts';
import { assertOptions, isIpAddress } from './question.ts';
import { credentialOf, type RequestHeaders } from './request-credential.ts';
import type { AcceptedCredential } from './verification-result.ts';

export interface CheckOptions {
  /** The credential must have all of them; an access token has none. At most 32. */
  readonly scopes?: readonly string[] | undefined;
  /** The accepted environments, 1 to 8. Default: the first one of the installation. */
  readonly environments?: readonly string[] | undefined;
  /** Tokens that a request spends from each limit, 0 to 10,000. 0 only checks the limits. Default: 1. */
  readonly cost?: number | undefined;
  /** Whether the response to an accepted request gets `RateLimit` and `RateLimit-Policy`. Default: false. */
  readonly rateLimitFields?: boolean | undefined;
  /**
   * Whether an API key may also be a Basic credential, for docker, Maven, pip and git: the password with any user name, or the user
   * name with an empty password. A browser shows a sign-in dialog for the challenge. Default: false.
   */
  readonly basic?: boolean | undefined;
}

/** Either `result` or `refusal` is set. */
export type Outcome =
  | {
      readonly result: AcceptedCredential;
      /** For your own response: `RateLimit` and `RateLimit-Policy` if `rateLimitFields` is true and the key has limits, or none. */
      readonly headers: Readonly<Record<string, string>>;
      readonly refusal?: never;
    }
  | { readonly refusal: Refusal; readonly result?: never; readonly headers?: never };

/**
 * Checks a request with a question that the service receives after this call.
 * @param headers of the request
 * @param address the client IP, for keys that are limited to IP ranges. Text that is not an IP address counts as none
 * @returns the result, or the response to send instead: 401, 403 or 429, and 503 if the result is not known within 3 s
 * @throws TypeError for headers in another form
 */
export type Check = (headers: RequestHeaders, address?: string) => Promise<Outcome>;

/** @throws TypeError for options that the service rejects */
export function newCheck(verifier: Verifier, options: CheckOptions = {}): Check {
  const { rateLimitFields = false, basic = false, ...conditions } = options;
  assertOptions(conditions);
  const { scopes = [] } = conditions;
  const refused = (refusal: Refusal): Outcome => ({ refusal: basic ? withBasic(refusal) : refusal });
  return async (headers, address) => {
    const presented = credentialOf(headers, basic);
    if ('problem' in presented) return refused(problemResponse(presented.problem));
    try {
      const known = address !== undefined && isIpAddress(address) ? { address } : {};
      const result = await verifier.verify(presented.text, { ...conditions, ...known });
      if (!result.valid) return refused(refusalResponse(result, scopes));
      // As at `/auth/forward`.
      if (presented.isKeyOnly && result.type !== 'api_key') return refused(problemResponse('invalid_credential'));
      return { result, headers: rateLimitFields ? limitFields(result) : {} };
    } catch {
      // The client logs it.
      return { refusal: unavailableResponse() };
    }
  };
}
