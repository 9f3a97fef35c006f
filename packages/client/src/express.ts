/** The guard for Express, also for other frameworks with the same middleware and for `node:http`. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { newCheck, type CheckOptions } from './check.ts';
import type { Verifier } from './client.ts';
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
  options: CheckOptions = {},
): (request: ExpressRequest, response: ServerResponse, next: () => void) => Promise<void> {
  const check = newCheck(verifier, options);
  return async (request, response, next) => {
    const { ip, socket } = request;
    const { result, refusal, headers } = await check(request, ip ?? socket?.remoteAddress);
    for (const [name, value] of Object.entries(refusal ? refusal.headers : headers)) response.setHeader(name, value);
    if (refusal) {
      response.statusCode = refusal.status;
      response.end(refusal.body);
      return;
    }
    request.keyreeve = result;
    next();
  };
}
