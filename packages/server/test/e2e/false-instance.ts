/** Reverse proxies in front of a real instance that do what an instance mustn't, or what networks do. */
import { once } from 'node:events';
import { Agent, createServer, request as send, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

export interface FalseInstance extends AsyncDisposable {
  readonly url: string;
}

/** @param answer what to do with a request; `ask` passes it on to the real instance, at most once */
export async function startFalseInstance(
  realUrl: string,
  answer: (request: IncomingMessage, body: Buffer, ask: () => Promise<Answer>) => Promise<Answer | 'cut'>,
): Promise<FalseInstance> {
  const agent = new Agent({ keepAlive: true });
  const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = Buffer.concat(await Array.fromAsync(request as AsyncIterable<Buffer>));
    const answered = await answer(request, body, () => passOn(realUrl, request, body, agent)).catch(
      () => 'cut' as const,
    );
    if (answered === 'cut') request.socket.destroy();
    else response.writeHead(answered.status, answered.headers).end(answered.body);
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

function passOn(
  realUrl: string,
  { method, url, headers }: IncomingMessage,
  body: Buffer,
  agent: Agent,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = send(new URL(url ?? '/', realUrl), { method: method ?? 'GET', headers, agent }, (response) => {
      void Array.fromAsync(response as AsyncIterable<Buffer>).then(
        (chunks) =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) }),
        reject,
      );
    });
    request.on('error', reject).end(body);
  });
}

/** Remembers each 200 of /auth/forward for some time: the cache that many put in front of a verification. */
export function remembering(ms: number): Parameters<typeof startFalseInstance>[1] {
  const remembered = new Map<string, { readonly answer: Answer; readonly until: number }>();
  return async (request, _body, ask) => {
    const credential = request.headers.authorization ?? request.headers['x-api-key'];
    if (request.url !== '/auth/forward' || typeof credential !== 'string') return ask();
    const known = remembered.get(credential);
    if (known && performance.now() < known.until) return known.answer;
    const answer = await ask();
    if (answer.status === 200) remembered.set(credential, { answer, until: performance.now() + ms });
    return answer;
  };
}

/**
 * Passes everything on, and cuts the connection instead of every so manieth answer to a method; not to the first
 * requests, which only see whether a proof can begin.
 */
export function losingAnswers(
  every: Readonly<Partial<Record<string, number>>>,
): Parameters<typeof startFalseInstance>[1] {
  const counts = new Map<string, number>();
  let requests = 0;
  return async ({ method = '' }, _body, ask) => {
    const answer = await ask();
    if (++requests <= 20) return answer;
    const count = (counts.get(method) ?? 0) + 1;
    counts.set(method, count);
    return count % (every[method] ?? Infinity) === 0 ? 'cut' : answer;
  };
}
