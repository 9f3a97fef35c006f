/**
 * One client connection. Its requests are processed one at a time, in order. Each gets exactly one response. The connection
 * closes after the last response.
 *
 * Node parses pipelined requests (RFC 9112 section 9.3.2), several hundred from one packet, and emits them together. Here
 * a request waits until the previous response has drained into the kernel. So an unsafe request is complete before the
 * next request is processed, and a client that reads nothing holds only one response in memory. Pausing the socket would
 * not achieve this: Node parses everything that it has read, and reading a request's body resumes the connection.
 */
import { ServerResponse, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { limits, type ErrorCode } from '@keyreeve/contract';
import type { Backlog } from './backlog.ts';
import { breakBody } from './broken-body.ts';
import type { ConnectionPlace, ConnectionPlaces } from './connection-places.ts';
import { ShortPath, type NodeListeners, type ShortPathOptions } from './short-path.ts';
import { isShortRequest } from './short-request.ts';

/** Time for which a connection is read after its last response (RFC 9112 section 9.6). */
const lingerMs = 1_000;
/** Memory of a waiting request, without its header text and body (measured: 4.1 KiB). */
const waitingRequestBytes = 4_608;
/** Bytes of a body that Node reads ahead at most: the high-water mark of a request, and one read from the socket. */
const bodyBytesAheadMax = 131_072;

export interface ConnectionOptions {
  readonly backlog: Backlog;
  readonly places: ConnectionPlaces;
  /** Number of requests after which the connection closes. */
  readonly requestsMax: () => number;
  readonly process: (request: IncomingMessage, response: ServerResponse) => void;
  /** Writes a response to bytes that are not a request. */
  readonly writeError: (socket: Socket, code: ErrorCode) => void;
  readonly shortPath: ShortPathOptions | undefined;
}

/** A response that notifies its connection when its request can be processed and when it has drained. */
export class QueuedResponse extends ServerResponse {
  client: Connection | undefined;

  /** Node calls it when the previous response has drained. Without a previous response, it does so before `client` is set. */
  override assignSocket(socket: Socket): void {
    super.assignSocket(socket);
    this.client?.processWaiting(this);
  }

  /** Node calls it when the response has drained into the kernel. */
  override detachSocket(socket: Socket): void {
    super.detachSocket(socket);
    this.client?.onDrained(this);
  }

  override end(chunk?: unknown, encoding?: unknown, callback?: unknown): this {
    super.end(chunk, encoding as BufferEncoding, callback as () => void);
    // The kernel accepts most responses immediately; they are not counted.
    if (this.socket !== null && this.socket.writableLength > 0) this.client?.holdBytes();
    return this;
  }
}

export class Connection {
  readonly socket: Socket;
  readonly #options: ConnectionOptions;
  readonly #place: ConnectionPlace;
  #requests = 0;
  /** Responses that have not drained, including those of waiting requests. */
  #pending = 0;
  #waitingBytes = 0;
  /** The response to the last parsed request. Undefined after the request is complete and the response has drained. */
  #latest: QueuedResponse | undefined;
  /** Runs when every pending response has drained. */
  #afterPending: (() => void) | undefined;
  #isHeld = false;
  #isBroken = false;
  #isClosing = false;
  #shortPath: ShortPath | undefined;
  #mayStartShortPath = true;
  /** Whether a response of the short path has not drained. */
  #isShortHeld = false;
  /** The request that waits for that response. Node has no record of the response, so it does not delay the request. */
  #behindShort: QueuedResponse | undefined;
  #onRequest: ((request: IncomingMessage) => void) | undefined;

  constructor(socket: Socket, options: ConnectionOptions) {
    this.socket = socket;
    this.#options = options;
    this.#place = options.places.open(this);
    // Node calls it after a response with `Connection: close`.
    socket.destroySoon = () => this.closeLingering();
  }

  get waitingBytes(): number {
    if (this.#shortPath === undefined) return this.#waitingBytes;
    const bytes = this.#waitingBytes + this.#shortPath.waitingBytes;
    // With the short path and after it, Node reads ahead into the socket's own buffer.
    return bytes === 0 ? 0 : bytes + this.socket.readableHighWaterMark;
  }

  /** Processes a parsed request, or lets it wait for the previous response. */
  accept(request: IncomingMessage, response: QueuedResponse): void {
    if (this.#isClosing || this.socket.destroyed) return;
    this.#onRequest?.(request);
    this.#latest = response;
    this.#pending++;
    response.client = this;
    if (++this.#requests >= this.#options.requestsMax()) response.shouldKeepAlive = false;
    if (response.socket !== null) {
      if (!this.#isShortHeld) {
        this.#options.process(request, response);
        return;
      }
      this.#behindShort = response;
    }
    if (this.#pending > limits.pipelinedRequestsMax + 1) {
      this.socket.destroy();
      return;
    }
    this.#waitingBytes += bytesOf(request);
    this.holdBytes();
  }

  processWaiting(response: QueuedResponse): void {
    this.#waitingBytes -= bytesOf(response.req);
    // A closed socket: the request is not processed, and the client can send it again on another connection.
    if (!this.socket.destroyed) this.#options.process(response.req, response);
  }

  /** Makes the backlog count the bytes that wait on this connection. */
  holdBytes(): void {
    this.#isHeld = true;
    this.#options.backlog.hold(this);
  }

  /** To be called when bytes may no longer wait. */
  settleBytes(): void {
    if (this.#isHeld) this.#isHeld = this.#options.backlog.settle(this);
  }

  onDrained(response: QueuedResponse): void {
    this.#pending--;
    if (response === this.#latest && response.req.complete) this.#latest = undefined;
    this.settleBytes();
    if (this.#pending > 0) return;
    this.#place.renew();
    if (this.#mayStartShortPath) this.#startShortPath(response);
    if (this.#afterPending === undefined) return;
    // After Node has finished its own processing of this response.
    process.nextTick(this.#afterPending);
    this.#afterPending = undefined;
  }

  /** Starts the short path, if the first request on the connection that it may answer is in its subset. */
  #startShortPath({ req, shouldKeepAlive }: QueuedResponse): void {
    const { shortPath: options } = this.#options;
    const { method = '', url = '' } = req;
    if (!options?.mayAnswer({ method, url })) return;
    this.#mayStartShortPath = false;
    if (!shouldKeepAlive || !isShortRequest(req)) return;
    // After Node has finished its own processing of this response.
    process.nextTick(() => {
      if (this.isBusy || this.#isClosing || this.#isBroken || this.socket.destroyed) return;
      const [data] = this.socket.listeners('data') as NodeListeners['data'][];
      // Node adds it after that of the socket itself.
      const end = this.socket.listeners('end').at(-1);
      // After CONNECT, Node does not parse.
      if (data && end) this.#shortPath = new ShortPath(this, options, { data, end });
    });
  }

  get isBusy(): boolean {
    return this.#pending > 0 || this.#isShortHeld;
  }

  get isNextLast(): boolean {
    return this.#requests + 1 >= this.#options.requestsMax();
  }

  /** Whether the server waits for bytes of a request: none is in progress, or its body has not arrived. */
  get isWaitingForRequest(): boolean {
    if (this.#shortPath?.isInProgress || this.#isShortHeld || this.#pending > 1) return false;
    return this.#pending === 0 || this.#latest?.req.complete === false;
  }

  countRequest(): void {
    this.#requests++;
    this.#place.renew();
  }

  /** To be called when the connection has closed. */
  release(): void {
    this.#shortPath?.release();
    this.#options.backlog.release(this);
    this.#place.release();
  }

  requestsOf(parse: () => void): readonly IncomingMessage[] {
    const requests: IncomingMessage[] = [];
    this.#onRequest = (request) => void requests.push(request);
    parse();
    this.#onRequest = undefined;
    return requests;
  }

  holdShortResponse(): void {
    this.#isShortHeld = true;
    this.holdBytes();
    // The callback runs when the response before it has drained.
    this.socket.write('', () => {
      this.#isShortHeld = false;
      this.settleBytes();
      const next = this.#behindShort;
      this.#behindShort = undefined;
      if (next) this.processWaiting(next);
    });
  }

  /**
   * To be called when the client sent no valid request, a broken body, or sent too slowly. A request that has a response, or
   * whose route runs and does not read the body, gets no second response.
   */
  fail(code: ErrorCode): void {
    if (this.#isBroken || this.#isClosing) return;
    if (!this.socket.writable) {
      this.socket.destroy();
      return;
    }
    this.#isBroken = true;
    const latest = this.#latest;
    if (latest === undefined || latest.req.complete) {
      this.whenIdle(() => {
        this.#options.writeError(this.socket, code);
        this.closeLingering();
      });
      return;
    }
    if (!latest.headersSent) {
      latest.shouldKeepAlive = false;
      breakBody(latest.req, code);
    }
    this.whenIdle(() => this.closeLingering());
  }

  /** Calls `run` when every pending response has drained, unless the connection closes with one of them. */
  whenIdle(run: () => void): void {
    const unlessClosing = (): void => {
      if (!this.#isClosing && !this.socket.destroyed) run();
    };
    if (this.#pending > 0) this.#afterPending = unlessClosing;
    else unlessClosing();
  }

  /**
   * Closes the connection. It first reads and ignores further bytes for `lingerMs`, because closing with unread bytes would
   * reset the connection before the client has read the response. After that time, a client that has not closed its side is
   * disconnected.
   */
  closeLingering(): void {
    if (this.#isClosing) return;
    this.#isClosing = true;
    this.#shortPath?.release();
    const { socket } = this;
    socket.end();
    // A listener for data detaches Node's parser. With its own listener removed, nothing is parsed.
    socket.removeAllListeners('data').on('data', () => undefined);
    socket.resume();
    const timer = setTimeout(() => socket.destroy(), lingerMs).unref();
    socket.once('close', () => clearTimeout(timer));
  }
}

/** An upper bound of the memory of a waiting request. */
function bytesOf({ rawHeaders, headers, url = '' }: IncomingMessage): number {
  let bytes = waitingRequestBytes + url.length;
  for (const text of rawHeaders) bytes += text.length;
  const { 'content-length': length, 'transfer-encoding': coding } = headers;
  if (coding !== undefined) bytes += bodyBytesAheadMax;
  else if (length !== undefined) bytes += Math.min(Number(length), bodyBytesAheadMax);
  return bytes;
}
