/** A node:http server with every bound set, and the answers that Node would otherwise give itself. */
import {
  createServer,
  ServerResponse,
  STATUS_CODES,
  type IncomingMessage,
  type RequestListener,
  type Server,
} from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { limits, type ErrorCode } from '@keyreeve/contract';
import { DomainError } from '../errors.ts';
import type { Log } from '../log.ts';
import { writeProblem } from './answer.ts';
import type { SecurityHeaders } from './headers.ts';
import { boundPipelining } from './pipelining.ts';
import { logRefusal } from './refusal.ts';

/** Slow clients are looked for this often. */
const connectionsCheckingIntervalMs = 1_000;
/** How long a refused connection is read from after its answer. */
const lingerMs = 1_000;

export function createHttpServer(security: SecurityHeaders, log: Log, answerSound: RequestListener): Server {
  const listener = boundPipelining((request, response) => {
    if (isSound(request)) {
      answerSound(request, response);
      return;
    }
    response.shouldKeepAlive = false;
    const problem = logRefusal(log, new DomainError('malformed_request'), { method: request.method });
    writeProblem(response, security, problem);
  });
  const server = createServer(
    {
      maxHeaderSize: limits.headerBytesMax,
      headersTimeout: limits.headersTimeoutMs,
      requestTimeout: limits.requestTimeoutMs,
      keepAliveTimeout: limits.keepAliveTimeoutMs,
      connectionsCheckingInterval: connectionsCheckingIntervalMs,
      insecureHTTPParser: false,
      // `isSound` looks for it: Node's own refusal would be bare.
      requireHostHeader: false,
      // A request without a body never gets a stream for one: 15 to 30 % of a bare answer.
      optimizeEmptyRequests: true,
      noDelay: true,
    },
    listener,
  );
  // Node would drop what is over its own count in silence; the app refuses instead.
  server.maxHeadersCount = 0;
  server.maxRequestsPerSocket = limits.requestsPerConnectionMax;
  server.maxConnections = limits.connectionsMax;
  // Without these two Node answers an unknown Expect with a bare 417, and a CONNECT with nothing at all.
  server.on('checkExpectation', listener);
  server.on('connect', (request, socket) => {
    const response = new ServerResponse(request);
    response.shouldKeepAlive = false;
    response.assignSocket(socket as Socket);
    response.once('finish', () => letGo(socket as Socket));
    // Node has taken its own listener off, and without one a client that resets the connection would end the process.
    socket.on('error', () => socket.destroy());
    listener(request, response);
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket) =>
    refuse(error.code, socket as Socket, security, log),
  );
  return server;
}

/** @returns the address it listens on, once it does */
export async function listen(server: Server, host: string, port: number): Promise<AddressInfo> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
  return server.address() as AddressInfo;
}

/**
 * A version that is spoken here (Node lets HTTP/0.9 and 2.0 through), and exactly one Host, which HTTP/1.0 may lack
 * (RFC 9112 sections 2.3 and 3.2).
 */
function isSound({ httpVersion, rawHeaders }: IncomingMessage): boolean {
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? '';
    if (name.length === 4 && name.toLowerCase() === 'host') hosts++;
  }
  return httpVersion === '1.1' ? hosts === 1 : httpVersion === '1.0' && hosts <= 1;
}

/** What never became a request is still answered in full. */
function refuse(nodeCode: string | undefined, socket: Socket, security: SecurityHeaders, log: Log): void {
  // What follows a request that was said to be the last is ignored; that request's own answer ends the connection.
  if (nodeCode === 'HPE_CLOSED_CONNECTION') return;
  if (nodeCode === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const { status, body } = logRefusal(log, new DomainError(codeOf(nodeCode)), {});
  const text = JSON.stringify(body);
  const headers = [
    ...security.data,
    'Content-Type',
    'application/problem+json; charset=utf-8',
    'Content-Length',
    String(Buffer.byteLength(text)),
    'Connection',
    'close',
  ];
  const lines = headers.flatMap((name, index) => (index % 2 === 0 ? [`${name}: ${headers[index + 1]}`] : []));
  socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('\r\n')}\r\n\r\n${text}`);
  letGo(socket);
}

/**
 * Ends a connection that Node no longer watches. What the client still sends is read for a moment, because closing over
 * unread bytes would reset the connection before the answer is seen; a client that never closes its side doesn't keep it.
 */
function letGo(socket: Socket): void {
  socket.end();
  socket.resume();
  const timer = setTimeout(() => socket.destroy(), lingerMs).unref();
  socket.once('close', () => clearTimeout(timer));
}

function codeOf(nodeCode: string | undefined): ErrorCode {
  switch (nodeCode) {
    case 'HPE_HEADER_OVERFLOW':
      return 'headers_too_large';
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return 'body_too_large';
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return 'request_timeout';
    default:
      return 'malformed_request';
  }
}
