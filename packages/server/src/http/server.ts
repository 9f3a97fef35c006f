/** A node:http server with all bounds set. It writes problem documents where Node would write its own responses. */
import { createServer, STATUS_CODES, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { limits, type ErrorCode } from '@keyreeve/contract';
import { systemClock } from '../foundation/clock.ts';
import { DomainError } from '../foundation/errors.ts';
import type { Log } from '../foundation/log.ts';
import { writeProblem } from './response.ts';
import { Backlog, type BacklogOptions } from './backlog.ts';
import { bodyErrorOf } from './broken-body.ts';
import { connectionsMaxOfProcess } from './connection-limit.ts';
import { ConnectionPlaces } from './connection-places.ts';
import { Connection, QueuedResponse, type ConnectionOptions } from './connection.ts';
import { linesOf, type SecurityHeaders } from './headers.ts';
import { RequestLog } from './request-log.ts';
import { useOriginForm } from './request-target.ts';
import type { ShortPathOptions } from './short-path.ts';
import { watchConnections } from './stop-accepting.ts';

/** Interval of Node's check for slow clients. */
const connectionsCheckingIntervalMs = 1_000;

export interface HttpServerOptions {
  /** Default: bounds of the contract. */
  readonly backlog?: BacklogOptions;
  /** Default: one of its own. */
  readonly requestLog?: RequestLog;
  /** Whether the IP address is that of a trusted proxy. Default: none is. */
  readonly isProxy?: (ip: string) => boolean;
  /** CORS headers of the response to a request that no route receives. Default: none. */
  readonly corsHeaders?: (request: IncomingMessage) => readonly string[];
  /** Without it, node:http answers every request. */
  readonly shortPath?: Pick<ShortPathOptions, 'mayAnswer' | 'handle'>;
}

export function createHttpServer(
  security: SecurityHeaders,
  log: Log,
  onRequest: RequestListener,
  {
    backlog: bounds = {},
    requestLog = new RequestLog(log),
    isProxy = () => false,
    corsHeaders = () => [],
    shortPath,
  }: HttpServerOptions = {},
): Server {
  const server = createServer({
    ServerResponse: QueuedResponse,
    maxHeaderSize: limits.headerBytesMax,
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    connectionsCheckingInterval: connectionsCheckingIntervalMs,
    insecureHTTPParser: false,
    // `isWellFormed` checks it: Node's own response would have no problem document.
    requireHostHeader: false,
    // Creates no stream for a request without a body, which saves 15 to 30 % of the time of a minimal response.
    optimizeEmptyRequests: true,
    noDelay: true,
  });
  // Node would silently drop headers beyond its count; the app rejects the request instead.
  server.maxHeadersCount = 0;
  server.maxRequestsPerSocket = limits.requestsPerConnectionMax;
  server.maxConnections = connectionsMaxOfProcess();
  // A client that has closed its sending side still gets the responses to its requests.
  (server as { httpAllowHalfOpen?: boolean }).httpAllowHalfOpen = true;
  watchConnections(server);
  const backlog = new Backlog({
    onClosed: (closed) => log.warn({ event: 'stalled_connections_closed', closed }),
    ...bounds,
  });
  serveConnections(server, {
    backlog,
    places: new ConnectionPlaces({
      isProxy,
      closeStalled: () => backlog.closeOne(),
      onClosed: (closed) => log.warn({ event: 'idle_connections_closed', closed }),
    }),
    requestsMax: () => server.maxRequestsPerSocket ?? Infinity,
    process: (request, response) => {
      const isUnambiguous = isWellFormed(request) && useOriginForm(request);
      const code = isUnambiguous ? bodyErrorOf(request) : 'malformed_request';
      if (code === undefined) {
        onRequest(request, response);
        return;
      }
      response.shouldKeepAlive = false;
      const clientIp = (): string | undefined => request.socket.remoteAddress;
      const problem = requestLog.refused(new DomainError(code), { method: request.method, clientIp });
      writeProblem(response, security, problem, corsHeaders(request));
    },
    writeError: (socket, code) => writeError(socket, code, security, requestLog),
    shortPath: shortPath && { ...shortPath, ...sharedWith(server) },
  });
  return server;
}

/** The state that the short path shares with node:http: requests in progress and the last header lines. */
function sharedWith(server: Server): Pick<ShortPathOptions, 'lastLines' | 'count'> {
  let inProgress = 0;
  // Node considers a connection idle while the short path answers its request. The caller repeats the call until no
  // connection is left.
  const closeIdleConnections = server.closeIdleConnections.bind(server);
  server.closeIdleConnections = () => {
    if (inProgress === 0) closeIdleConnections();
  };
  let second = 0;
  let lines = '';
  const lastLines = (): string => {
    const now = Math.floor(systemClock.now() / 1000);
    if (now !== second) {
      second = now;
      lines =
        `Date: ${new Date(now * 1000).toUTCString()}\r\nConnection: keep-alive\r\n` +
        `Keep-Alive: timeout=${Math.floor(server.keepAliveTimeout / 1000)}, max=${server.maxRequestsPerSocket}\r\n`;
    }
    return lines;
  };
  return { lastLines, count: (change) => void (inProgress += change) };
}

/** Passes the requests of each client to its {@link Connection}. */
function serveConnections(
  server: Server<typeof IncomingMessage, typeof QueuedResponse>,
  options: ConnectionOptions,
): void {
  const connections = new WeakMap<Socket, Connection>();
  let open = 0;
  server.on('connection', (socket: Socket) => {
    open++;
    // Node closes further connections at once, so this makes room for the next client. Not this connection: it is new.
    if (open >= (server.maxConnections ?? Infinity)) options.places.closeOne();
    const connection = new Connection(socket, options);
    connections.set(socket, connection);
    socket.once('close', () => {
      open--;
      connection.release();
    });
  });
  const accept = (request: IncomingMessage, response: QueuedResponse): void =>
    connections.get(request.socket)?.accept(request, response);
  server.on('request', accept);
  // Without these two listeners, Node answers an unknown Expect with an empty 417 response and closes on CONNECT.
  server.on('checkExpectation', accept);
  server.on('connect', (request: IncomingMessage) => {
    const { socket } = request;
    // Node has removed its own listener. Without one, a client that resets the connection would end the process.
    socket.on('error', () => socket.destroy());
    const connection = connections.get(socket);
    connection?.whenIdle(() => {
      const response = new QueuedResponse(request);
      response.shouldKeepAlive = false;
      response.assignSocket(socket);
      response.once('finish', () => connection.closeLingering());
      options.process(request, response);
    });
  });
  server.on('clientError', (error: NodeJS.ErrnoException, stream) => {
    const socket = stream as Socket;
    // Bytes after a request with `Connection: close` are ignored; the response to that request closes the connection.
    if (error.code === 'HPE_CLOSED_CONNECTION') return;
    const connection = connections.get(socket);
    if (error.code === 'ECONNRESET' || !connection) socket.destroy();
    else connection.fail(codeOf(error.code));
  });
}

/** @returns the port, and the URL for example `http://127.0.0.1:8787`, once the server listens */
export async function listen(server: Server, host: string, port: number): Promise<{ port: number; url: string }> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
  const { port: listened } = server.address() as AddressInfo;
  return { port: listened, url: urlOf(host, listened) };
}

export const urlOf = (host: string, port: number): string =>
  `http://${host.includes(':') ? `[${host}]` : host}:${port}`;

/**
 * Whether a proxy cannot interpret the request differently: HTTP/1.0 or 1.1 (Node also accepts 0.9 and 2.0), exactly one
 * Host, which HTTP/1.0 may omit, and no transfer coding except chunked, which HTTP/1.0 does not have (RFC 9112 sections
 * 2.3, 3.2 and 6.1).
 */
function isWellFormed({ httpVersion, rawHeaders }: IncomingMessage): boolean {
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

/** Writes a complete problem response to bytes that are not a request. */
function writeError(socket: Socket, code: ErrorCode, security: SecurityHeaders, log: RequestLog): void {
  const { status, body } = log.refused(new DomainError(code), { clientIp: () => socket.remoteAddress });
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
  socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${linesOf(headers)}\r\n${text}`);
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
