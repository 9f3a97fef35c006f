/** The client of the proxy tests: sends repeated headers, trailers and WebSockets, each request on a new connection. */
import { randomBytes } from 'node:crypto';
import { request } from 'node:http';
import type { Duplex } from 'node:stream';

export interface ProxyRequest {
  readonly method?: string;
  readonly path?: string;
  /** The client IP: an address of this machine. Default: 127.0.0.1. */
  readonly from?: string;
  /** Sent unchanged, including repeated names. `Host` is added. */
  readonly headers?: readonly (readonly [string, string])[];
  readonly body?: Buffer;
  /** Sent after the body, which then uses the chunked transfer coding. */
  readonly trailers?: Record<string, string>;
}

export interface ProxyResponse {
  readonly status: number;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: string;
}

/** Sends one request on a new connection. */
export function send(
  port: number,
  { method = 'GET', path = '/', from, headers = [], body, trailers }: ProxyRequest,
): Promise<ProxyResponse> {
  const lines = [['Host', `127.0.0.1:${port}`] as const, ...headers];
  if (trailers !== undefined) lines.push(['Transfer-Encoding', 'chunked'], ['Trailer', Object.keys(trailers).join()]);
  else if (body !== undefined) lines.push(['Content-Length', String(body.length)]);
  if (!has(headers, 'connection')) lines.push(['Connection', 'close']);
  return new Promise((resolve, reject) => {
    const req = request({
      host: '127.0.0.1',
      port,
      method,
      path,
      headers: lines.flat(),
      agent: false,
      ...(from === undefined ? {} : { localAddress: from }),
    });
    req.on('error', reject);
    req.on('response', (res) => {
      const chunks: Buffer[] = [];
      res.on('data', (chunk: Buffer) => chunks.push(chunk));
      res.on('error', reject);
      res.on('end', () => {
        resolve({
          status: res.statusCode ?? 0,
          headers: pairs(res.rawHeaders),
          body: Buffer.concat(chunks).toString(),
        });
        req.destroy();
      });
    });
    if (trailers !== undefined) req.addTrailers(trailers);
    req.end(body);
  });
}

/** An open WebSocket to a backend that returns all bytes. */
export interface EchoSocket extends Disposable {
  /** Sends a text. @returns the same number of bytes from the backend */
  echo(text: string): Promise<string>;
}

/** Opens a WebSocket through a proxy. @returns it, or the status of a rejection */
export function openSocket(
  port: number,
  path: string,
  headers: readonly (readonly [string, string])[],
): Promise<EchoSocket | number> {
  const upgrade = {
    Host: `127.0.0.1:${port}`,
    Connection: 'Upgrade',
    Upgrade: 'websocket',
    'Sec-WebSocket-Version': '13',
    'Sec-WebSocket-Key': randomBytes(16).toString('base64'),
  };
  const lines = [...Object.entries(upgrade), ...headers].flat();
  return new Promise((resolve, reject) => {
    const req = request({ host: '127.0.0.1', port, path, headers: lines, agent: false });
    req.on('error', reject);
    req.on('response', (res) => {
      resolve(res.statusCode ?? 0);
      req.destroy();
    });
    req.on('upgrade', (_res, socket, first: Buffer) => resolve(echoSocket(socket, first.toString())));
    req.end();
  });
}

function echoSocket(socket: Duplex, first: string): EchoSocket {
  let received = first;
  const ended = Promise.withResolvers<never>();
  ended.promise.catch(() => undefined);
  socket.on('error', ended.reject);
  socket.on('close', () => ended.reject(new Error(`the WebSocket was closed after “${received}”`)));
  let arrived = Promise.withResolvers<void>();
  socket.on('data', (chunk: Buffer) => {
    received += chunk.toString();
    arrived.resolve();
    arrived = Promise.withResolvers<void>();
  });
  return {
    echo: async (text) => {
      socket.write(text);
      while (received.length < text.length) await Promise.race([arrived.promise, ended.promise]);
      const echoed = received;
      received = '';
      return echoed;
    },
    [Symbol.dispose]: () => void socket.destroy(),
  };
}

/** Opens a WebSocket and sends a text. @returns the same number of bytes from the response, or the status of a rejection */
export async function echo(
  port: number,
  path: string,
  headers: readonly (readonly [string, string])[],
  text: string,
): Promise<string | number> {
  const opened = await openSocket(port, path, headers);
  if (typeof opened === 'number') return opened;
  using socket = opened;
  return await socket.echo(text);
}

/** @returns all values of a header, in order */
export function values(headers: readonly (readonly [string, string])[], name: string): string[] {
  return headers.filter(([each]) => each.toLowerCase() === name.toLowerCase()).map(([, value]) => value);
}

function has(headers: readonly (readonly [string, string])[], name: string): boolean {
  return values(headers, name).length > 0;
}

export function pairs(raw: readonly string[]): (readonly [string, string])[] {
  return raw.flatMap((name, at) => (at % 2 === 0 ? [[name, raw[at + 1] ?? ''] as const] : []));
}
