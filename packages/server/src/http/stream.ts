/**
 * Responses whose content is read in parts, such as exports. A failure after the headers resets the connection: a client
 * would otherwise take the part that it has received for the whole, in HTTP/1.0 also after an orderly close.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { ServerResponse } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { limits } from '@keyreeve/contract';
import { monotonicMs } from '../foundation/clock.ts';
import { tooMany } from '../foundation/database/fair-queue.ts';
import { Turns } from './turns.ts';

/** The content of a response. */
export interface ContentStream {
  /** Read before the headers are sent, so that its failure is an ordinary response. */
  readonly first: string;
  readonly rest: AsyncGenerator<string, void, undefined>;
  /** Aborted when the client reads so slowly that another stream gets its place. */
  readonly signal: AbortSignal;
  /** To be called once: when all of the content has been written, or with the error that prevents it. */
  readonly onEnd: (failure?: unknown) => void;
}

export interface StreamsOptions {
  /** Whether the server finishes its last requests. A stream then ends, incomplete. */
  readonly isClosing: () => boolean;
  /** Called with the error of a stream that is incomplete. */
  readonly onIncomplete: (name: string, owner: string, failure: unknown) => void;
  readonly perOwnerMax?: number;
  readonly inAllMax?: number;
  /** Streams that read a part at once. */
  readonly readsMax?: number;
  readonly durationMsMax?: number;
}

export interface StreamRequest {
  /** In the log. */
  readonly name: string;
  /** The account that receives it. */
  readonly owner: string;
  /** Called before each part except the first one. Throws if the caller may not receive more. */
  readonly check: () => Promise<void>;
  /** Each part is at most a page of rows; it may be empty. */
  readonly parts: AsyncGenerator<string, void, undefined>;
}

/** A stream in progress. */
interface OpenStream {
  readonly owner: string;
  readonly abort: AbortController;
  /** The time since which the client has not taken the last part. Undefined while the next part is read. */
  waitingSinceMs: number | undefined;
}

/**
 * Bounds the streams in progress of each account and of the process. A stream whose client reads slowly occupies no place among
 * those that read from the database. If there are too many, the one that has waited longest for its client is reset, so clients
 * that read slowly do not stop the streams of others.
 */
export class Streams {
  readonly #options: Required<StreamsOptions>;
  readonly #open = new Set<OpenStream>();
  readonly #reads: Turns;

  constructor(options: StreamsOptions) {
    this.#options = {
      perOwnerMax: limits.exportsPerAccountMax,
      inAllMax: limits.exportsPerProcessMax,
      readsMax: limits.exportReadsMax,
      durationMsMax: limits.exportSecondsMax * 1_000,
      ...options,
    };
    const { perOwnerMax, inAllMax, readsMax, durationMsMax } = this.#options;
    this.#reads = new Turns({
      runningMax: readsMax,
      waitingMax: inAllMax,
      waitingPerOwnerMax: perOwnerMax,
      waitMsMax: Math.max(0, durationMsMax),
    });
  }

  /** Reads the first part. @throws DomainError `too_many_in_progress`, or the error of the first part */
  async open({ name, owner, check, parts }: StreamRequest): Promise<ContentStream> {
    const { onIncomplete } = this.#options;
    const stream = this.#begin(owner);
    // The parts are read later, in the context of the writer, but count for the share of the request.
    const inContext = AsyncLocalStorage.snapshot();
    try {
      const { value } = await this.#inTurn(stream, () => parts.next());
      let hasEnded = false;
      const onEnd = (failure?: unknown): void => {
        if (hasEnded) return;
        hasEnded = true;
        this.#open.delete(stream);
        if (failure !== undefined) onIncomplete(name, owner, failure);
      };
      const read = () => inContext(() => parts.next());
      const rest = this.#rest(stream, read, () => inContext(check));
      return { first: value ?? '', rest, signal: stream.abort.signal, onEnd };
    } catch (error) {
      this.#open.delete(stream);
      throw error;
    }
  }

  async *#rest(
    stream: OpenStream,
    read: () => Promise<IteratorResult<string, void>>,
    check: () => Promise<void>,
  ): AsyncGenerator<string, void, undefined> {
    const { isClosing, durationMsMax } = this.#options;
    const startedMs = monotonicMs();
    for (;;) {
      const { done = false, value } = await this.#inTurn(stream, async () => {
        // SQLite reads synchronously: other requests run between two parts.
        await nextTurn();
        if (isClosing()) throw new Error('the server stops');
        if (monotonicMs() - startedMs > durationMsMax) throw new Error(`longer than ${durationMsMax} ms`);
        await check();
        return read();
      });
      if (done) return;
      yield value ?? '';
    }
  }

  /** Reads a part. After it, the stream waits for its client. */
  async #inTurn<T>(stream: OpenStream, read: () => Promise<T>): Promise<T> {
    stream.waitingSinceMs = undefined;
    const end = await this.#reads.begin(stream.owner);
    try {
      return await read();
    } finally {
      end();
      stream.waitingSinceMs = monotonicMs();
    }
  }

  #begin(owner: string): OpenStream {
    const { perOwnerMax, inAllMax } = this.#options;
    const open = [...this.#open];
    if (open.filter((stream) => stream.owner === owner).length >= perOwnerMax) throw tooMany();
    if (open.length >= inAllMax) {
      const [longest] = open
        .filter(({ waitingSinceMs }) => waitingSinceMs !== undefined)
        .toSorted((a, b) => Number(a.waitingSinceMs) - Number(b.waitingSinceMs));
      if (!longest) throw tooMany();
      this.#open.delete(longest);
      longest.abort.abort(new Error('the client read too slowly, and another stream got its place'));
    }
    const stream = { owner, abort: new AbortController(), waitingSinceMs: undefined };
    this.#open.add(stream);
    return stream;
  }
}

/** Writes the content, as fast as the client reads it. Never rejects. */
export async function writeStream(
  response: ServerResponse,
  status: number,
  headers: readonly string[],
  { first, rest, signal, onEnd }: ContentStream,
): Promise<void> {
  let failure: unknown;
  try {
    response.writeHead(status, [...headers]);
    if (response.req.method !== 'HEAD') {
      await put(response, first, signal);
      for await (const part of rest) await put(response, part, signal);
    }
    response.end();
  } catch (error) {
    failure = error;
    if (response.socket) response.socket.resetAndDestroy();
    else response.destroy();
  }
  // Without its result, which could be an error of a part that is still being read.
  await rest.return().catch(() => undefined);
  onEnd(failure);
}

/** Resolves when the kernel has accepted the part. @throws Error if the client is gone or does not read */
async function put(response: ServerResponse, part: string, signal: AbortSignal): Promise<void> {
  if (response.destroyed || response.socket === null || response.socket.destroyed)
    throw new Error('the client closed the connection');
  signal.throwIfAborted();
  if (part === '' || response.write(part)) return;
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const stall = setTimeout(
    () => reject(new Error(`the client read nothing for ${limits.responseStallSecondsMax} s`)),
    limits.responseStallSecondsMax * 1_000,
  );
  const gone = (): void => reject(new Error('the client closed the connection'));
  const abort = (): void => reject(signal.reason as Error);
  response.once('drain', resolve).once('close', gone);
  signal.addEventListener('abort', abort);
  await promise.finally(() => {
    clearTimeout(stall);
    response.off('drain', resolve).off('close', gone);
    signal.removeEventListener('abort', abort);
  });
}
