/** One running instance: its URL, persistent connections, and a timeout for every response. */
import { Agent, request as requestHttp, type IncomingHttpHeaders } from 'node:http';
import { Agent as TlsAgent, request as requestHttps } from 'node:https';

export interface HttpRequest {
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS';
  /** Relative to the instance's URL. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface HttpResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

export class Instance {
  /** Without a slash at the end. */
  readonly url: string;
  /** The number of verifications that it has accepted or rejected. */
  verifications = 0;
  /** Responses that a cache sent, by their headers. The service sends none of these headers. */
  cachedResponses = 0;
  /** Whether X-Forwarded-For of this process counts, because its IP address belongs to a trusted proxy. */
  trustsForwardedFor = false;
  /** Whether it ends leaked secrets that a client reports. */
  acceptsLeakReports = false;
  readonly #base: URL;
  readonly #agent: Agent;
  /** Its connections carry only requests to `/auth/forward`, as those of a proxy do, so the short path answers them. */
  readonly #proxyAgent: Agent;
  readonly #timeoutMs: number;

  /** @param timeoutMs a request fails if the connection is idle for this time */
  constructor(url: string, timeoutMs: number) {
    this.url = url.replace(/(?<!\/)\/+$/, '');
    this.#base = new URL(this.url);
    const newAgent = (): Agent => new (this.#isTls ? TlsAgent : Agent)({ keepAlive: true });
    this.#agent = newAgent();
    this.#proxyAgent = newAgent();
    this.#timeoutMs = timeoutMs;
  }

  /** Sends the request once, without retries. @throws Error without a complete response */
  send({ method, path, headers, body }: HttpRequest): Promise<HttpResponse> {
    const { hostname, port, pathname } = this.#base;
    const options = {
      // A URL has an IPv6 address in brackets; the option has none.
      hostname: hostname.replaceAll(/^\[|\]$/g, ''),
      ...(port === '' ? {} : { port }),
      path: pathname === '/' ? path : pathname + path,
      method,
      // Common firewalls block requests without it.
      headers: { 'User-Agent': 'Keyreeve', ...headers },
      agent: method === 'GET' && /^\/auth\/forward($|\?)/.test(path) ? this.#proxyAgent : this.#agent,
      timeout: this.#timeoutMs,
    };
    return new Promise((resolve, reject) => {
      const request = (this.#isTls ? requestHttps : requestHttp)(options, (response) => {
        let text = '';
        response
          .setEncoding('utf8')
          .on('data', (chunk: string) => (text += chunk))
          .on('error', reject)
          .on('end', () => {
            if (isFromCache(response.headers)) this.cachedResponses++;
            resolve({ status: response.statusCode ?? 0, headers: response.headers, text });
          });
      });
      request.on('timeout', () => request.destroy(new Error(`no response within ${this.#timeoutMs} ms`)));
      request.on('error', reject);
      request.end(body);
    });
  }

  close(): void {
    this.#agent.destroy();
    this.#proxyAgent.destroy();
  }

  get #isTls(): boolean {
    return this.#base.protocol === 'https:';
  }
}

/** RFC 9111 section 5.1, RFC 9211 section 2.1, and the header that common proxies and content delivery networks send. */
const isFromCache = (headers: IncomingHttpHeaders): boolean =>
  headers.age !== undefined ||
  [headers['cache-status'], headers['x-cache'], headers['cf-cache-status']].some((text) =>
    /\bhit\b/i.test(String(text ?? '')),
  );

/** Of a request without a response, for the operator. */
export const messageOf = (error: unknown): string => {
  const { message = '', name = 'Error', code } = error as { message?: string; name?: string; code?: string };
  const text = message || name;
  return code === undefined || text.includes(code) ? text : `${text} (${code})`;
};
