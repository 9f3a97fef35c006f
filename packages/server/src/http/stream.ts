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

/** The content of a response. */
export interface ContentStream {
  /** Read before the headers are sent, so that its failure is an ordinary response. */
  readonly first: string;
  readonly rest: AsyncGenerator<string, void, undefined>;
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

/** Bounds the streams in progress of each account and of the process. */
export class Streams {
  readonly #options: Required<StreamsOptions>;
  readonly #inProgress = new Map<string, number>();
  #count = 0;

  constructor(options: StreamsOptions) {
    this.#options = {
      perOwnerMax: limits.exportsPerAccountMax,
      inAllMax: limits.exportsPerProcessMax,
      durationMsMax: limits.exportSecondsMax * 1_000,
      ...options,
    };
  }

  /** Reads the first part. @throws DomainError `too_many_in_progress`, or the error of the first part */
  async open({ name, owner, check, parts }: StreamRequest): Promise<ContentStream> {
    const { onIncomplete } = this.#options;
    this.#acquire(owner);
    // The parts are read later, in the context of the writer, but count for the share of the request.
    const inContext = AsyncLocalStorage.snapshot();
    try {
      const { value } = await parts.next();
      let hasEnded = false;
      const onEnd = (failure?: unknown): void => {
        if (hasEnded) return;
        hasEnded = true;
        this.#release(owner);
        if (failure !== undefined) onIncomplete(name, owner, failure);
      };
      const read = () => inContext(() => parts.next());
      const rest = this.#rest(read, () => inContext(check), monotonicMs());
      return { first: value ?? '', rest, onEnd };
    } catch (error) {
      this.#release(owner);
      throw error;
    }
  }

  async *#rest(
    read: () => Promise<IteratorResult<string, void>>,
    check: () => Promise<void>,
    startedMs: number,
  ): AsyncGenerator<string, void, undefined> {
    const { isClosing, durationMsMax } = this.#options;
    for (;;) {
      // SQLite reads synchronously: other requests run between two parts.
      await nextTurn();
      if (isClosing()) throw new Error('the server stops');
      if (monotonicMs() - startedMs > durationMsMax) throw new Error(`longer than ${durationMsMax} ms`);
      await check();
      const { done = false, value } = await read();
      if (done) return;
      yield value ?? '';
    }
  }

  #acquire(owner: string): void {
    const { perOwnerMax, inAllMax } = this.#options;
    const count = this.#inProgress.get(owner) ?? 0;
    if (count >= perOwnerMax || this.#count >= inAllMax) throw tooMany();
    this.#inProgress.set(owner, count + 1);
    this.#count++;
  }

  #release(owner: string): void {
    const count = (this.#inProgress.get(owner) ?? 0) - 1;
    if (count > 0) this.#inProgress.set(owner, count);
    else this.#inProgress.delete(owner);
    this.#count--;
  }
}

/** Writes the content, as fast as the client reads it. Never rejects. */
export async function writeStream(
  response: ServerResponse,
  status: number,
  headers: readonly string[],
  { first, rest, onEnd }: ContentStream,
): Promise<void> {
  let failure: unknown;
  try {
    response.writeHead(status, [...headers]);
    if (response.req.method !== 'HEAD') {
      await put(response, first);
      for await (const part of rest) await put(response, part);
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
async function put(response: ServerResponse, part: string): Promise<void> {
  if (response.destroyed || response.socket === null || response.socket.destroyed)
    throw new Error('the client closed the connection');
  if (part === '' || response.write(part)) return;
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const stall = setTimeout(
    () => reject(new Error(`the client read nothing for ${limits.responseStallSecondsMax} s`)),
    limits.responseStallSecondsMax * 1_000,
  );
  const gone = (): void => reject(new Error('the client closed the connection'));
  response.once('drain', resolve).once('close', gone);
  await promise.finally(() => {
    clearTimeout(stall);
    response.off('drain', resolve).off('close', gone);
  });
}
