/**
 * Bounds the bytes of the raw bodies that clients without a credential are sending. A body counts until it was received:
 * slow clients cannot hold more memory than this together, however many connections they open.
 */
import type { EventEmitter } from 'node:events';
import { limits } from '@keyreeve/contract';

export class RawBodies {
  readonly #bytesMax: number;
  #bytes = 0;

  constructor(bytesMax: number = limits.rawBodyBytesMax) {
    this.#bytesMax = bytesMax;
  }

  /** @returns a function that counts a chunk of the body; false if the body may not keep it */
  begin(request: EventEmitter): (bytes: number) => boolean {
    let own = 0;
    let isOpen = true;
    // Node emits it after the last byte, and when the connection ends before that.
    request.once('close', () => {
      isOpen = false;
      this.#bytes -= own;
    });
    return (bytes) => {
      if (!isOpen || this.#bytes + bytes > this.#bytesMax) return false;
      own += bytes;
      this.#bytes += bytes;
      return true;
    };
  }
}
