/**
 * The short path (decision 1): answers requests of one connection without the objects of node:http. It starts after
 * node:http has answered such a request, and reads the bytes before the parser of node:http.
 *
 * A read that is exactly one request of the subset (short-request.ts) is answered here. Any other read goes to node:http,
 * and so does everything after it: the connection does not return. So the parser of node:http is between two requests
 * whenever the short path answers. Node:http also handles timeouts, half-closed connections and errors.
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

export interface ShortPathOptions {
  /** Whether the short path may answer a request for this target now. */
  readonly mayAnswer: (url: string) => boolean;
  readonly handle: (request: ShortRequest, response: BareResponse) => void;
  /** The header lines that node:http adds to a response: Date, Connection and Keep-Alive. */
  readonly lastLines: () => string;
  /** Called with 1 when the handler receives a request, and with -1 when it has answered. */
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
}

export class ShortPath {
  readonly #connection: SharedConnection;
  readonly #options: ShortPathOptions;
  /** The listener of node:http, which parses bytes. */
  readonly #parser: (bytes: Buffer) => void;
  /** Whether node:http has found in a read exactly the request that the parser of the short path found in it. */
  #isConfirmed = false;
  #inProgress: { readonly bytes: Buffer; readonly response: ShortResponse } | undefined;

  /** The caller starts the short path when node:http has answered all requests. */
  constructor(connection: SharedConnection, options: ShortPathOptions, parser: (bytes: Buffer) => void) {
    this.#connection = connection;
    this.#options = options;
    this.#parser = parser;
    this.#enter();
  }

  get isInProgress(): boolean {
    return this.#inProgress !== undefined;
  }

  /** Without its listener, node:http does not parse. */
  #enter(): void {
    const { socket } = this.#connection;
    socket.removeListener('data', this.#parser).on('data', this.#onData).prependListener('end', this.#onEnd);
  }

  /** Passes the connection to node:http, which also answers a request in progress. */
  #leave(bytes?: Buffer): void {
    const { socket } = this.#connection;
    // First: node:http removes its listener when these bytes are a CONNECT.
    socket.removeListener('data', this.#onData).removeListener('end', this.#onEnd).on('data', this.#parser);
    if (this.#inProgress) {
      const { bytes: earlier, response } = this.#inProgress;
      this.#inProgress = undefined;
      response.abandon();
      this.#parser.call(socket, earlier);
    }
    if (bytes) this.#parser.call(socket, bytes);
  }

  readonly #onData = (bytes: Buffer): void => {
    const { isBusy, isNextLast } = this.#connection;
    const isReady = this.#inProgress === undefined && !isBusy && !isNextLast;
    const request = isReady ? parseShortRequest(bytes) : undefined;
    if (!request || !this.#options.mayAnswer(request.url)) this.#leave(bytes);
    else if (this.#isConfirmed) this.#answer(bytes, request);
    else this.#confirm(bytes, request);
  };

  /** A client that has closed its side gets its response from node:http, which then closes the connection. */
  readonly #onEnd = (): void => {
    if (this.#inProgress) this.#leave();
  };

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
    if (this.#isConfirmed && socket.listeners('data').some((listener) => listener === this.#parser)) this.#enter();
  }

  #answer(bytes: Buffer, { method, url, rawHeaders }: BareRequest): void {
    const { socket } = this.#connection;
    this.#options.count(1);
    const response = new ShortResponse(socket, this.#options.lastLines, () => {
      this.#options.count(-1);
      if (this.#inProgress?.response !== response) return;
      this.#inProgress = undefined;
      this.#connection.countRequest();
      if (!socket.destroyed && socket.writableLength > 0) this.#connection.holdShortResponse();
    });
    this.#inProgress = { bytes, response };
    this.#options.handle({ method, url, rawHeaders, socket }, response);
  }
}

/** Writes the same bytes as node:http for a response that keeps the connection open. */
class ShortResponse implements BareResponse {
  readonly #socket: Socket;
  readonly #lastLines: () => string;
  readonly #onEnd: () => void;
  #head = '';
  #isAbandoned = false;

  constructor(socket: Socket, lastLines: () => string, onEnd: () => void) {
    this.#socket = socket;
    this.#lastLines = lastLines;
    this.#onEnd = onEnd;
  }

  get headersSent(): boolean {
    return this.#head !== '';
  }

  get destroyed(): boolean {
    return this.#isAbandoned || this.#socket.destroyed;
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

  /** Ignores the response of the handler from now on. */
  abandon(): void {
    this.#isAbandoned = true;
  }

  destroy(): void {
    if (!this.#isAbandoned) this.#socket.destroy();
    this.#onEnd();
  }
}
