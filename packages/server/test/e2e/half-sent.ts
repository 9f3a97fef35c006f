/** A request that stays under way until the test ends it. */
import { once } from 'node:events';
import { Agent, request, type ClientRequest, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';

/** A refresh of which half the body has been sent, on a connection that is kept open. */
export class HalfSent {
  readonly #request: ClientRequest;
  readonly #rest: string;
  readonly #response: Promise<[IncomingMessage]>;

  constructor({ url }: { readonly url: string }, refreshToken: string, agent = new Agent({ keepAlive: true })) {
    const body = JSON.stringify({ refreshToken });
    const headers = { 'content-type': 'application/json', 'content-length': body.length };
    this.#request = request(`${url}/auth/token/refresh`, { method: 'POST', agent, headers });
    this.#response = once(this.#request, 'response') as Promise<[IncomingMessage]>;
    // Rejected when the program ends the connection: not everyone waits for the answer.
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
}
