/**
 * The short path (decision 1): answers requests of one connection without the objects of node:http. It starts after
 * node:http has answered such a request, and reads the bytes before the parser of node:http.
 *
 * A read that is exactly one request of the subset (short-request.ts) is answered here; the rest of its body may arrive in
 * further reads. Any other read goes to node:http, and so does everything after it: the connection does not return. So the
 * parser of node:http is between two requests whenever the short path answers. Node:http also handles timeouts, half-closed
 * connections and errors. What arrives while a request is in progress goes to node:http after the response, because a request
 * that is processed twice would be counted twice.
 */
import { STATUS_CODES, validateHeaderValue, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { isDeepStrictEqual } from 'node:util';
import { parseShortRequest, type BareRequest, type ShortRequest } from './short-request.ts';

/** The part of a response that the handler uses. `ServerResponse` has it too. */
export interface BareResponse {
  readonly headersSent: boolean;
  readonly destroyed: boolean;
  writeHead(status: number, pairs: string[]): { end(text?: string): unknown };
  destroy(): unknown;
}

/** A response of the short path. */
export interface ShortAnswer extends BareResponse {
  /** @param lines header lines without text of a request. The response has the status 200 and a Content-Length */
  write(lines: string, text: string): void;
}

export interface ShortPathOptions {
  /** Whether the short path may answer a request with this method and target now. */
  readonly mayAnswer: (request: Pick<BareRequest, 'method' | 'url'>) => boolean;
  /** Undone if it returns false: then it has had no effect, and node:http answers the request. */
  readonly handle: (request: ShortRequest, response: ShortAnswer) => boolean;
  /** The header lines that node:http adds to a response: Date, Connection and Keep-Alive. */
  readonly lastLines: () => string;
  /** Called with 1 when a request arrives, and with -1 when it has been answered or passed to node:http. */
  readonly count: (change: 1 | -1) => void;
}

/** What the short path shares with node:http. */
export interface SharedConnection {
  readonly socket: Socket;
  /** Whether node:http has a request in progress, or a response has not drained. */
  readonly isBusy: boolean;
  /** Whether the response to the next request must close the connection. */
  readonly isNextLast: boolean;
  /** Counts a request that the short path has answered. */
  countRequest(): void;
  /** @returns the requests that node:http emits while `parse` runs */
  requestsOf(parse: () => void): readonly IncomingMessage[];
  /** The short path calls this when the kernel has not accepted a response completely. */
  holdShortResponse(): void;
  /** The short path calls these when bytes begin to wait behind a request, and when they no longer wait. */
  holdBytes(): void;
  settleBytes(): void;
}

/** The listeners of node:http on a connection. */
export interface NodeListeners {
  /** Parses bytes. */
  readonly data: (bytes: Buffer) => void;
  /** Processes the end of what the client sends. */
  readonly end: () => void;
}

/** Time for which the short path waits for the rest of a body. Then node:http, which has longer bounds, waits for it. */
const heldMsMax = 1_000;

/** The beginning of a request. */
interface Held {
  readonly bytes: Buffer;
  readonly timer: NodeJS.Timeout;
}

export class ShortPath {
  readonly #connection: SharedConnection;
  readonly #options: ShortPathOptions;
  readonly #node: NodeListeners;
  /** Whether node:http has found in a read exactly the request that the parser of the short path found in it. */
  #isConfirmed = false;
  /** To the request in progress. */
  #response: ShortResponse | undefined;
  /** The read that has arrived since that request. The socket is paused, so there is one at most. */
  #later: Buffer | undefined;
  /** Whether the client has closed its side since that request. */
  #isEnded = false;
  #held: Held | undefined;

  /** The caller starts the short path when node:http has answered all requests. */
  constructor(connection: SharedConnection, options: ShortPathOptions, node: NodeListeners) {
    this.#connection = connection;
    this.#options = options;
    this.#node = node;
    this.#enter();
  }

  get isInProgress(): boolean {
    return this.#response !== undefined;
  }

  /** Number of bytes that wait behind the request in progress. */
  get waitingBytes(): number {
    return this.#later?.length ?? 0;
  }

  /** To be called when the connection closes. */
  release(): void {
    this.#takeHeld();
  }

  /** Without its listeners, node:http does not parse. */
  #enter(): void {
    const { socket } = this.#connection;
    socket.removeListener('data', this.#node.data).on('data', this.#onData);
    socket.removeListener('end', this.#node.end).on('end', this.#onEnd);
  }

  /** Passes the connection to node:http. */
  #leave(bytes = this.#takeHeld()): void {
    const { socket } = this.#connection;
    // First: node:http removes its listeners when these bytes are a CONNECT.
    socket.removeListener('data', this.#onData).on('data', this.#node.data);
    socket.removeListener('end', this.#onEnd).on('end', this.#node.end);
    if (bytes) this.#node.data.call(socket, bytes);
  }

  readonly #onData = (read: Buffer): void => {
    if (this.isInProgress) return this.#wait(read);
    const held = this.#takeHeld();
    const bytes = held ? Buffer.concat([held, read]) : read;
    const { isBusy, isNextLast } = this.#connection;
    const isReady = !isBusy && !isNextLast;
    const request = isReady ? parseShortRequest(bytes) : undefined;
    // A body is held once, so that a client that sends one byte after the other does not delay the bounds of node:http.
    const isSlow = held !== undefined && request?.body === undefined;
    if (!request || isSlow || !this.#options.mayAnswer(request)) this.#leave(bytes);
    else if (request.body === undefined) this.#hold(bytes);
    else if (this.#isConfirmed)
      this.#answer(bytes, { ...request, body: request.body, socket: this.#connection.socket });
    else this.#confirm(bytes, request);
  };

  /** A client that has closed its side gets its response. Then node:http closes the connection. */
  readonly #onEnd = (): void => {
    this.#isEnded = true;
    if (!this.isInProgress && !this.#later) this.#end();
  };

  #end(bytes?: Buffer): void {
    this.#leave(bytes);
    if (this.#isEnded) this.#node.end.call(this.#connection.socket);
  }

  #wait(read: Buffer): void {
    this.#later = read;
    this.#connection.socket.pause();
    this.#connection.holdBytes();
  }

  /** To be called after the response, if something has arrived since its request. */
  readonly #continue = (): void => {
    const { socket } = this.#connection;
    const later = this.#later;
    this.#later = undefined;
    this.#connection.settleBytes();
    // Not while the connection closes.
    if (!socket.writable) return;
    // Before node:http parses: it may pause the socket.
    if (later) socket.resume();
    this.#end(later);
  };

  #hold(bytes: Buffer): void {
    this.#options.count(1);
    this.#held = { bytes, timer: setTimeout(() => this.#leave(), heldMsMax).unref() };
  }

  #takeHeld(): Buffer | undefined {
    const held = this.#held;
    if (!held) return undefined;
    this.#held = undefined;
    clearTimeout(held.timer);
    this.#options.count(-1);
    return held.bytes;
  }

  /**
   * node:http answers the first request that is read here: its parser may still hold the beginning of a request, sent behind
   * the previous one. It then finds a different request in these bytes, or none.
   */
  #confirm(bytes: Buffer, { method, url, rawHeaders }: BareRequest): void {
    const requests = this.#connection.requestsOf(() => this.#leave(bytes));
    const found = requests.map((request) => [request.method, request.url, request.rawHeaders]);
    this.#isConfirmed = isDeepStrictEqual(found, [[method, url, rawHeaders]]);
    const { socket } = this.#connection;
    // node:http has removed its listener if the connection closes.
    if (this.#isConfirmed && socket.listeners('data').some((listener) => listener === this.#node.data)) this.#enter();
  }

  #answer(bytes: Buffer, request: ShortRequest): void {
    const { socket } = this.#connection;
    this.#options.count(1);
    const response = (this.#response = new ShortResponse(socket, this.#options.lastLines, () => {
      if (this.#response !== response) return;
      this.#response = undefined;
      this.#options.count(-1);
      this.#connection.countRequest();
      if (!socket.destroyed && socket.writableLength > 0) this.#connection.holdShortResponse();
      // After the caller, which may write other responses.
      if (this.#later || this.#isEnded) process.nextTick(this.#continue);
    }));
    if (this.#options.handle(request, response)) return;
    this.#response = undefined;
    this.#options.count(-1);
    this.#leave(bytes);
  }
}

/** Writes the same bytes as node:http for a response that keeps the connection open. */
class ShortResponse implements ShortAnswer {
  readonly #socket: Socket;
  readonly #lastLines: () => string;
  readonly #onEnd: () => void;
  #head = '';

  constructor(socket: Socket, lastLines: () => string, onEnd: () => void) {
    this.#socket = socket;
    this.#lastLines = lastLines;
    this.#onEnd = onEnd;
  }

  get headersSent(): boolean {
    return this.#head !== '';
  }

  get destroyed(): boolean {
    return this.#socket.destroyed;
  }

  /** @throws TypeError if a value could end its line */
  writeHead(status: number, pairs: readonly string[]): this {
    let head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n`;
    for (let i = 0; i < pairs.length; i += 2) {
      const name = pairs[i] ?? '';
      const value = pairs[i + 1] ?? '';
      validateHeaderValue(name, value);
      head += `${name}: ${value}\r\n`;
    }
    this.#head = `${head}${this.#lastLines()}\r\n`;
    return this;
  }

  end(text = ''): void {
    if (!this.destroyed) this.#socket.write(this.#head + text, text === '' ? 'latin1' : 'utf8');
    this.#onEnd();
  }

  write(lines: string, text: string): void {
    const bytes = Buffer.byteLength(text);
    this.#head = `HTTP/1.1 200 OK\r\n${lines}Content-Length: ${bytes}\r\n${this.#lastLines()}\r\n`;
    // Node encodes ASCII as latin1 in less time.
    if (!this.destroyed) this.#socket.write(this.#head + text, bytes === text.length ? 'latin1' : 'utf8');
    this.#onEnd();
  }

  destroy(): void {
    this.#socket.destroy();
    this.#onEnd();
  }
}
