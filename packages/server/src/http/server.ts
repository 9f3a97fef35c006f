/** A node:http server with every bound set, and with our responses in place of those that Node would write itself. */
import { createServer, STATUS_CODES, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { limits, type ErrorCode } from '@keyreeve/contract';
import { DomainError } from '../foundation/errors.ts';
import type { Log } from '../foundation/log.ts';
import { writeProblem } from './answer.ts';
import { Backlog, type BacklogOptions } from './backlog.ts';
import { whyBroken } from './broken-body.ts';
import { Connection, QueuedResponse, type ConnectionOptions } from './connection.ts';
import type { SecurityHeaders } from './headers.ts';
import { logRefusal } from './refusal.ts';

/** Slow clients are looked for this often. */
const connectionsCheckingIntervalMs = 1_000;

export function createHttpServer(
  security: SecurityHeaders,
  log: Log,
  answerSound: RequestListener,
  backlogOptions: BacklogOptions = {},
): Server {
  const server = createServer({
    ServerResponse: QueuedResponse,
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
  });
  // Node would drop what is over its own count in silence; the app refuses instead.
  server.maxHeadersCount = 0;
  server.maxRequestsPerSocket = limits.requestsPerConnectionMax;
  server.maxConnections = limits.connectionsMax;
  // A client that has closed its sending side still gets the responses to what it has sent.
  (server as { httpAllowHalfOpen?: boolean }).httpAllowHalfOpen = true;
  serveConnections(server, {
    backlog: new Backlog({
      onClosed: (closed) => log.warn({ event: 'stalled_connections_closed', closed }),
      ...backlogOptions,
    }),
    requestsMax: () => server.maxRequestsPerSocket ?? Infinity,
    process: (request, response) => {
      const code = isSound(request) ? whyBroken(request) : 'malformed_request';
      if (code === undefined) {
        answerSound(request, response);
        return;
      }
      response.shouldKeepAlive = false;
      writeProblem(response, security, logRefusal(log, new DomainError(code), { method: request.method }));
    },
    refuse: (socket, code) => refuse(socket, code, security, log),
  });
  return server;
}

/** Has each client's requests go through its {@link Connection}. */
function serveConnections(
  server: Server<typeof IncomingMessage, typeof QueuedResponse>,
  options: ConnectionOptions,
): void {
  const connections = new WeakMap<Socket, Connection>();
  let open = 0;
  server.on('connection', (socket: Socket) => {
    const connection = new Connection(socket, options);
    connections.set(socket, connection);
    open++;
    socket.once('close', () => {
      open--;
      options.backlog.release(connection);
    });
    // Room for the next client, at the cost of one that takes nothing.
    if (open >= limits.connectionsMax) options.backlog.closeOne();
  });
  const accept = (request: IncomingMessage, response: QueuedResponse): void =>
    connections.get(request.socket)?.accept(request, response);
  server.on('request', accept);
  // Without these two Node answers an unknown Expect with a bare 417, and a CONNECT with nothing at all.
  server.on('checkExpectation', accept);
  server.on('connect', (request: IncomingMessage) => {
    const { socket } = request;
    // Node has taken its own listener off, and without one a client that resets the connection would end the process.
    socket.on('error', () => socket.destroy());
    const connection = connections.get(socket);
    connection?.whenIdle(() => {
      const response = new QueuedResponse(request);
      response.shouldKeepAlive = false;
      response.assignSocket(socket);
      response.once('finish', () => connection.letGo());
      options.process(request, response);
    });
  });
  server.on('clientError', (error: NodeJS.ErrnoException, stream) => {
    const socket = stream as Socket;
    // What follows a request that was said to be the last is ignored; that request's own answer ends the connection.
    if (error.code === 'HPE_CLOSED_CONNECTION') return;
    const connection = connections.get(socket);
    if (error.code === 'ECONNRESET' || !connection) socket.destroy();
    else connection.fail(codeOf(error.code));
  });
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
 * A version that is spoken here (Node lets HTTP/0.9 and 2.0 through); exactly one Host, which HTTP/1.0 may lack; no
 * transfer coding but chunked, and none at all in HTTP/1.0 (RFC 9112 sections 2.3, 3.2 and 6.1). A proxy in front may
 * read any other request differently.
 */
function isSound({ httpVersion, rawHeaders }: IncomingMessage): boolean {
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? '';
    if (name.length === 4 && name.toLowerCase() === 'host') hosts++;
    else if (name.length === 17 && name.toLowerCase() === 'transfer-encoding') {
      if (httpVersion !== '1.1' || (rawHeaders[i + 1] ?? '').toLowerCase() !== 'chunked') return false;
    }
  }
  return httpVersion === '1.1' ? hosts === 1 : httpVersion === '1.0' && hosts <= 1;
}

/** What never became a request is still answered in full. */
function refuse(socket: Socket, code: ErrorCode, security: SecurityHeaders, log: Log): void {
  const { status, body } = logRefusal(log, new DomainError(code), {});
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
