/**
 * Sends the same traffic to two servers, of which one has the short path, and compares their responses byte by byte. Each
 * response contains the request as the server found it, and its client IP. Packets arrive as they were sent: there is no kernel between.
 */
import assert from 'node:assert/strict';
import { duplexPair } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import type { IncomingMessage, Server } from 'node:http';
import { createLog } from '../../src/foundation/log.ts';
import { onBrokenBody } from '../../src/http/broken-body.ts';
import { forwardedIpOf, type ProxiedRequest } from '../../src/http/client-ip.ts';
import { SecurityHeaders } from '../../src/http/headers.ts';
import type * as program from '../../src/http/server.ts';
import type { BareResponse } from '../../src/http/short-path.ts';
import { general, randomOf, verifyPath, type Traffic } from './traffic.ts';

type CreateHttpServer = typeof program.createHttpServer;

export interface Compared {
  readonly requests: number;
  /** Number of requests that the short path answered. */
  readonly short: number;
}

/** The part of a request that both paths have. */
interface Found extends ProxiedRequest {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly body?: string;
}

type ShortPath = NonNullable<program.HttpServerOptions['shortPath']>;

const found = ({ method, url, rawHeaders, socket }: IncomingMessage): Found => ({ method, url, rawHeaders, socket });

/** The peer of every connection. */
const proxy = '10.4.5.1';
const trustedProxies = ['10.4.5.0/24'];

/** A low bound, so that connections reach it. */
const requestsPerConnectionMax = 9;

async function turns(count: number): Promise<void> {
  for (let n = 1; n <= count; n++) await setImmediate();
}

class EchoServer {
  readonly #server: Server;
  #inProgress = 0;
  short = 0;

  constructor(createHttpServer: CreateHttpServer, hasShortPath: boolean) {
    const shortPath: ShortPath = {
      mayAnswer: ({ method, url }) => (method === 'GET' ? url.startsWith('/auth/forward') : url === verifyPath),
      handle: (request, response) => {
        if (request.body.includes(general)) return false;
        this.#answer(request, response, () => this.short++);
        return true;
      },
    };
    this.#server = createHttpServer(
      new SecurityHeaders(false),
      createLog('silent'),
      (request, response) => {
        if (request.method !== 'POST' || request.url !== verifyPath) return this.#answer(request, response);
        const parts: Buffer[] = [];
        request.on('data', (part: Buffer) => parts.push(part));
        request.on('end', () =>
          this.#answer({ ...found(request), body: Buffer.concat(parts).toString('latin1') }, response),
        );
        onBrokenBody(request, () => void response.writeHead(400, ['Content-Length', '0']).end());
        request.on('error', () => undefined);
      },
      hasShortPath ? { shortPath } : {},
    );
    this.#server.maxRequestsPerSocket = requestsPerConnectionMax;
  }

  #answer(request: Found, response: BareResponse, count?: () => void): void {
    const { method, url, rawHeaders, body = '' } = request;
    const text = JSON.stringify([method, url, rawHeaders, body, forwardedIpOf(request, trustedProxies)]);
    const bytes = Buffer.byteLength(text);
    const write = (): void => {
      if (!response.destroyed) count?.();
      response.writeHead(200, ['X-Seen', '1', 'Content-Length', String(bytes)]).end(text);
      this.#inProgress--;
    };
    this.#inProgress++;
    // The same on both servers: a broken body closes the connection only before the response.
    const delay = text.length % 4;
    if (delay === 0) write();
    else void turns(delay).then(write, assert.fail);
  }

  /** @returns all bytes that the server sent, and whether it closed the connection */
  async responses({ packets, seed, isHalfClosed }: Traffic): Promise<readonly [received: string, isClosed: boolean]> {
    const [client, duplex] = duplexPair();
    const socket = Object.assign(duplex, { remoteAddress: proxy });
    const random = randomOf(seed);
    let received = '';
    let isClosed = false;
    client.on('data', (bytes: Buffer) => (received += bytes.toString('latin1')));
    client.on('end', () => (isClosed = true));
    this.#server.emit('connection', socket);
    const settle = async (): Promise<void> => {
      for (let quiet = 0; quiet < 4; quiet++) {
        const before = received.length;
        await setImmediate();
        if (received.length !== before || this.#inProgress > 0) quiet = 0;
      }
    };
    for (const { bytes, waits } of packets) {
      if (isClosed) break;
      if (bytes !== '') client.write(Buffer.from(bytes, 'latin1'));
      if (waits) await settle();
      // More packets arrive before the response.
      else await turns(random() * 3);
    }
    if (isHalfClosed) client.end();
    await settle();
    client.destroy();
    socket.destroy();
    return [received.replace(/^Date: .*$/gm, 'Date').replace(/"requestId":"[^"]+"/g, ''), isClosed];
  }
}

/** @throws AssertionError with the seed of the first traffic that the servers answer differently */
export async function compare(traffics: Iterable<Traffic>, createHttpServer: CreateHttpServer): Promise<Compared> {
  const withShortPath = new EchoServer(createHttpServer, true);
  const without = new EchoServer(createHttpServer, false);
  let requests = 0;
  for (const traffic of traffics) {
    requests += traffic.requests;
    assert.deepEqual(
      await withShortPath.responses(traffic),
      await without.responses(traffic),
      `the traffic of seed ${traffic.seed}: ${JSON.stringify(traffic.packets)}`,
    );
  }
  return { requests, short: withShortPath.short };
}
