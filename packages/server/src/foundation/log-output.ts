/**
 * The destination of the log. A destination that cannot be written to, such as a full disk or a pipe without a reader, never
 * stops or delays the service. Records that do not fit into the bounded buffer are lost and counted.
 */
import { write, writeSync } from 'node:fs';

/** Characters that wait for the destination, without those of the write in progress. */
const waitingCharactersMax = 1_048_576;
/** After EAGAIN: the reader of a pipe is slow. */
const retryMs = 50;
/** Attempts at the end of the process, `retryMs` apart. */
const lastAttemptsMax = 20;

/** The calls of `node:fs`; only tests set others. */
export interface Writes {
  readonly write: (fd: number, bytes: Buffer, done: (error: Error | null, written: number) => void) => void;
  readonly writeSync: (fd: number, bytes: Buffer) => number;
}

export class LogOutput {
  /** Records that were not written, since the start. */
  lost = 0;
  /** Receives the number of lost records when the destination can be written to again. */
  onRecovery: (lost: number) => void = () => undefined;
  readonly #fd: number;
  readonly #writes: Writes;
  #lines: string[] = [];
  #characters = 0;
  /** What is being written, or what an attempt that failed has left. */
  #chunk = Buffer.alloc(0);
  #isWriting = false;
  /** Set while a slow destination has time to accept more. */
  #retry: NodeJS.Timeout | undefined;
  #unreported = 0;
  /** Call these when nothing is being written. */
  #settlers: (() => void)[] = [];

  constructor(fd: number, writes: Writes = { write, writeSync }) {
    this.#fd = fd;
    this.#writes = writes;
  }

  /** @param line one record, with the line break */
  write(line: string): void {
    if (this.#characters + line.length > waitingCharactersMax) {
      this.lost++;
      this.#unreported++;
    } else {
      this.#lines.push(line);
      this.#characters += line.length;
    }
    // Each record tries again after a failure.
    if (!this.#isWriting && !this.#retry) this.#writeNext();
  }

  /** Resolves when the destination has all records that it accepts now. */
  settled(): Promise<void> {
    return this.#isWriting ? new Promise((resolve) => void this.#settlers.push(resolve)) : Promise.resolve();
  }

  /** Writes what waits, before the process ends. It gives up after a second. */
  flushSync(): void {
    clearTimeout(this.#retry);
    this.#retry = undefined;
    // The thread pool completes a write in progress.
    let bytes = this.#isWriting ? this.#takeLines() : Buffer.concat([this.#chunk, this.#takeLines()]);
    if (!this.#isWriting) this.#chunk = Buffer.alloc(0);
    for (let attempt = 0; bytes.length > 0 && attempt < lastAttemptsMax;) {
      try {
        bytes = bytes.subarray(this.#writes.writeSync(this.#fd, bytes));
      } catch (error) {
        if (!isSlow(error)) return;
        attempt++;
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, retryMs);
      }
    }
  }

  #writeNext(): void {
    this.#retry = undefined;
    if (this.#chunk.length === 0) this.#chunk = this.#takeLines();
    this.#isWriting = this.#chunk.length > 0;
    if (this.#isWriting) this.#writes.write(this.#fd, this.#chunk, (error, written) => this.#finish(error, written));
  }

  #finish(error: Error | null, written: number): void {
    this.#isWriting = false;
    if (error && isSlow(error)) this.#retry = setTimeout(() => this.#writeNext(), retryMs).unref();
    if (error) return this.#settle();
    this.#chunk = this.#chunk.subarray(written);
    this.#writeNext();
    if (this.#isWriting) return;
    this.#settle();
    if (this.#unreported === 0) return;
    const lost = this.#unreported;
    this.#unreported = 0;
    this.onRecovery(lost);
  }

  #settle(): void {
    for (const resolve of this.#settlers.splice(0)) resolve();
  }

  #takeLines(): Buffer<ArrayBuffer> {
    const bytes = Buffer.from(this.#lines.join(''));
    this.#lines = [];
    this.#characters = 0;
    return bytes;
  }
}

const isSlow = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 'EAGAIN';

/** One for the process, because its file descriptor is. */
export const standardOutput = new LogOutput(1);
