/** A server on a loopback port that records the requests of a client library, and replays an answer byte by byte. */
import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { STATUS_CODES } from 'node:http';
import type { HeaderLine, ReplayedAnswer } from './guard-table.ts';

export interface RecordedRequest {
  /** The request line. */
  readonly line: string;
  /** Names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

export interface ReplayServer extends AsyncDisposable {
  readonly url: string;
  readonly requests: readonly RecordedRequest[];
  /** Connections that clients have opened. */
  readonly connections: number;
}

/** Answers a request. The socket stays open unless the function ends it. */
export type Answerer = (request: RecordedRequest, socket: Socket, count: number) => void;

/** @param answer of each request, with the count of requests so far */
export async function startRawServer(answer: Answerer): Promise<ReplayServer> {
  const requests: RecordedRequest[] = [];
  const sockets = new Set<Socket>();
  let connections = 0;
  const server = createServer((socket) => {
    connections++;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket)).on('error', () => undefined);
    let received = Buffer.alloc(0);
    socket.on('data', (part: Buffer) => {
      received = Buffer.concat([received, part]);
      for (;;) {
        const [request, length] = parseRequest(received);
        if (!request) return;
        received = received.subarray(length);
        answer(request, socket, requests.push(request));
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    get connections() {
      return connections;
    },
    async [Symbol.asyncDispose]() {
      if (!server.listening) return;
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

export interface Replay extends ReplayServer {
  /** What the server answers from now on. */
  answerWith(answer: ReplayedAnswer): void;
}

export async function startReplay(): Promise<Replay> {
  let answer: ReplayedAnswer = {};
  const server = await startRawServer((_, socket) => replay(socket, answer));
  return Object.assign(server, { answerWith: (next: ReplayedAnswer) => void (answer = next) });
}

function replay(socket: Socket, answer: ReplayedAnswer): void {
  const bytes = responseOf(answer);
  switch (answer.network) {
    case 'silent':
    case 'refused':
      return;
    case 'closed':
      socket.end();
      return;
    case 'reset':
      socket.resetAndDestroy();
      return;
    case 'garbage':
      socket.end('220 mail.example.com ESMTP\r\n');
      return;
    case 'truncated':
      socket.end(bytes.subarray(0, -10));
      return;
    case 'stalled':
      socket.write(bytes.subarray(0, -10));
      return;
    case undefined:
      socket.write(bytes);
  }
}

/** The bytes of a response. A body that is not text becomes JSON. */
export function responseOf({ results, status = 200, headers, body }: ReplayedAnswer): Buffer {
  const content = results ? { results } : body;
  const text = typeof content === 'string' ? content : content === undefined ? '' : JSON.stringify(content);
  const lines: HeaderLine[] = [...(headers ?? [['Content-Type', 'application/json'] as const])];
  // RFC 9110 section 8.6: a 204 has no Content-Length.
  if (status !== 204) lines.push(['Content-Length', String(Buffer.byteLength(text))]);
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  return Buffer.from(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${head}\r\n${text}`);
}

/** @returns the first complete request and its length in bytes */
function parseRequest(bytes: Buffer): [RecordedRequest | undefined, number] {
  const end = bytes.indexOf('\r\n\r\n');
  if (end < 0) return [undefined, 0];
  const [line = '', ...fields] = bytes.subarray(0, end).toString('latin1').split('\r\n');
  const headers = new Map(
    fields.map((field) => [
      field.slice(0, field.indexOf(':')).toLowerCase(),
      field.slice(field.indexOf(':') + 1).trim(),
    ]),
  );
  const length = end + 4 + Number(headers.get('content-length') ?? 0);
  if (headers.has('transfer-encoding')) throw new Error('a client library sends the length of its body');
  if (bytes.length < length) return [undefined, 0];
  return [{ line, headers, body: bytes.subarray(end + 4, length).toString() }, length];
}
