/** The guard for Hono. */
import type { Context, MiddlewareHandler } from 'hono';
import { newCheck, type CheckOptions } from './check.ts';
import type { Verifier } from './client.ts';
import type { AcceptedCredential } from './verification-result.ts';

declare module 'hono' {
  interface ContextVariableMap {
    /** The verification result. The guard has set it. */
    keyreeve: AcceptedCredential;
  }
}

export interface HonoGuardOptions extends CheckOptions {
  /** Returns the client IP, for keys that are limited to IP ranges. Hono's way depends on the runtime: `getConnInfo`. */
  readonly address?: ((context: Context) => string | undefined) | undefined;
}

/** Middleware that lets a request through only with a valid credential. It sets the variable `keyreeve` of the context. */
export function guard(verifier: Verifier, { address, ...options }: HonoGuardOptions = {}): MiddlewareHandler {
  const check = newCheck(verifier, options);
  return async (context, next) => {
    const { result, refusal, headers } = await check(context.req.raw.headers, address?.(context));
    if (refusal) return context.newResponse(refusal.body, refusal.status as 401, { ...refusal.headers });
    context.set('keyreeve', result);
    await next();
    // After the handler, because Hono drops headers that were set before if the handler returns a `Response` of its own.
    for (const [name, value] of Object.entries(headers)) context.header(name, value);
  };
}
