/** The guard for Express, also for other frameworks with the same middleware and for `node:http`. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Verifier } from './client.ts';
import { newGuard, type GuardOptions } from './guard.ts';
import { headersOfNode } from './request-credential.ts';
import type { AcceptedCredential } from './verification-result.ts';

declare global {
  // Express merges the members of this interface into its requests.
  namespace Express {
    interface Request {
      /** The verification result. The guard has set it. */
      keyreeve?: AcceptedCredential;
    }
  }
}

type ExpressRequest = Omit<IncomingMessage, 'socket'> & {
  ip?: string | undefined;
  /** Adapters of serverless platforms have none. */
  socket?: { readonly remoteAddress?: string | undefined } | undefined;
  keyreeve?: AcceptedCredential;
};

/**
 * Middleware that lets a request through only with a valid credential. It sets `request.keyreeve`. The client IP is
 * `request.ip`, so Express needs its setting `trust proxy` behind a proxy.
 */
export function guard(
  verifier: Verifier,
  options: GuardOptions = {},
): (request: ExpressRequest, response: ServerResponse, next: () => void) => Promise<void> {
  const check = newGuard(verifier, options);
  return async (request, response, next) => {
    const { ip, socket } = request;
    const { result, refusal } = await check({ headers: headersOfNode(request), address: ip ?? socket?.remoteAddress });
    if (refusal) {
      response.writeHead(refusal.status, { ...refusal.headers, 'Content-Length': Buffer.byteLength(refusal.body) });
      response.end(refusal.body);
      return;
    }
    request.keyreeve = result;
    next();
  };
}
