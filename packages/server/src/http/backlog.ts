/**
 * What waits in memory for clients: response bytes that the kernel has not taken, and requests behind them. It is bounded
 * over all connections of a server; a response that is taken too slowly ends its connection.
 */
import type { Socket } from 'node:net';
import { limits } from '@keyreeve/contract';
import { monotonicMs } from '../foundation/clock.ts';

/** A connection, as far as the backlog is concerned. */
export interface Waiting {
  readonly socket: Socket;
  /** Memory of the requests that wait for their turn. */
  readonly waitingBytes: number;
}

interface Account {
  /** What is counted in the total. */
  bytes: number;
  /** By how many bytes the client is ahead of the minimum rate. */
  allowance: number;
  /** Bytes of the response that the kernel had not taken at the last sweep; 0 before the first. */
  undrained: number;
}

export interface BacklogOptions {
  readonly bytesMax?: number;
  readonly bytesPerSecondMin?: number;
  /** How long a client may take nothing. */
  readonly stallSecondsMax?: number;
  readonly sweepMs?: number;
  /** Called at most once per sweep with the number of connections that were closed since the last one. */
  readonly onClosed?: (closed: number) => void;
}

export class Backlog {
  /** In the order of their last progress: the one that has stalled longest is first. */
  readonly #held = new Map<Waiting, Account>();
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

  /** Counts what waits on a connection. Over the total, the connections that stalled longest are closed. */
  hold(connection: Waiting): void {
    let account = this.#held.get(connection);
    if (!account) {
      account = { bytes: 0, allowance: this.#allowanceMax, undrained: 0 };
      this.#held.set(connection, account);
      this.#startSweeping();
    }
    this.#count(connection, account);
    // The last one stays: a single response may be larger than the total.
    while (this.#bytes > this.#bytesMax && this.#held.size > 1) this.closeOne();
  }

  /** A response has drained. @returns whether something still waits on the connection */
  settle(connection: Waiting): boolean {
    const account = this.#held.get(connection);
    if (!account) return false;
    this.#held.delete(connection);
    this.#count(connection, account);
    if (account.bytes === 0) return false;
    // Draining is progress: the connection goes to the end of the line.
    this.#held.set(connection, account);
    account.allowance = this.#allowanceMax;
    account.undrained = 0;
    return true;
  }

  /** The connection is closed. */
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
    // A reset, not an orderly close: the kernel would keep the unread bytes for minutes.
    connection.socket.resetAndDestroy();
  }

  #count({ socket, waitingBytes }: Waiting, account: Account): void {
    const bytes = socket.writableLength + waitingBytes;
    this.#bytes += bytes - account.bytes;
    account.bytes = bytes;
  }

  #startSweeping(): void {
    if (this.#timer !== undefined) return;
    this.#sweptMs = monotonicMs();
    this.#timer = setInterval(() => this.#sweep(), this.#sweepMs).unref();
  }

  /**
   * The minimum rate as a token bucket: each second removes the bytes that are due, each byte that the kernel takes is
   * added, and a client that takes nothing for `stallSecondsMax` empties it. The bucket is that deep because progress is
   * visible in steps only: the kernel accepts more bytes when a third of its buffer is free.
   */
  #sweep(): void {
    const now = monotonicMs();
    const due = (this.#bytesPerSecondMin * (now - this.#sweptMs)) / 1_000;
    this.#sweptMs = now;
    // A copy: a connection that is moved to the end would come again.
    const held = [...this.#held];
    for (const [connection, account] of held) {
      const undrained = undrainedBytes(connection.socket);
      // Only requests wait, behind one that is being processed: the client is not what is slow.
      if (undrained === 0) continue;
      const taken = account.undrained === 0 ? due : account.undrained - undrained;
      account.undrained = undrained;
      account.allowance = Math.min(account.allowance + taken - due, this.#allowanceMax);
      if (account.allowance < 0) this.#close(connection);
      else if (taken > due) {
        this.#held.delete(connection);
        this.#held.set(connection, account);
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
 * Bytes that the kernel has not taken. A response is one write, which `writableLength` counts whole until its end; libuv's
 * own count falls with each part.
 */
function undrainedBytes(socket: Socket): number {
  const { _handle: handle } = socket as unknown as { _handle: { writeQueueSize?: number } | null };
  return handle?.writeQueueSize || socket.writableLength;
}
