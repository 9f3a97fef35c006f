/** A web server on this machine. As `localhost` and as `127.0.0.1` it has two origins, which are of different sites, too. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type Handler = (request: IncomingMessage, response: ServerResponse) => void | Promise<void>;

export class WebServer implements AsyncDisposable {
  /** `method path` of each request, with its headers. */
  readonly requests: { readonly line: string; readonly headers: IncomingMessage['headers'] }[] = [];
  readonly #server;

  private constructor(handle: Handler) {
    this.#server = createServer((request, response) => {
      this.requests.push({ line: `${request.method} ${request.url}`, headers: request.headers });
      void (async () => {
        try {
          await handle(request, response);
        } catch (error) {
          response.writeHead(500).end(String(error));
        }
      })();
    });
  }

  static async start(handle: Handler): Promise<WebServer> {
    const started = new WebServer(handle);
    started.#server.listen(0, '127.0.0.1');
    await once(started.#server, 'listening');
    return started;
  }

  origin(name: 'localhost' | '127.0.0.1' = '127.0.0.1'): string {
    return `http://${name}:${(this.#server.address() as AddressInfo).port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }
}

export function sendPage(response: ServerResponse, html: string, headers: Readonly<Record<string, string>> = {}): void {
  response.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8', ...headers }).end(html);
}

export function sendScript(response: ServerResponse, script: string): void {
  response.writeHead(200, { 'Content-Type': 'text/javascript; charset=utf-8' }).end(script);
}
