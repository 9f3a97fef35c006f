/** The guard for Fastify: an `onRequest` hook, and a plugin that sets it for all routes. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { newCheck, type CheckOptions } from './check.ts';
import type { Verifier } from './client.ts';
import type { AcceptedCredential } from './verification-result.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The verification result. The guard has set it. */
    keyreeve?: AcceptedCredential;
  }
}

type Hook = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply | undefined>;

/**
 * A hook for `onRequest` of a route, which lets a request through only with a valid credential. It sets `request.keyreeve`. The
 * client IP is `request.ip`, so Fastify needs its option `trustProxy` behind a proxy.
 */
export function guard(verifier: Verifier, options: CheckOptions = {}): Hook {
  const check = newCheck(verifier, options);
  return async (request, reply) => {
    const { result, refusal, headers } = await check(request.raw, request.ip);
    if (refusal) return reply.code(refusal.status).headers(refusal.headers).send(refusal.body);
    reply.headers(headers);
    request.keyreeve = result;
    return undefined;
  };
}

/** Guards all routes of the instance that registers the plugin, and of the instances below it. */
export async function keyreeve(app: FastifyInstance, options: CheckOptions & { verifier: Verifier }): Promise<void> {
  const { verifier, scopes, environments, cost, rateLimitFields, basic } = options;
  app.addHook('onRequest', guard(verifier, { scopes, environments, cost, rateLimitFields, basic }));
}
// Without an own context, so that the hook applies to the instance that registers the plugin.
Object.assign(keyreeve, { [Symbol.for('skip-override')]: true, [Symbol.for('fastify.display-name')]: 'keyreeve' });
