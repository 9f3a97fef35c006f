/** How batches reach the service. `node-transport.ts` uses sockets, `fetch-transport.ts` the `fetch` of edge runtimes. */

/** A response whose content has arrived completely. */
export interface Answer {
  readonly status: number;
  readonly text: string;
}

export interface Transport {
  /**
   * Sends a batch. No question can join it after this call.
   * @param canceller receives the function that ends the request
   * @param isRepeated whether to use a new connection
   * @throws Unanswered if no byte of a response has arrived; another error if one may have arrived
   */
  send(body: string, canceller: Canceller, isRepeated: boolean): Promise<Answer>;
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
}
