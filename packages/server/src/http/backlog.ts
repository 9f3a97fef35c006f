/**
 * Bounds the memory that waits for clients: response bytes that the kernel has not accepted, and the requests behind them.
 * The bound is for all connections of a server together. A connection whose client reads too slowly is closed.
 */
import type { Socket } from 'node:net';
import { limits } from '@keyreeve/contract';
import { monotonicMs } from '../foundation/clock.ts';

/** The part of a connection that the backlog uses. */
export interface Waiting {
  readonly socket: Socket;
  /** Memory of the waiting requests. */
  readonly waitingBytes: number;
}

interface HeldBytes {
  /** The part of the total. */
  bytes: number;
  /** Bytes by which the client is ahead of the minimum rate. */
  allowance: number;
  /** Bytes of the response that the kernel had not accepted at the last sweep; 0 before the first. */
  undrained: number;
}

export interface BacklogOptions {
  readonly bytesMax?: number;
  readonly bytesPerSecondMin?: number;
  /** Seconds for which a client may read nothing. */
  readonly stallSecondsMax?: number;
  readonly sweepMs?: number;
  /** Called at most once per sweep, with the number of connections that were closed since the last call. */
  readonly onClosed?: (closed: number) => void;
}

export class Backlog {
  /** In the order of their last progress: the connection that has stalled longest is first. */
  readonly #held = new Map<Waiting, HeldBytes>();
  readonly #bytesMax: number;
  readonly #bytesPerSecondMin: number;
  readonly #allowanceMax: number;
  readonly #sweepMs: number;
  readonly #onClosed: (closed: number) => void;
  #bytes = 0;
  #closed = 0;
  #timer: NodeJS.Timeout | undefined;
  #sweptMs = 0;

  constructor({
    bytesMax = limits.unreadBytesMax,
    bytesPerSecondMin = limits.responseBytesPerSecondFloor,
    stallSecondsMax = limits.responseStallSecondsMax,
    sweepMs = 1_000,
    onClosed = () => undefined,
  }: BacklogOptions = {}) {
    this.#bytesMax = bytesMax;
    this.#bytesPerSecondMin = bytesPerSecondMin;
    this.#allowanceMax = bytesPerSecondMin * stallSecondsMax;
    this.#sweepMs = sweepMs;
    this.#onClosed = onClosed;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Counts the bytes that wait on a connection. Beyond the total, it closes the connections that have stalled longest. */
  hold(connection: Waiting): void {
    let held = this.#held.get(connection);
    if (!held) {
      held = { bytes: 0, allowance: this.#allowanceMax, undrained: 0 };
      this.#held.set(connection, held);
      this.#startSweeping();
    }
    this.#count(connection, held);
    // The last connection stays: a single response may be larger than the total.
    while (this.#bytes > this.#bytesMax && this.#held.size > 1) this.closeOne();
  }

  /** To be called when a response has drained. @returns whether more bytes wait on the connection */
  settle(connection: Waiting): boolean {
    const held = this.#held.get(connection);
    if (!held) return false;
    this.#held.delete(connection);
    this.#count(connection, held);
    if (held.bytes === 0) return false;
    // Draining is progress: the connection moves to the end of the order.
    this.#held.set(connection, held);
    held.allowance = this.#allowanceMax;
    held.undrained = 0;
    return true;
  }

  /** To be called when the connection has closed. */
  release(connection: Waiting): void {
    this.#bytes -= this.#held.get(connection)?.bytes ?? 0;
    this.#held.delete(connection);
  }

  /** Closes the connection that has stalled longest. @returns whether there was one */
  closeOne(): boolean {
    const [connection] = this.#held.keys();
    if (connection) this.#close(connection);
    return connection !== undefined;
  }

  #close(connection: Waiting): void {
    this.release(connection);
    this.#closed++;
    // A reset: after an orderly close, the kernel would keep the unread bytes for minutes.
    connection.socket.resetAndDestroy();
  }

  #count({ socket, waitingBytes }: Waiting, held: HeldBytes): void {
    const bytes = socket.writableLength + waitingBytes;
    this.#bytes += bytes - held.bytes;
    held.bytes = bytes;
  }

  #startSweeping(): void {
    if (this.#timer !== undefined) return;
    this.#sweptMs = monotonicMs();
    this.#timer = setInterval(() => this.#sweep(), this.#sweepMs).unref();
  }

  /**
   * Enforces the minimum rate with a token bucket. Each second removes the bytes that are due, and each byte that the kernel
   * accepts is added. A client that reads nothing for `stallSecondsMax` empties the bucket. It is that deep because progress
   * is visible only in steps: the kernel accepts more bytes when a third of its buffer is free.
   */
  #sweep(): void {
    const now = monotonicMs();
    const due = (this.#bytesPerSecondMin * (now - this.#sweptMs)) / 1_000;
    this.#sweptMs = now;
    // A copy: otherwise the loop would visit a connection that moves to the end again.
    const connections = [...this.#held];
    for (const [connection, held] of connections) {
      const undrained = undrainedBytes(connection.socket);
      // Only requests wait, behind one in progress: the server is slow, not the client.
      if (undrained === 0) continue;
      const accepted = held.undrained === 0 ? due : held.undrained - undrained;
      held.undrained = undrained;
      held.allowance = Math.min(held.allowance + accepted - due, this.#allowanceMax);
      if (held.allowance < 0) this.#close(connection);
      else if (accepted > due) {
        this.#held.delete(connection);
        this.#held.set(connection, held);
      }
    }
    if (this.#closed > 0) this.#onClosed(this.#closed);
    this.#closed = 0;
    if (this.#held.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}

/**
 * Bytes that the kernel has not accepted. A response is one write, which `writableLength` counts in full until it is
 * complete. libuv's count decreases with each part.
 */
function undrainedBytes(socket: Socket): number {
  const { _handle: handle } = socket as unknown as { _handle: { writeQueueSize?: number } | null };
  return handle?.writeQueueSize || socket.writableLength;
}
