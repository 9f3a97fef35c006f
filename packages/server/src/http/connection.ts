/**
 * One client connection. Its requests are processed one at a time, in order; each gets exactly one response; the
 * connection closes after its last one.
 *
 * Node parses pipelined requests (RFC 9112 section 9.3.2) as they come, several hundred from one packet, and emits them
 * all at once. Here a request waits until the response before it has drained into the kernel. So an unsafe request is
 * finished before the request behind it is processed, and a client that reads nothing holds one response in memory.
 * Pausing the socket would not achieve this: what has been read is parsed in one go, and reading a request's body
 * resumes the connection.
 */
import { ServerResponse, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { limits, type ErrorCode } from '@keyreeve/contract';
import type { Backlog } from './backlog.ts';
import { breakBody } from './broken-body.ts';

/** How long a connection is still read from after its last response (RFC 9112 section 9.6). */
const lingerMs = 1_000;
/** Memory of a parsed request that waits, without its header text and body (measured: 4.1 KiB). */
const waitingRequestBytes = 4_608;
/** Node reads at most so much of a body ahead: the high-water mark of a request, and one read from the socket. */
const bodyBytesAheadMax = 131_072;

export interface ConnectionOptions {
  readonly backlog: Backlog;
  /** Requests on this connection, after which it closes. */
  readonly requestsMax: () => number;
  readonly process: (request: IncomingMessage, response: ServerResponse) => void;
  /** Writes the response to what never became a request. */
  readonly refuse: (socket: Socket, code: ErrorCode) => void;
}

/** A response that reports to its connection when its turn comes and when it has drained. */
export class QueuedResponse extends ServerResponse {
  client: Connection | undefined;

  /** Node calls it once the response before this one has drained, or before `client` is set when there is none. */
  override assignSocket(socket: Socket): void {
    super.assignSocket(socket);
    this.client?.processWaiting(this);
  }

  /** Node calls it once the response has drained into the kernel. */
  override detachSocket(socket: Socket): void {
    super.detachSocket(socket);
    this.client?.onDrained(this);
  }

  override end(chunk?: unknown, encoding?: unknown, callback?: unknown): this {
    super.end(chunk, encoding as BufferEncoding, callback as () => void);
    // A response that the kernel took immediately is not counted; nearly all are.
    if (this.socket !== null && this.socket.writableLength > 0) this.client?.holdBytes();
    return this;
  }
}

export class Connection {
  readonly socket: Socket;
  readonly #options: ConnectionOptions;
  #requests = 0;
  /** Responses that have not drained, those of waiting requests included. */
  #pending = 0;
  #waitingBytes = 0;
  /** Of the request that was parsed last; undefined once that request is complete and its response has drained. */
  #latest: QueuedResponse | undefined;
  /** Runs once every pending response has drained. */
  #afterPending: (() => void) | undefined;
  #isHeld = false;
  #isBroken = false;
  #isClosing = false;

  constructor(socket: Socket, options: ConnectionOptions) {
    this.socket = socket;
    this.#options = options;
    // Node calls it after a response with `Connection: close`.
    socket.destroySoon = () => this.letGo();
  }

  get waitingBytes(): number {
    return this.#waitingBytes;
  }

  /** A request that has been parsed: processes it, or has it wait for its turn. */
  accept(request: IncomingMessage, response: QueuedResponse): void {
    if (this.#isClosing || this.socket.destroyed) return;
    this.#latest = response;
    this.#pending++;
    response.client = this;
    if (++this.#requests >= this.#options.requestsMax()) response.shouldKeepAlive = false;
    if (response.socket !== null) {
      this.#options.process(request, response);
      return;
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
    // Its response is the last one: a request behind it is not processed, and the client can send it again elsewhere.
    if (!this.socket.destroyed) this.#options.process(response.req, response);
  }

  /** Has the backlog count what waits here. */
  holdBytes(): void {
    this.#isHeld = true;
    this.#options.backlog.hold(this);
  }

  onDrained(response: QueuedResponse): void {
    this.#pending--;
    if (response === this.#latest && response.req.complete) this.#latest = undefined;
    if (this.#isHeld) this.#isHeld = this.#options.backlog.settle(this);
    if (this.#pending > 0 || this.#afterPending === undefined) return;
    // Not before Node has finished its own work on this response.
    process.nextTick(this.#afterPending);
    this.#afterPending = undefined;
  }

  /**
   * What the client sent is not a request, its body is broken, or it came too slowly. A request that has a response, or
   * whose route is at work and does not read its body, gets no second one.
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
        this.#options.refuse(this.socket, code);
        this.letGo();
      });
      return;
    }
    if (!latest.headersSent) {
      latest.shouldKeepAlive = false;
      breakBody(latest.req, code);
    }
    this.whenIdle(() => this.letGo());
  }

  /** Calls `act` once every pending response has drained; never when the connection closes with one of them. */
  whenIdle(act: () => void): void {
    const unlessClosing = (): void => {
      if (!this.#isClosing && !this.socket.destroyed) act();
    };
    if (this.#pending > 0) this.#afterPending = unlessClosing;
    else unlessClosing();
  }

  /**
   * Ends the connection. What the client still sends is read and ignored for a moment, because closing over unread bytes
   * would reset the connection before the client has read the response; a client that never closes its side does not
   * keep it.
   */
  letGo(): void {
    if (this.#isClosing) return;
    this.#isClosing = true;
    const { socket } = this;
    socket.end();
    // A listener for data detaches Node's parser; without its own listener nothing is parsed any more.
    socket.removeAllListeners('data').on('data', () => undefined);
    socket.resume();
    const timer = setTimeout(() => socket.destroy(), lingerMs).unref();
    socket.once('close', () => clearTimeout(timer));
  }
}

/** An upper bound for what a request that waits costs in memory. */
function bytesOf({ rawHeaders, headers, url = '' }: IncomingMessage): number {
  let bytes = waitingRequestBytes + url.length;
  for (const text of rawHeaders) bytes += text.length;
  const { 'content-length': length, 'transfer-encoding': coding } = headers;
  if (coding !== undefined) bytes += bodyBytesAheadMax;
  else if (length !== undefined) bytes += Math.min(Number(length), bodyBytesAheadMax);
  return bytes;
}
