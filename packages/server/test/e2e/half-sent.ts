/** A request that stays in progress until the test completes it. */
import { once } from 'node:events';
import { Agent, request, type ClientRequest, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';

/** A refresh with an incomplete body, on a persistent connection. */
export class HalfSent {
  readonly #request: ClientRequest;
  readonly #rest: string;
  readonly #response: Promise<[IncomingMessage]>;

  constructor({ url }: { readonly url: string }, refreshToken: string, agent = new Agent({ keepAlive: true })) {
    const body = JSON.stringify({ refreshToken });
    const headers = { 'content-type': 'application/json', 'content-length': body.length };
    this.#request = request(`${url}/auth/token/refresh`, { method: 'POST', agent, headers });
    this.#response = once(this.#request, 'response') as Promise<[IncomingMessage]>;
    // Rejected if the program closes the connection; not every test awaits it.
    this.#response.catch(() => undefined);
    this.#rest = body.slice(10);
    this.#request.write(body.slice(0, 10));
  }

  /** @returns the status and the body */
  async finish(): Promise<[number | undefined, string]> {
    this.#request.end(this.#rest);
    const [response] = await this.#response;
    return [response.statusCode, await text(response)];
  }

  /** Closes its connection, which is idle after the response. */
  close(): void {
    this.#request.socket?.destroy();
  }
}
