/** Reverse proxies in front of an instance that simulate a broken instance or an unreliable network. */
import { once } from 'node:events';
import { Agent, createServer, request as send, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ProxiedResponse {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

export interface FaultyInstance extends AsyncDisposable {
  readonly url: string;
}

/** @param handle returns the response; `forward` sends the request to the instance, and must be called at most once */
export async function startFaultyInstance(
  instanceUrl: string,
  handle: (
    request: IncomingMessage,
    body: Buffer,
    forward: () => Promise<ProxiedResponse>,
  ) => Promise<ProxiedResponse | 'cut'>,
): Promise<FaultyInstance> {
  const agent = new Agent({ keepAlive: true });
  const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = Buffer.concat(await Array.fromAsync(request as AsyncIterable<Buffer>));
    const result = await handle(request, body, () => forwardTo(instanceUrl, request, body, agent)).catch(
      () => 'cut' as const,
    );
    if (result === 'cut') request.socket.destroy();
    else response.writeHead(result.status, result.headers).end(result.body);
  };
  const server = createServer((request, response) => void respond(request, response));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => {
      server.close();
      server.closeAllConnections();
      agent.destroy();
      await once(server, 'close');
    },
  };
}

function forwardTo(
  instanceUrl: string,
  { method, url, headers }: IncomingMessage,
  body: Buffer,
  agent: Agent,
): Promise<ProxiedResponse> {
  return new Promise((resolve, reject) => {
    const request = send(new URL(url ?? '/', instanceUrl), { method: method ?? 'GET', headers, agent }, (response) => {
      void Array.fromAsync(response as AsyncIterable<Buffer>).then(
        (chunks) =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) }),
        reject,
      );
    });
    request.on('error', reject).end(body);
  });
}

/** Caches each 200 of /auth/forward. */
export function cachingFor(ms: number): Parameters<typeof startFaultyInstance>[1] {
  const cache = new Map<string, { readonly response: ProxiedResponse; readonly until: number }>();
  return async (request, _body, forward) => {
    const credential = request.headers.authorization ?? request.headers['x-api-key'];
    if (request.url !== '/auth/forward' || typeof credential !== 'string') return forward();
    const cached = cache.get(credential);
    if (cached && performance.now() < cached.until) return cached.response;
    const response = await forward();
    if (response.status === 200) cache.set(credential, { response, until: performance.now() + ms });
    return response;
  };
}

/**
 * Forwards all requests, and cuts the connection instead of one in so many responses to a method. The first 20 requests are
 * exempt: they check whether the run can start.
 */
export function losingResponses(
  every: Readonly<Partial<Record<string, number>>>,
): Parameters<typeof startFaultyInstance>[1] {
  const counts = new Map<string, number>();
  let requests = 0;
  return async ({ method = '' }, _body, forward) => {
    const response = await forward();
    if (++requests <= 20) return response;
    const count = (counts.get(method) ?? 0) + 1;
    counts.set(method, count);
    return count % (every[method] ?? Infinity) === 0 ? 'cut' : response;
  };
}

/**
 * Repeats a run until it detects a fault that lasts for a fraction of a second: on a busy machine, all verifications of a run can
 * come later.
 */
export async function untilDetected<Result>(
  run: () => Promise<Result>,
  isDetected: (result: Result) => boolean,
): Promise<Result> {
  for (;;) {
    const result = await run();
    if (isDetected(result)) return result;
  }
}
