/** A receiver of webhooks on loopback: a real HTTP server that keeps what it is sent and answers as a test says. */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { until } from './until.ts';

export interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export class Receiver implements AsyncDisposable {
  readonly received: Received[] = [];
  readonly server: Server;
  /** By default 204. */
  answer: (received: Received, response: Parameters<RequestListener>[1]) => void = (_, response) =>
    void response.writeHead(204).end();

  constructor(server?: Server) {
    this.server = server ?? createServer();
    this.server.on('request', (request: Parameters<RequestListener>[0], response: Parameters<RequestListener>[1]) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const { method = '', url: path = '', headers } = request;
        const received = { method, path, headers, body: Buffer.concat(chunks).toString('utf8') };
        this.received.push(received);
        this.answer(received, response);
      });
    });
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/hooks`;
  }

  /** Resolves when `count` requests have arrived. */
  async until(count: number): Promise<readonly Received[]> {
    await until(`the receiver of webhooks has ${count} requests`, () => this.received.length >= count);
    return this.received;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    if (this.server.listening) await once(this.server, 'close');
  }
}

/** @param server another than one of plain HTTP @param host where it listens */
export async function newReceiver(server?: Server, host = '127.0.0.1', port = 0): Promise<Receiver> {
  const receiver = new Receiver(server);
  await once(receiver.server.listen(port, host), 'listening');
  return receiver;
}
