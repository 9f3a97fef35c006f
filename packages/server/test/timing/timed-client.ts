/** Sends sequential requests on one connection, and measures the time and the bytes of each response. */
import { Agent, request as send, type IncomingMessage } from 'node:http';
import { monotonicMs } from '../../src/foundation/clock.ts';
import { programMsMax } from '../../test-kit/time-limits.ts';

export interface TimedRequest {
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly json?: unknown;
}

export interface TimedResponse {
  readonly ms: number;
  /** Status, header lines and body, without the date and the request id, which differ in every response. */
  readonly bytes: string;
  readonly status: number;
}

export class TimedClient implements Disposable {
  readonly #url: string;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 });

  constructor(url: string) {
    this.#url = url;
  }

  post({ path, headers = {}, json }: TimedRequest): Promise<TimedResponse> {
    const body = json === undefined ? '' : JSON.stringify(json);
    const type = json === undefined ? {} : { 'content-type': 'application/json' };
    return new Promise((resolve, reject) => {
      const request = send(new URL(path, this.#url), {
        method: 'POST',
        agent: this.#agent,
        headers: { ...type, 'content-length': Buffer.byteLength(body), ...headers },
        timeout: programMsMax,
      });
      request.on('timeout', () => request.destroy(new Error(`no response within ${programMsMax} ms`)));
      request.on('error', reject);
      request.on('response', (response) => {
        const chunks: Buffer[] = [];
        response.on('error', reject);
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () => {
          const ms = monotonicMs() - startedMs;
          const text = Buffer.concat(chunks).toString();
          resolve({ ms, status: response.statusCode ?? 0, bytes: bytesOf(response, text) });
        });
      });
      const startedMs = monotonicMs();
      request.end(body);
    });
  }

  [Symbol.dispose](): void {
    this.#agent.destroy();
  }
}

function bytesOf(response: IncomingMessage, body: string): string {
  const lines = [`${response.statusCode} ${response.statusMessage}`];
  for (let index = 0; index < response.rawHeaders.length; index += 2) {
    const name = response.rawHeaders[index] ?? '';
    const isUnique = /^(?:date|x-request-id)$/i.test(name);
    lines.push(`${name}: ${isUnique ? '*' : response.rawHeaders[index + 1]}`);
  }
  return `${lines.join('\n')}\n\n${body.replace(/"requestId":"[^"]*"/, '"requestId":"*"')}`;
}
