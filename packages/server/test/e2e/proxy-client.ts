/** The client of the tests of proxies: requests with repeated names, trailers and WebSockets, on a connection of their own. */
import { randomBytes } from 'node:crypto';
import { request } from 'node:http';

/** Longer than the 30 s for which Traefik waits for an answer. */
const answerMsMax = 40_000;

export interface Ask {
  readonly method?: string;
  readonly path?: string;
  /** Sent as they are: name by name, repeated names included. `Host` is added. */
  readonly headers?: readonly (readonly [string, string])[];
  readonly body?: Buffer;
  /** Sent after the body, which then goes in chunks. */
  readonly trailers?: Record<string, string>;
}

export interface Answer {
  readonly status: number;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: string;
}

/** One request on a connection of its own. */
export function send(port: number, ask: Ask): Promise<Answer> {
  const { method = 'GET', path = '/', headers = [], body, trailers } = ask;
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
      timeout: answerMsMax,
    });
    req.on('timeout', () => req.destroy(new Error(`no answer in ${answerMsMax} ms`)));
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

/** Opens a WebSocket and sends bytes. @returns the same number of bytes as they came back, or the status of a refusal */
export function echo(
  port: number,
  path: string,
  headers: readonly (readonly [string, string])[],
  text: string,
): Promise<string | number> {
  const upgrade = {
    Host: `127.0.0.1:${port}`,
    Connection: 'Upgrade',
    Upgrade: 'websocket',
    'Sec-WebSocket-Version': '13',
    'Sec-WebSocket-Key': randomBytes(16).toString('base64'),
  };
  const lines = [...Object.entries(upgrade), ...headers].flat();
  return new Promise((resolve, reject) => {
    const req = request({ host: '127.0.0.1', port, path, headers: lines, agent: false, timeout: answerMsMax });
    req.on('timeout', () => req.destroy(new Error(`no answer in ${answerMsMax} ms`)));
    req.on('error', reject);
    req.on('response', (res) => {
      resolve(res.statusCode ?? 0);
      req.destroy();
    });
    req.on('upgrade', (_res, socket, first: Buffer) => {
      let received = first.toString();
      const receive = (chunk: string): void => {
        received += chunk;
        if (received.length < text.length) return;
        resolve(received);
        socket.destroy();
      };
      socket.on('error', reject);
      socket.on('close', () => reject(new Error(`the WebSocket was closed after “${received}”`)));
      socket.on('data', (chunk: Buffer) => receive(chunk.toString()));
      socket.write(text);
    });
    req.end();
  });
}

/** All values under a name, in order. */
export function values(headers: readonly (readonly [string, string])[], name: string): string[] {
  return headers.filter(([each]) => each.toLowerCase() === name.toLowerCase()).map(([, value]) => value);
}

function has(headers: readonly (readonly [string, string])[], name: string): boolean {
  return values(headers, name).length > 0;
}

export function pairs(raw: readonly string[]): (readonly [string, string])[] {
  return raw.flatMap((name, at) => (at % 2 === 0 ? [[name, raw[at + 1] ?? ''] as const] : []));
}
