/** The guard for route handlers of Next.js, and for other handlers from a `Request` to a `Response`. */
import type { Verifier } from './client.ts';
import { newGuard, type GuardOptions } from './guard.ts';
import { headersOfFetch } from './request-credential.ts';
import type { AcceptedCredential } from './verification-result.ts';

export interface NextGuardOptions<R> extends GuardOptions {
  /** Returns the client IP, for keys that are limited to IP ranges. Next.js does not know it; your proxy does. */
  readonly address?: ((request: R) => string | undefined) | undefined;
}

/** A handler with the verification result beside the parameters of the route. */
export type GuardedHandler<R, C> = (
  request: R,
  context: C & { keyreeve: AcceptedCredential },
) => Response | Promise<Response>;

/** @returns the handler for the route, which calls `handler` only with a valid credential */
export function guard<R extends Request, C extends object = { params: Promise<unknown> }>(
  verifier: Verifier,
  { address, ...options }: NextGuardOptions<R>,
  handler: GuardedHandler<R, C>,
): (request: R, context: C) => Promise<Response> {
  const check = newGuard(verifier, options);
  return async (request, context) => {
    const { result, refusal } = await check({ headers: headersOfFetch(request.headers), address: address?.(request) });
    if (refusal) return new Response(refusal.body, { status: refusal.status, headers: { ...refusal.headers } });
    return handler(request, { ...context, keyreeve: result });
  };
}
