/** How batches reach the service. `node-transport.ts` uses sockets, `fetch-transport.ts` a `fetch`. */

/** A response whose content has arrived completely. */
export interface Answer {
  readonly status: number;
  readonly text: string;
  /** The field of this name. */
  readonly retryAfter?: string | null | undefined;
}

export interface BatchRequest {
  readonly body: string;
  /** The field of this name. */
  readonly authorization: string;
  /** Whether to use a new connection. */
  readonly isRepeated: boolean;
}

export interface Transport {
  /**
   * Sends a batch. No question can join it after this call.
   * @param canceller receives the function that ends the request
   * @throws Unanswered if no byte of a response has arrived; another error if one may have arrived
   */
  send(request: BatchRequest, canceller: Canceller): Promise<Answer>;
  /** Calls `run` soon, after the events that have already arrived were handled. */
  soon(run: () => void): void;
  /** Ends idle connections, and no request in flight. */
  close(): void;
}

/** Gets the function that ends the request in flight. An AbortSignal would cost more than the rest of a request. */
export interface Canceller {
  cancel: (() => void) | undefined;
}

/** The request failed before any byte of a response arrived. */
export class Unanswered extends Error {
  constructor(cause: unknown) {
    super('no response', { cause });
  }
}

/** What all transports are opened with. */
export interface Destination {
  /** Of `POST /auth/verify/batch`. */
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  /** Certificates of authorities, in PEM. Default: those of the runtime. */
  readonly ca?: string | readonly string[] | undefined;
  /** Default: that of the runtime. */
  readonly fetch?: typeof globalThis.fetch | undefined;
}
