/** One running instance as a client sees it: its address, connections that are kept, and a bound on every answer. */
import { Agent, request as requestHttp, type IncomingHttpHeaders } from 'node:http';
import { Agent as TlsAgent, request as requestHttps } from 'node:https';

export interface HttpRequest {
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS';
  /** Below the instance's own address. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

export class Instance {
  /** As it was given, without a slash at its end. */
  readonly url: string;
  /** Verifications that it has answered with yes or no. */
  verdicts = 0;
  readonly #base: URL;
  readonly #agent: Agent;
  readonly #timeoutMs: number;

  /** @param timeoutMs how long an answer may take; later it counts as lost */
  constructor(url: string, timeoutMs: number) {
    this.url = url.replace(/\/+$/, '');
    this.#base = new URL(this.url);
    this.#agent = new (this.#isTls ? TlsAgent : Agent)({ keepAlive: true });
    this.#timeoutMs = timeoutMs;
  }

  /** Nothing is tried twice. @throws Error when no whole answer came */
  ask({ method, path, headers, body }: HttpRequest): Promise<HttpAnswer> {
    const { hostname, port, pathname } = this.#base;
    const options = {
      // An IPv6 address stands in brackets in an address, and without them here.
      hostname: hostname.replaceAll(/^\[|\]$/g, ''),
      ...(port === '' ? {} : { port }),
      path: pathname === '/' ? path : pathname + path,
      method,
      headers,
      agent: this.#agent,
      timeout: this.#timeoutMs,
    };
    return new Promise((resolve, reject) => {
      const request = (this.#isTls ? requestHttps : requestHttp)(options, (response) => {
        let text = '';
        response
          .setEncoding('utf8')
          .on('data', (chunk: string) => (text += chunk))
          .on('error', reject)
          .on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }));
      });
      request.on('timeout', () => request.destroy(new Error(`no answer within ${this.#timeoutMs} ms`)));
      request.on('error', reject);
      request.end(body);
    });
  }

  close(): void {
    this.#agent.destroy();
  }

  get #isTls(): boolean {
    return this.#base.protocol === 'https:';
  }
}
