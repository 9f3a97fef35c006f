/** The guard for route handlers of Next.js, and for other handlers from a `Request` to a `Response`. */
import { newCheck, type CheckOptions } from './check.ts';
import type { Verifier } from './client.ts';
import type { AcceptedCredential } from './verification-result.ts';

export interface NextGuardOptions<R> extends CheckOptions {
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
  const check = newCheck(verifier, options);
  return async (request, context) => {
    const { result, refusal, headers } = await check(request.headers, address?.(request));
    if (refusal) return new Response(refusal.body, { status: refusal.status, headers: { ...refusal.headers } });
    return withHeaders(await handler(request, { ...context, keyreeve: result }), Object.entries(headers));
  };
}

/** A copy, because the headers of a redirect or of a response of `fetch` cannot be changed. */
function withHeaders(response: Response, headers: readonly (readonly [string, string])[]): Response {
  if (headers.length === 0) return response;
  const copy = new Response(response.body, response);
  for (const [name, value] of headers) copy.headers.set(name, value);
  return copy;
}
